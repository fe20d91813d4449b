"""The best file of some media: the original where it is kept, else the converted video, the largest size, or the sound.

For exports of personal data: what somebody takes along is what they brought, not what a feed shows of it.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass

from tintype.media.errors import MediaNotFound, MediaRefused
from tintype.media.photos import detect_format
from tintype.media.storage.object_storage import ORIGINAL, PRIVATE, ObjectStorage
from tintype.media.voices import VOICE

HEAD_BYTES = 4096
VIDEO, LARGEST_SIZE = "video.mp4", "1080.jpg"
RENDITIONS = (VIDEO, LARGEST_SIZE, VOICE)


@dataclass(frozen=True)
class LargestFile:
    """An opened file: a name with the extension of its content, and its bytes as they are read."""

    name: str
    chunks: AsyncIterator[bytes]


async def open_largest(storage: ObjectStorage, folder: str) -> LargestFile | None:
    """Open the best file of the media in a folder, from whichever store has it; None when all are gone."""
    for path in (f"{PRIVATE}/{folder}/{ORIGINAL}", *(f"{folder}/{each}" for each in RENDITIONS)):
        try:
            opened = await storage.open_anywhere(path, "hot")
        except MediaNotFound:
            continue  # the next best may be there
        first = await anext(opened.chunks, b"")
        name = path.rsplit("/", 1)[1]
        if name != VOICE:
            name = name.partition(".")[0] + _extension(first)
        return LargestFile(f"{folder}/{name}", _whole(first, opened.chunks))
    return None


def _extension(head: bytes) -> str:
    try:
        return f".{detect_format(head[:HEAD_BYTES]).extension}"
    except MediaRefused:
        return ""  # a name without an extension opens too


async def _whole(first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for chunk in rest:
        yield chunk
