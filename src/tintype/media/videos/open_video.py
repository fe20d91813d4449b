"""Opens a video with the one demuxer we allow, on a plain file, and selects its tracks."""

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

from tintype.media.videos.errors import VideoDamaged, VideoUnsupported, VideoWithoutPictures
from tintype.media.videos.models import LONGEST_SIDE, SHORTER_SIDE
from tintype.media.videos.mp4_boxes import Mp4Header, check_header, check_size

DEMUXER = "mov,mp4,m4a,3gp,3g2,mj2"
OPTIONS = {
    "protocol_whitelist": "file",
    "enable_drefs": "0",
    "use_absolute_path": "0",
    "max_streams": "32",
    "analyzeduration": "2000000",
    "probesize": "5000000",
}
MAX_PIXELS = (LONGEST_SIDE + 64) * (SHORTER_SIDE + 64)
CODEC_OPTIONS = {"max_pixels": str(MAX_PIXELS), "threads": "1"}
"""Enforced on the frames themselves, which may be larger than the header says."""
AUDIO_CODECS = {
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
VIDEO_CODECS = {
    "h264",
    "hevc",
    "vp9",
    "vp8",
    "av1",
    "libdav1d",
    "mpeg4",
    "h263",
    "mjpeg",
    "prores",
    "libvpx-vp9",
}

OWN_ERRORS = {errno.ENOMEM, errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EIO, errno.EROFS, errno.EACCES}
"""Errors of this machine and not of the video, though the library reports them the same way."""


class SourceVideo(msgspec.Struct, frozen=True):
    """An opened video whose header has been checked."""

    container: InputContainer
    layout: Mp4Header
    video: VideoStream
    audio: AudioStream | None

    @property
    def streams(self) -> list[VideoStream | AudioStream]:
        """The video and audio track in use; all others are ignored."""
        return [self.video] if self.audio is None else [self.video, self.audio]


@contextmanager
def open_video(source: str, threads: int = 1) -> Generator[SourceVideo]:
    """Open the video at this path; one that the library cannot read is `VideoDamaged`."""
    layout = check_header(Path(source))
    set_level(None)
    # With `file:` a path that looks like a URL of another protocol stays a path.
    url = f"file:{source}"
    # Any: the stub says list[str], the library wants a dictionary for each stream.
    per_stream: Any = [CODEC_OPTIONS] * layout.tracks
    try:
        with av.open(
            url,
            "r",
            format=DEMUXER,
            options=OPTIONS,
            stream_options=per_stream,
            metadata_errors="replace",
        ) as container:
            yield _select_tracks(container, layout, threads)
    except FFmpegError as error:
        if error.errno in OWN_ERRORS:
            raise
        raise VideoDamaged(error=str(error)[:200]) from error


def _select_tracks(container: InputContainer, layout: Mp4Header, threads: int) -> SourceVideo:
    videos = [each for each in container.streams.video if not each.disposition & Disposition.attached_pic]
    if not videos:
        raise VideoWithoutPictures
    if len(videos) > 1:
        raise VideoUnsupported(pictures=len(videos))
    video = videos[0]
    if _codec(video) not in VIDEO_CODECS:
        raise VideoUnsupported(codec=_codec(video))
    check_size(video.codec_context.width, video.codec_context.height)
    video.codec_context.options = {"max_pixels": str(MAX_PIXELS)}
    video.codec_context.thread_count = threads
    # Some phones write a second, spatial audio track that nothing else decodes: use the first that is supported.
    audio = next((each for each in container.streams.audio if _is_supported_audio(each)), None)
    return SourceVideo(container, layout, video, audio)


def _codec(stream: VideoStream | AudioStream) -> str:
    context = stream.codec_context
    return context.name if context is not None else ""  # pyright: ignore[reportUnnecessaryComparison] - none where the library has no decoder


def _is_supported_audio(stream: AudioStream) -> bool:
    name = _codec(stream)
    return name in AUDIO_CODECS or name.startswith("pcm_")
