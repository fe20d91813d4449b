"""Runs the photo and video pipelines in the sandbox: a source file in, a folder of files out."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shardwright.errors import ShardwrightError
from tintype.media import videos
from tintype.media.metadata.models import CleanPhotoRequest, CleanVideo, CleanVideoRequest, Removed
from tintype.media.models import MediaType
from tintype.media.photos import (
    VariantFormat,
    convert_in_sandbox,
    detect_format,
    make_large_photo_in_sandbox,
    make_photo_in_sandbox,
    sniff,
)
from tintype.media.sandbox import ORIGINAL, OUT, PROGRESS, SOURCE, run_in_sandbox
from tintype.media.uploads.options import parse_edit
from tintype.media.videos import Clip, Poster, PosterRequest, ProbeRequest, VideoRequest
from tintype.media.voices import MadeVoice, VoiceRequest, is_sound_alone

PROBE_S, VOICE_S, VIDEO_S, POLL_S = 30.0, 120.0, 1_200.0, 1.0
OnProgress = Callable[[int], Awaitable[None]]
"""Called with the percentage done, as it grows."""


@dataclass(frozen=True)
class ProcessedPhoto:
    """A photo, the poster of a video, or a voice message, whose files have been written to a folder."""

    width: int
    height: int
    placeholder: str | None
    exif: Mapping[str, Any]
    location: Mapping[str, Any]
    """Where it was taken: separate from the rest of the EXIF, because it is stored only on request."""
    duration_ms: int | None = None
    """Of the video that a poster was made of, or of a voice message."""
    waveform: bytes | None = None
    """Of a voice message."""
    large_width: int | None = None
    """The width of the largest rendition that can be made of a photo with the same edit."""
    removed: Sequence[Removed] = ()
    """What the stored original does not have any more."""
    not_kept_because: str = ""
    """Why the original is not stored, for the log."""


@dataclass(frozen=True)
class ProcessedVideo:
    """A video whose files have been written to a folder."""

    duration_ms: int
    has_hls: bool


class MediaPipeline:
    """Converts files, each in a sandboxed process; a file that is not accepted raises `MediaRefused`."""

    def detect_type(self, head: bytes) -> MediaType:
        """Whether a file that begins with these bytes is a photo, a video or sound; other formats are refused."""
        if is_sound_alone(head):
            return "audio"
        return "image" if detect_format(head).is_photo else "video"

    def sniff(self, source: Path) -> MediaType:
        """Whether a whole file is a photo or a video, by its content."""
        return "image" if sniff(source).is_photo else "video"

    async def process_photo(
        self, source: Path, out: Path, edit: bytes, *, original: Path | None
    ) -> ProcessedPhoto:
        """Write every size of a photo, edited as the JSON says; and a copy without its location, if one is wanted."""
        made = await make_photo_in_sandbox(source, out, parse_edit(edit), original=original)
        return ProcessedPhoto(
            made.width,
            made.height,
            made.placeholder,
            made.exif,
            made.gps,
            large_width=made.large_width,
            removed=made.removed,
            not_kept_because=made.not_kept_because,
        )

    async def process_voice(self, source: Path, out: Path) -> ProcessedPhoto:
        """Write a recording as every browser plays it; nothing else of the file is kept."""
        made = await run_in_sandbox(
            "make_voice",
            VoiceRequest(SOURCE, OUT),
            returns=MadeVoice,
            timeout_s=VOICE_S,
            source=source,
            outs={OUT: out},
        )
        return ProcessedPhoto(
            0,
            0,
            None,
            {},
            {},
            duration_ms=made.duration_ms,
            waveform=made.waveform,
            large_width=0,
            removed=("metadata", "original"),
        )

    async def process_poster(self, source: Path, out: Path) -> ProcessedPhoto:
        """Write every size of a video's poster, and measure the video."""
        clip = await run_in_sandbox(
            "probe_video", ProbeRequest(SOURCE), returns=Clip, timeout_s=PROBE_S, source=source
        )
        still = out / "still.jpg"
        request = PosterRequest(SOURCE, f"{OUT}/{still.name}")
        await run_in_sandbox(
            "make_poster", request, returns=Poster, timeout_s=PROBE_S, source=source, outs={OUT: out}
        )
        made = await make_photo_in_sandbox(still, out)
        await asyncio.to_thread(still.unlink)
        duration_ms = round(clip.duration_s * 1000)
        return ProcessedPhoto(made.width, made.height, made.placeholder, {}, {}, duration_ms)

    async def clean_photo(self, source: Path, copy: Path) -> Sequence[Removed]:
        """Write a copy of a photo without its location, unless `original` is among what was removed."""
        request = CleanPhotoRequest(SOURCE, f"{ORIGINAL}/{copy.name}")
        outs = {ORIGINAL: copy.parent}
        return await run_in_sandbox(
            "clean_photo", request, returns=list[Removed], timeout_s=PROBE_S, source=source, outs=outs
        )

    async def clean_video(self, source: Path, copy: Path) -> Sequence[Removed]:
        """Write a copy of a video without its location; refuses one of which that is not certain."""
        request = CleanVideoRequest(SOURCE, f"{ORIGINAL}/{copy.name}")
        outs = {ORIGINAL: copy.parent}
        cleaned = await run_in_sandbox(
            "clean_video", request, returns=CleanVideo, timeout_s=PROBE_S, source=source, outs=outs
        )
        return cleaned.removed

    async def convert_video(self, source: Path, out: Path, on_progress: OnProgress) -> ProcessedVideo:
        """Write `video.mp4`, and for longer videos `index.m3u8` with its segments."""
        progress_file = source.with_suffix(".progress")
        request = VideoRequest(SOURCE, OUT, PROGRESS)
        watcher = asyncio.create_task(_watch(progress_file, on_progress))
        try:
            made = await run_in_sandbox(
                "make_video",
                request,
                returns=videos.MadeVideo,
                timeout_s=VIDEO_S,
                source=source,
                outs={OUT: out},
                progress=progress_file,
            )
        finally:
            watcher.cancel()
        return ProcessedVideo(round(made.duration_s * 1000), made.playlist is not None)

    async def make_large_photo(self, original: Path, out: Path, width: int, edit: bytes) -> None:
        """Write a large rendition of a photo's original, with the edit that its other sizes were made with."""
        await make_large_photo_in_sandbox(original, out, width, parse_edit(edit))

    async def make_variant(self, jpeg: Path, out: Path, format_: VariantFormat) -> None:
        """Write one of our JPEGs in a newer format, or as the picture of a link preview."""
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
