"""Opens a video with the one demuxer we allow, on a plain file, and picks its tracks."""

import errno
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import av
import msgspec
from av.audio.stream import AudioStream
from av.container import InputContainer
from av.error import FFmpegError
from av.logging import set_level
from av.stream import Disposition
from av.video.stream import VideoStream

from tintype.media.videos.boxes import Layout, check_size, inspect
from tintype.media.videos.errors import VideoDamaged, VideoUnsupported, VideoWithoutPictures
from tintype.media.videos.models import LONGEST_SIDE, SHORTER_SIDE

DEMUXER = "mov,mp4,m4a,3gp,3g2,mj2"
OPTIONS = {
    "protocol_whitelist": "file",
    "enable_drefs": "0",
    "use_absolute_path": "0",
    "max_streams": "32",
    "analyzeduration": "2000000",
    "probesize": "5000000",
}
MOST_PIXELS = (LONGEST_SIDE + 64) * (SHORTER_SIDE + 64)
CODEC_OPTIONS = {"max_pixels": str(MOST_PIXELS), "threads": "1"}
"""Held against what the pictures themselves say, which may be more than the header did."""
SOUNDS = {
    "aac",
    "mp3",
    "alac",
    "ac3",
    "eac3",
    "opus",
    "amr_nb",
    "amrnb",
    "amrwb",
    "amr_wb",
    "mp3float",
    "libopus",
}
PICTURES = {"h264", "hevc", "vp9", "vp8", "av1", "libdav1d", "mpeg4", "h263", "mjpeg", "prores", "libvpx-vp9"}

OUR_TROUBLE = {errno.ENOMEM, errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EIO, errno.EROFS, errno.EACCES}
"""Not the video's fault, though the library reports it the same way."""


class Opened(msgspec.Struct, frozen=True):
    """A video whose header has been checked."""

    container: InputContainer
    layout: Layout
    video: VideoStream
    audio: AudioStream | None

    @property
    def streams(self) -> list[VideoStream | AudioStream]:
        """The tracks that people see and hear; all others are left behind."""
        return [self.video] if self.audio is None else [self.video, self.audio]


@contextmanager
def open_video(source: str, threads: int = 1) -> Generator[Opened]:
    """The video behind this path; whatever the library cannot read is damaged."""
    layout = inspect(Path(source))
    set_level(None)
    # Not by name alone: a path that looks like an address of another protocol stays a path.
    address = f"file:{Path(source).absolute()}"
    # Any: the stub says list[str], the library wants a dictionary for each stream.
    per_stream: Any = [CODEC_OPTIONS] * layout.tracks
    try:
        with av.open(
            address,
            "r",
            format=DEMUXER,
            options=OPTIONS,
            stream_options=per_stream,
            metadata_errors="replace",
        ) as container:
            yield _pick(container, layout, threads)
    except FFmpegError as error:
        if error.errno in OUR_TROUBLE:
            raise
        raise VideoDamaged(error=str(error)[:200]) from error


def _pick(container: InputContainer, layout: Layout, threads: int) -> Opened:
    videos = [each for each in container.streams.video if not each.disposition & Disposition.attached_pic]
    if not videos:
        raise VideoWithoutPictures
    if len(videos) > 1:
        raise VideoUnsupported(pictures=len(videos))
    video = videos[0]
    if _codec(video) not in PICTURES:
        raise VideoUnsupported(codec=_codec(video))
    check_size(video.codec_context.width, video.codec_context.height)
    video.codec_context.options = {"max_pixels": str(MOST_PIXELS)}
    video.codec_context.thread_count = threads
    # Some phones write a second, spatial track of sound that nothing else decodes: take the first that works.
    audio = next((each for each in container.streams.audio if _is_known_sound(each)), None)
    return Opened(container, layout, video, audio)


def _codec(stream: VideoStream | AudioStream) -> str:
    context = stream.codec_context
    return context.name if context is not None else ""  # pyright: ignore[reportUnnecessaryComparison] - none where the library has no decoder


def _is_known_sound(stream: AudioStream) -> bool:
    name = _codec(stream)
    return name in SOUNDS or name.startswith("pcm_")
