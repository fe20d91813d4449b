"""The seam between the library and the pipelines that make files out of files, in the sandbox."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shardwright.errors import ShardwrightError
from tintype.media import videos
from tintype.media.editing import read_edit
from tintype.media.models import MediaType
from tintype.media.photos import LazyKind, convert_apart, kind_of, make_photo_apart, sniff
from tintype.media.sandbox import run_in_sandbox
from tintype.media.videos import Clip, Poster, PosterWanted, VideoWanted, Wanted

PROBE_S, VIDEO_S, WATCH_S = 30.0, 1_200.0, 1.0
OnProgress = Callable[[int], Awaitable[None]]
"""Told how many of a hundred parts are done."""


@dataclass(frozen=True)
class MadePhoto:
    """The files of a picture now lie in a folder."""

    width: int
    height: int
    placeholder: str | None
    exif: Mapping[str, Any]
    location: Mapping[str, Any]
    """Where it was taken, apart from everything else, because it is kept only on request."""


@dataclass(frozen=True)
class MadeVideo:
    """The files of a clip now lie in a folder."""

    duration_ms: int
    has_hls: bool


class Processing:
    """Files in, files out, each job in a process of its own; a file that cannot be taken is a `MediaRefused`."""

    def type_of(self, head: bytes) -> MediaType:
        """What a file is that begins like this; everything we do not take is refused."""
        return "image" if kind_of(head).is_photo else "video"

    def sniff(self, source: Path) -> MediaType:
        """What a whole file is."""
        return "image" if sniff(source).is_photo else "video"

    async def photo(self, source: Path, out: Path, edit: bytes) -> MadePhoto:
        """Every size of a picture, edited as the JSON says."""
        made = await make_photo_apart(source, out, read_edit(edit))
        return MadePhoto(made.width, made.height, made.placeholder, made.exif, made.gps)

    async def poster(self, source: Path, out: Path) -> tuple[MadePhoto, int]:
        """Every size of a clip's first picture, and how many milliseconds the clip lasts."""
        clip = await run_in_sandbox(
            "probe_video", Wanted(_full(source)), returns=Clip, timeout_s=PROBE_S, reads=[source]
        )
        still = out / "still.jpg"
        wanted = PosterWanted(_full(source), _full(still))
        await run_in_sandbox(
            "make_poster", wanted, returns=Poster, timeout_s=PROBE_S, reads=[source], writes=[out]
        )
        made = await make_photo_apart(still, out)
        await asyncio.to_thread(still.unlink)
        return MadePhoto(made.width, made.height, made.placeholder, {}, {}), round(clip.duration_s * 1000)

    async def video(self, source: Path, out: Path, on_progress: OnProgress) -> MadeVideo:
        """`video.mp4`, and for longer clips `index.m3u8` with its segments."""
        note = source.with_suffix(".progress") / "percent"
        await asyncio.to_thread(note.parent.mkdir)
        wanted = VideoWanted(_full(source), _full(out), _full(note))
        watch = asyncio.create_task(_watch(note, on_progress))
        try:
            made = await run_in_sandbox(
                "make_video",
                wanted,
                returns=videos.MadeVideo,
                timeout_s=VIDEO_S,
                reads=[source],
                writes=[out, note.parent],
            )
        finally:
            watch.cancel()
        return MadeVideo(round(made.duration_s * 1000), made.playlist is not None)

    async def convert(self, jpeg: Path, out: Path, kind: LazyKind) -> None:
        """The same picture in a newer format."""
        await convert_apart(jpeg, out, kind)


async def _watch(note: Path, on_progress: OnProgress) -> None:
    last = 0
    while True:
        await asyncio.sleep(WATCH_S)
        percent = await asyncio.to_thread(videos.read_progress, note)
        if percent > last:
            last = percent
            with contextlib.suppress(ShardwrightError):  # the next look tells
                await on_progress(min(percent, 99))


def _full(path: Path) -> str:
    return str(path.resolve())
