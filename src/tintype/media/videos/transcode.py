"""Video of any kind we read, made into one that every browser plays: 720p, H.264 and AAC, 30 pictures a second."""

from fractions import Fraction
from pathlib import Path
from typing import cast

import av
from av.audio.frame import AudioFrame
from av.audio.resampler import AudioResampler
from av.audio.stream import AudioStream
from av.container import OutputContainer
from av.packet import Packet
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from tintype.media.videos.boxes import check_size
from tintype.media.videos.errors import VideoDamaged
from tintype.media.videos.graph import PictureGraph, fit
from tintype.media.videos.measure import shown_size
from tintype.media.videos.opening import Opened, open_video
from tintype.media.videos.output import new_mp4
from tintype.media.videos.progress import Progress

SHORTER, LONGER = 720, 1280
FASTEST = Fraction(30)
SLOWEST = Fraction(5)
KEY_EVERY_S = 2
SOUND_RATE = 48_000
SOUND_BITS = 128_000
ENCODER = {
    "preset": "veryfast",
    "crf": "23",
    "maxrate": "3500k",
    "bufsize": "7000k",
    "profile": "high",
    "level": "3.1",
}
BAD_SHARE = 0.05
BAD_FEW = 3
"""A few packets may be unreadable, as at the end of a recording that broke off; more is damage."""
HD_COLOURS = 1


class Transcoder:
    """One video on its way from what it was to what people get."""

    def __init__(self, opened: Opened, out: OutputContainer, progress: Progress, threads: int) -> None:
        self._opened, self._out, self._progress = opened, out, progress
        self._threads = threads
        self._graph: PictureGraph | None = None
        self._video: VideoStream | None = None
        self._audio = self._sound() if opened.audio else None
        self._resampler = AudioResampler("fltp", "stereo", SOUND_RATE)
        self._packets = self._bad = self._pictures = 0
        self.size = (0, 0)

    def run(self, duration_s: float, start_s: float) -> None:
        """Read to the end."""
        for packet in self._opened.container.demux(*self._opened.streams):
            self._take(packet, start_s)
            if packet.pts is not None and packet.time_base:
                self._progress.report((float(packet.pts * packet.time_base) - start_s) / max(duration_s, 0.1))
        self._finish()

    def _take(self, packet: Packet, start_s: float) -> None:
        self._packets += 1
        try:
            frames = packet.decode()
        except av.FFmpegError as error:
            self._bad += 1
            if self._bad > BAD_FEW + BAD_SHARE * self._packets:
                raise VideoDamaged(bad_packets=self._bad, packets=self._packets) from error
            return
        for frame in frames:
            _shift(cast("VideoFrame | AudioFrame", frame), start_s)
            if isinstance(frame, VideoFrame):
                self._show(frame)
            elif isinstance(frame, AudioFrame):
                self._play(frame)

    def _show(self, frame: VideoFrame) -> None:
        if self._graph is None:
            self._begin(frame)
        assert self._graph is not None  # noqa: S101 - begun above
        for ready in self._graph.push(frame):
            self._encode(ready)

    def _begin(self, frame: VideoFrame) -> None:
        """The first picture says what the output will be."""
        check_size(frame.width, frame.height)
        self.size = fit(shown_size(self._opened, frame), SHORTER, LONGER)
        rate = _rate(self._opened.video)
        self._graph = PictureGraph(self._opened, frame, self.size, kind="yuv420p", rate=rate)
        key_every = str(max(1, round(rate * KEY_EVERY_S)))
        video = self._out.add_stream("libx264", rate=rate, options={**ENCODER, "g": key_every})
        video.width, video.height = self.size
        video.pix_fmt = "yuv420p"
        context = video.codec_context
        context.thread_count = self._threads
        context.colorspace = context.color_primaries = context.color_trc = HD_COLOURS
        context.color_range = HD_COLOURS
        self._video = video

    def _encode(self, frame: VideoFrame | None) -> None:
        assert self._video is not None  # noqa: S101 - begun with the first picture
        if frame is not None:
            self._pictures += 1
            frame.pict_type = 0  # pyright: ignore[reportAttributeAccessIssue] - the stub wants the enum; 0 leaves the choice to the encoder
        self._out.mux(self._video.encode(frame))

    def _sound(self) -> AudioStream:
        audio = self._out.add_stream("aac", rate=SOUND_RATE)
        audio.layout = "stereo"  # pyright: ignore[reportAttributeAccessIssue] - the stub leaves the setter out
        audio.bit_rate = SOUND_BITS
        return audio

    def _play(self, frame: AudioFrame | None) -> None:
        if self._audio is not None:
            for ready in self._resampler.resample(frame):
                self._out.mux(self._audio.encode(ready))

    def _finish(self) -> None:
        if self._graph is None:
            raise VideoDamaged(frames=0)
        for ready in self._graph.push(None):
            self._encode(ready)
        if not self._pictures:
            raise VideoDamaged(frames=0)
        self._encode(None)
        if self._audio is not None:
            self._play(None)
            self._out.mux(self._audio.encode(None))
        self._progress.report(1)


def transcode(
    source: str, file: Path, *, duration_s: float, start_s: float, progress: Progress, threads: int
) -> tuple[int, int]:
    """Write the MP4 and return the size of its pictures."""
    with open_video(source, threads) as opened, new_mp4(file) as out:
        work = Transcoder(opened, out, progress, threads)
        work.run(duration_s, start_s)
        return work.size


def _shift(frame: VideoFrame | AudioFrame, start_s: float) -> None:
    """Count time from the start of the video."""
    if frame.pts is not None and frame.time_base:
        frame.pts -= round(start_s / frame.time_base)


def _rate(video: VideoStream) -> Fraction:
    rate = video.average_rate or video.guessed_rate or FASTEST
    return min(max(rate, SLOWEST), FASTEST).limit_denominator(1001)
