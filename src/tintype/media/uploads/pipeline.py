"""Runs the photo and video pipelines in the sandbox: a source file in, a folder of files out."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shardwright.errors import ShardwrightError
from tintype.media import videos
from tintype.media.models import MediaType
from tintype.media.photos import (
    VariantFormat,
    convert_in_sandbox,
    detect_format,
    make_photo_in_sandbox,
    sniff,
)
from tintype.media.sandbox import run_in_sandbox
from tintype.media.uploads.options import parse_edit
from tintype.media.videos import Clip, Poster, PosterRequest, ProbeRequest, VideoRequest

PROBE_S, VIDEO_S, POLL_S = 30.0, 1_200.0, 1.0
OnProgress = Callable[[int], Awaitable[None]]
"""Called with the percentage done, as it grows."""


@dataclass(frozen=True)
class ProcessedPhoto:
    """A photo, or the poster of a video, whose sizes have been written to a folder."""

    width: int
    height: int
    placeholder: str | None
    exif: Mapping[str, Any]
    location: Mapping[str, Any]
    """Where it was taken: separate from the rest of the EXIF, because it is stored only on request."""
    duration_ms: int | None = None
    """Of the video that a poster was made of."""


@dataclass(frozen=True)
class ProcessedVideo:
    """A video whose files have been written to a folder."""

    duration_ms: int
    has_hls: bool


class MediaPipeline:
    """Converts files, each in a sandboxed process; a file that is not accepted raises `MediaRefused`."""

    def detect_type(self, head: bytes) -> MediaType:
        """Whether a file that begins with these bytes is a photo or a video; other formats are refused."""
        return "image" if detect_format(head).is_photo else "video"

    def sniff(self, source: Path) -> MediaType:
        """Whether a whole file is a photo or a video, by its content."""
        return "image" if sniff(source).is_photo else "video"

    async def process_photo(self, source: Path, out: Path, edit: bytes) -> ProcessedPhoto:
        """Write every size of a photo, edited as the JSON says."""
        made = await make_photo_in_sandbox(source, out, parse_edit(edit))
        return ProcessedPhoto(made.width, made.height, made.placeholder, made.exif, made.gps)

    async def process_poster(self, source: Path, out: Path) -> ProcessedPhoto:
        """Write every size of a video's poster, and measure the video."""
        clip = await run_in_sandbox(
            "probe_video", ProbeRequest(_absolute(source)), returns=Clip, timeout_s=PROBE_S, reads=[source]
        )
        still = out / "still.jpg"
        request = PosterRequest(_absolute(source), _absolute(still))
        await run_in_sandbox(
            "make_poster", request, returns=Poster, timeout_s=PROBE_S, reads=[source], writes=[out]
        )
        made = await make_photo_in_sandbox(still, out)
        await asyncio.to_thread(still.unlink)
        duration_ms = round(clip.duration_s * 1000)
        return ProcessedPhoto(made.width, made.height, made.placeholder, {}, {}, duration_ms)

    async def convert_video(self, source: Path, out: Path, on_progress: OnProgress) -> ProcessedVideo:
        """Write `video.mp4`, and for longer videos `index.m3u8` with its segments."""
        progress_file = source.with_suffix(".progress") / "percent"
        await asyncio.to_thread(progress_file.parent.mkdir)
        request = VideoRequest(_absolute(source), _absolute(out), _absolute(progress_file))
        watcher = asyncio.create_task(_watch(progress_file, on_progress))
        try:
            made = await run_in_sandbox(
                "make_video",
                request,
                returns=videos.MadeVideo,
                timeout_s=VIDEO_S,
                reads=[source],
                writes=[out, progress_file.parent],
            )
        finally:
            watcher.cancel()
        return ProcessedVideo(round(made.duration_s * 1000), made.playlist is not None)

    async def make_variant(self, jpeg: Path, out: Path, format_: VariantFormat) -> None:
        """Write one of our JPEGs in a newer format."""
        await convert_in_sandbox(jpeg, out, format_)


async def _watch(progress_file: Path, on_progress: OnProgress) -> None:
    last = 0
    while True:
        await asyncio.sleep(POLL_S)
        percent = await asyncio.to_thread(videos.read_progress, progress_file)
        if percent > last:
            last = percent
            with contextlib.suppress(ShardwrightError):  # the next poll reports again
                await on_progress(min(percent, 99))


def _absolute(path: Path) -> str:
    return str(path.resolve())
