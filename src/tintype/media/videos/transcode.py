"""Video of any kind we read, made into one that every browser plays: 720p, H.264 and AAC, 30 pictures a second."""

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
from tintype.media.videos.graph import PictureGraph, fit
from tintype.media.videos.measure import first_picture, shown_size
from tintype.media.videos.opening import Opened, open_video
from tintype.media.videos.output import NO_NOTES, new_mp4
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
    """One video on its way from what it was to what people get; its first picture says what that will be."""

    def __init__(
        self, opened: Opened, first: VideoFrame, out: OutputContainer, progress: Progress, threads: int
    ) -> None:
        rate = _rate(opened.video)
        self.size = fit(shown_size(opened, first), SHORTER, LONGER)
        self._opened, self._out, self._progress = opened, out, progress
        self._graph = PictureGraph(opened, first, self.size, kind="yuv420p", rate=rate)
        # The file's header goes out with the first packet: all tracks have to be there by then.
        self._video = _picture_track(out, self.size, rate, threads)
        self._notes = BitStreamFilterContext(NO_NOTES, "h264")
        self._audio = _sound_track(out) if opened.audio else None
        self._resampler = AudioResampler("fltp", "stereo", SOUND_RATE)
        self._packets = self._bad = self._pictures = 0

    def run(self, duration_s: float, start_s: float) -> None:
        """Read to the end."""
        for packet in self._opened.container.demux(*self._opened.streams):
            self._take(packet, start_s)
            if packet.pts is not None and packet.time_base:
                self._progress.report((float(packet.pts * packet.time_base) - start_s) / max(duration_s, 0.1))
        self._finish()

    def _take(self, packet: "Packet[Any]", start_s: float) -> None:
        self._packets += 1
        try:
            frames: list[VideoFrame | AudioFrame] = packet.decode()
        except FFmpegError as error:
            self._bad += 1
            if self._bad > BAD_FEW + BAD_SHARE * self._packets:
                raise VideoDamaged(bad_packets=self._bad, packets=self._packets) from error
            return
        for frame in frames:
            _shift(frame, start_s)
            if isinstance(frame, VideoFrame):
                self._show(frame)
            else:
                self._play(frame)

    def _show(self, frame: VideoFrame | None) -> None:
        for ready in self._graph.push(frame):
            self._pictures += 1
            ready.pict_type = 0  # pyright: ignore[reportAttributeAccessIssue] - the stub wants the enum; 0 leaves the choice to the encoder
            self._write(ready)

    def _write(self, frame: VideoFrame | None) -> None:
        """Without the encoder's own notes, which name its version and settings."""
        # cast: the stubs leave open of which stream the packets are.
        for packet in cast("list[Packet[Any]]", self._video.encode(frame)):
            for clean in cast("list[Packet[Any]]", self._notes.filter(packet)):
                clean.stream = self._video
                self._out.mux(clean)

    def _play(self, frame: AudioFrame | None) -> None:
        if self._audio is not None:
            for ready in self._resampler.resample(frame):
                self._out.mux(self._audio.encode(ready))

    def _finish(self) -> None:
        self._show(None)
        if not self._pictures:
            raise VideoDamaged(frames=0)
        self._write(None)
        if self._audio is not None:
            self._play(None)
            self._out.mux(self._audio.encode(None))
        self._progress.report(1)


def _picture_track(out: OutputContainer, size: tuple[int, int], rate: Fraction, threads: int) -> VideoStream:
    key_every = str(max(1, round(rate * KEY_EVERY_S)))
    video = out.add_stream("libx264", rate=rate, options={**ENCODER, "g": key_every})
    video.width, video.height = size
    video.pix_fmt = "yuv420p"
    context = video.codec_context
    context.thread_count = threads
    context.colorspace = context.color_primaries = context.color_trc = HD_COLOURS
    context.color_range = HD_COLOURS
    return video


def _sound_track(out: OutputContainer) -> AudioStream:
    audio = out.add_stream("aac", rate=SOUND_RATE)
    audio.layout = "stereo"  # pyright: ignore[reportAttributeAccessIssue] - the stub leaves the setter out
    audio.bit_rate = SOUND_BITS
    return audio


def transcode(
    source: str, file: Path, *, duration_s: float, start_s: float, progress: Progress, threads: int
) -> tuple[int, int]:
    """Write the MP4 and return the size of its pictures."""
    first = first_picture(source)
    with open_video(source, threads) as opened, new_mp4(file) as out:
        work = Transcoder(opened, first, out, progress, threads)
        work.run(duration_s, start_s)
        return work.size


def _shift(frame: VideoFrame | AudioFrame, start_s: float) -> None:
    """Count time from the start of the video."""
    if frame.pts is not None and frame.time_base:
        frame.pts -= round(start_s / frame.time_base)


def _rate(video: VideoStream) -> Fraction:
    rate = video.average_rate or video.guessed_rate or FASTEST
    return min(max(rate, SLOWEST), FASTEST).limit_denominator(1001)
