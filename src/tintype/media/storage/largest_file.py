"""The best file there is of some media: the original where it is kept, else the converted video, else the largest size.

For exports of personal data: what somebody takes along is what they brought, not what a feed shows of it.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass

from tintype.media.errors import MediaNotFound, MediaRefused
from tintype.media.photos import detect_format
from tintype.media.storage.object_storage import ORIGINAL, PRIVATE, ObjectStorage

HEAD_BYTES = 4096
VIDEO, LARGEST_SIZE = "video.mp4", "1080.jpg"


@dataclass(frozen=True)
class LargestFile:
    """An opened file: a name with the extension of its content, and its bytes as they are read."""

    name: str
    chunks: AsyncIterator[bytes]


async def open_largest(storage: ObjectStorage, folder: str) -> LargestFile | None:
    """Open the best file of the media in a folder, from whichever store has it; None when all are gone."""
    for path in (f"{PRIVATE}/{folder}/{ORIGINAL}", f"{folder}/{VIDEO}", f"{folder}/{LARGEST_SIZE}"):
        try:
            opened = await storage.open_anywhere(path, "hot")
        except MediaNotFound:
            continue  # the next best may be there
        first = await anext(opened.chunks, b"")
        stem = path.rsplit("/", 1)[1].partition(".")[0]
        return LargestFile(f"{folder}/{stem}{_extension(first)}", _whole(first, opened.chunks))
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
