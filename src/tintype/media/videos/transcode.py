"""Transcodes a video to what every browser plays: 720p, H.264 and AAC, at most 30 frames a second."""

from fractions import Fraction
from pathlib import Path
from typing import Any, cast

from av.audio.frame import AudioFrame
from av.audio.resampler import AudioResampler
from av.audio.stream import AudioStream
from av.bitstream import BitStreamFilterContext
from av.container import OutputContainer
from av.error import FFmpegError
from av.packet import Packet
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from tintype.media.videos.errors import VideoDamaged
from tintype.media.videos.filter_graph import FilterGraph, fit
from tintype.media.videos.mux import STRIP_SEI, new_mp4
from tintype.media.videos.open_video import SourceVideo, open_video
from tintype.media.videos.probe import first_frame, shown_size
from tintype.media.videos.progress_file import ProgressFile

SHORTER, LONGER = 720, 1280
MAX_RATE = Fraction(30)
MIN_RATE = Fraction(5)
KEY_EVERY_S = 2
AUDIO_RATE = 48_000
AUDIO_BIT_RATE = 128_000
ENCODER = {
    "preset": "veryfast",
    "crf": "23",
    "maxrate": "3500k",
    "bufsize": "7000k",
    "profile": "high",
    "level": "3.1",
}
BAD_SHARE = 0.05
BAD_ALLOWANCE = 3
"""A few packets may be unreadable, as at the end of an interrupted recording; more means a damaged file."""
HD_COLOURS = 1


class Transcoder:
    """Transcodes one video; its first frame determines the output's size and colours."""

    def __init__(
        self,
        opened: SourceVideo,
        first: VideoFrame,
        out: OutputContainer,
        progress: ProgressFile,
        threads: int,
    ) -> None:
        rate = _rate(opened.video)
        self.size = fit(shown_size(opened, first), SHORTER, LONGER)
        self._opened, self._out, self._progress = opened, out, progress
        self._graph = FilterGraph(opened, first, self.size, kind="yuv420p", rate=rate)
        # The header is written with the first packet: all tracks must exist by then.
        self._video = _video_track(out, self.size, rate, threads)
        self._sei_filter = BitStreamFilterContext(STRIP_SEI, "h264")
        self._audio = _audio_track(out) if opened.audio else None
        self._resampler = AudioResampler("fltp", "stereo", AUDIO_RATE)
        self._packets = self._bad = self._frames = 0

    def run(self, duration_s: float, start_s: float) -> None:
        """Transcode every packet to the end."""
        for packet in self._opened.container.demux(*self._opened.streams):
            self._decode(packet, start_s)
            if packet.pts is not None and packet.time_base:
                self._progress.report((float(packet.pts * packet.time_base) - start_s) / max(duration_s, 0.1))
        self._finish()

    def _decode(self, packet: "Packet[Any]", start_s: float) -> None:
        self._packets += 1
        try:
            frames: list[VideoFrame | AudioFrame] = packet.decode()
        except FFmpegError as error:
            self._bad += 1
            if self._bad > BAD_ALLOWANCE + BAD_SHARE * self._packets:
                raise VideoDamaged(bad_packets=self._bad, packets=self._packets) from error
            return
        for frame in frames:
            _shift(frame, start_s)
            if isinstance(frame, VideoFrame):
                self._filter_frame(frame)
            else:
                self._encode_audio(frame)

    def _filter_frame(self, frame: VideoFrame | None) -> None:
        for ready in self._graph.push(frame):
            self._frames += 1
            ready.pict_type = 0  # pyright: ignore[reportAttributeAccessIssue] - the stub wants the enum; 0 leaves the choice to the encoder
            self._encode_frame(ready)

    def _encode_frame(self, frame: VideoFrame | None) -> None:
        """Encode a frame, and strip the SEI units in which the encoder names its version and settings."""
        # cast: the stubs leave open of which stream the packets are.
        for packet in cast("list[Packet[Any]]", self._video.encode(frame)):
            for clean in cast("list[Packet[Any]]", self._sei_filter.filter(packet)):
                clean.stream = self._video
                self._out.mux(clean)

    def _encode_audio(self, frame: AudioFrame | None) -> None:
        if self._audio is not None:
            for ready in self._resampler.resample(frame):
                self._out.mux(self._audio.encode(ready))

    def _finish(self) -> None:
        self._filter_frame(None)
        if not self._frames:
            raise VideoDamaged(frames=0)
        self._encode_frame(None)
        if self._audio is not None:
            self._encode_audio(None)
            self._out.mux(self._audio.encode(None))
        self._progress.report(1)


def _video_track(out: OutputContainer, size: tuple[int, int], rate: Fraction, threads: int) -> VideoStream:
    key_every = str(max(1, round(rate * KEY_EVERY_S)))
    video = out.add_stream("libx264", rate=rate, options={**ENCODER, "g": key_every})
    video.width, video.height = size
    video.pix_fmt = "yuv420p"
    context = video.codec_context
    context.thread_count = threads
    context.colorspace = context.color_primaries = context.color_trc = HD_COLOURS
    context.color_range = HD_COLOURS
    return video


def _audio_track(out: OutputContainer) -> AudioStream:
    audio = out.add_stream("aac", rate=AUDIO_RATE)
    audio.layout = "stereo"  # pyright: ignore[reportAttributeAccessIssue] - the stub leaves the setter out
    audio.bit_rate = AUDIO_BIT_RATE
    return audio


def transcode(
    source: str, file: Path, *, duration_s: float, start_s: float, progress: ProgressFile, threads: int
) -> tuple[int, int]:
    """Write the MP4; returns its frame size."""
    first = first_frame(source)
    with open_video(source, threads) as opened, new_mp4(file) as out:
        work = Transcoder(opened, first, out, progress, threads)
        work.run(duration_s, start_s)
        return work.size


def _shift(frame: VideoFrame | AudioFrame, start_s: float) -> None:
    """Make timestamps relative to the start of the video."""
    if frame.pts is not None and frame.time_base:
        frame.pts -= round(start_s / frame.time_base)


def _rate(video: VideoStream) -> Fraction:
    rate = video.average_rate or video.guessed_rate or MAX_RATE
    return min(max(rate, MIN_RATE), MAX_RATE).limit_denominator(1001)
