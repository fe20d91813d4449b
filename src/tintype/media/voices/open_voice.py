"""Opens a recording with the one demuxer its container needs, on a plain file, and selects its track."""

import errno
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import av
from av.audio.stream import AudioStream
from av.container import InputContainer
from av.error import FFmpegError
from av.logging import set_level

from tintype.media.videos.errors import VideoDamaged, VideoRefused
from tintype.media.videos.mp4_boxes import check_sound
from tintype.media.videos.open_video import DEMUXER, OPTIONS, OWN_ERRORS
from tintype.media.voices.errors import VoiceDamaged, VoiceUnsupported
from tintype.media.voices.sniff import Container, detect_container

DEMUXERS: dict[Container, str] = {"webm": "matroska,webm", "ogg": "ogg", "mp4": DEMUXER}
MP4_ALONE = frozenset({"enable_drefs", "use_absolute_path"})
CODECS = {"webm": {"opus", "libopus"}, "ogg": {"opus", "libopus"}, "mp4": {"aac", "opus", "libopus"}}
READ_ERRORS = {errno.EIO}
"""What the demuxer of WebM reports of a file that ends too early."""
MAX_CHANNELS = 2
RATES = range(8_000, 96_001)


@contextmanager
def open_voice(source: str) -> Generator[tuple[InputContainer, AudioStream]]:
    """Open the recording at this path; one that the library cannot read is `VoiceDamaged`."""
    kind = _check(Path(source))
    set_level(None)
    options = {name: value for name, value in OPTIONS.items() if kind == "mp4" or name not in MP4_ALONE}
    try:
        with av.open(
            f"file:{source}", "r", format=DEMUXERS[kind], options=options, metadata_errors="replace"
        ) as container:
            yield container, _select_track(container, kind)
    except FFmpegError as error:
        if error.errno in OWN_ERRORS - READ_ERRORS:
            raise
        raise VoiceDamaged(error=str(error)[:200]) from error


def _check(source: Path) -> Container:
    with source.open("rb") as file:
        kind = detect_container(file.read(16))
    if kind is None:
        raise VoiceUnsupported
    if kind == "mp4":
        try:
            check_sound(source)
        except VideoDamaged as error:
            raise VoiceDamaged(**error.facts) from error
        except VideoRefused as error:
            raise VoiceUnsupported(**error.facts) from error
    return kind


def _select_track(container: InputContainer, kind: Container) -> AudioStream:
    if len(container.streams) != 1 or len(container.streams.audio) != 1:
        raise VoiceUnsupported(streams=len(container.streams))
    stream = container.streams.audio[0]
    context = stream.codec_context
    if context is None or context.name not in CODECS[kind]:  # pyright: ignore[reportUnnecessaryComparison] - none where the library has no decoder
        raise VoiceUnsupported(codec=context.name if context else "")  # pyright: ignore[reportUnnecessaryComparison] - as above
    if not 1 <= context.channels <= MAX_CHANNELS or context.sample_rate not in RATES:
        raise VoiceUnsupported(channels=context.channels, rate=context.sample_rate)
    context.thread_count = 1
    return stream
