"""What a video really is: its length by its packets, its size by its first picture.

Headers lie, by mistake or on purpose; players believe the packets.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import msgspec
from av.error import FFmpegError
from av.packet import Packet
from av.video.frame import VideoFrame

from tintype.media.videos.boxes import check_size
from tintype.media.videos.errors import VideoDamaged, VideoTooLong
from tintype.media.videos.models import GRACE_S, LONGEST_S, MOST_FRAMES, Clip, Wanted
from tintype.media.videos.opening import Opened, open_video

MOST_REMUX_PIXELS = 1920 * 1088
MOST_REMUX_RATE = 61
MOST_REMUX_BITS = 10_000_000
MOST_REMUX_WAIT_S = 10
"""Without key frames there is no jumping ahead, and no cutting into segments."""
PROFILES = {"Baseline", "Constrained Baseline", "Main", "High"}
HDR = {16, 18}
"""Transfer curves of PQ and HLG."""
SOME = 2
"""Channels of sound that every phone plays."""


class Length(msgspec.Struct):
    """Added up over packets: from the first to the last moment, in seconds."""

    start_s: float | None = None
    end_s: float = 0.0
    packets: int = 0
    size_bytes: int = 0
    last_key_s: float | None = None
    longest_wait_s: float = 0.0
    """Between pictures at which a player may begin."""

    @property
    def duration_s(self) -> float:
        """From the first to the last moment."""
        return 0.0 if self.start_s is None else self.end_s - self.start_s

    def add(self, packet: "Packet[Any]") -> None:
        """Count one more."""
        moment = packet.pts if packet.pts is not None else packet.dts
        if moment is None:
            return
        unit = float(packet.time_base or Fraction(1))
        start = moment * unit
        self.start_s = start if self.start_s is None else min(start, self.start_s)
        self.end_s = max(self.end_s, start + (packet.duration or 0) * unit)
        if packet.is_keyframe:
            waited = 0.0 if self.last_key_s is None else start - self.last_key_s
            self.longest_wait_s = max(self.longest_wait_s, waited)
            self.last_key_s = start
        self.packets += 1
        self.size_bytes += packet.size


def probe(wanted: Wanted) -> Clip:
    """Measure a video, or refuse it."""
    picture = first_picture(wanted.source)
    with open_video(wanted.source) as opened:
        video, audio = measure(opened)
        context = opened.video.codec_context
        width, height = shown_size(opened, picture)
        return Clip(
            width=width,
            height=height,
            duration_s=round(max(video.duration_s, audio.duration_s), 3),
            frames=video.packets,
            video_codec=context.name,
            audio_codec=opened.audio.codec_context.name if opened.audio else None,
            may_remux=_may_remux(opened, picture, video, audio),
        )


def first_picture(source: str) -> VideoFrame:
    """The first picture that can be decoded; there has to be one, within our limits.

    The file is opened for it alone: going back to the start would pass over sound before the first picture.
    """
    with open_video(source) as opened:
        frame = next(decoded(opened), None)
    if frame is None:
        raise VideoDamaged(frames=0)
    check_size(frame.width, frame.height)
    return frame


def decoded(opened: Opened) -> Iterator[VideoFrame]:
    """Pictures in order, passing over what does not decode."""
    for packet in opened.container.demux(opened.video):
        try:
            yield from opened.video.decode(packet)
        except FFmpegError:
            continue


def measure(opened: Opened) -> tuple[Length, Length]:
    """The lengths of picture and sound; ends as soon as either is too long."""
    video, audio = Length(), Length()
    for packet in opened.container.demux(*opened.streams):
        length = video if packet.stream is opened.video else audio
        length.add(packet)
        if max(video.duration_s, audio.duration_s) > LONGEST_S + GRACE_S or video.packets > MOST_FRAMES:
            raise VideoTooLong(seconds=length.duration_s, frames=video.packets)
    if video.packets == 0:
        raise VideoDamaged(frames=0)
    return video, audio


def shown_size(opened: Opened, frame: VideoFrame) -> tuple[int, int]:
    """Width and height as people see them: with square pixels, after turning."""
    ratio = opened.video.sample_aspect_ratio or Fraction(1)
    width = round(frame.width * ratio) if Fraction(1, 4) <= ratio <= 4 else frame.width  # noqa: PLR2004
    is_turned = opened.layout.matrix[0] == 0
    return (frame.height, width) if is_turned else (width, frame.height)


def is_hdr(frame: VideoFrame) -> bool:
    """Whether its light goes beyond what a plain screen shows."""
    return int(frame.color_trc) in HDR


def _may_remux(opened: Opened, frame: VideoFrame, video: Length, audio: Length) -> bool:
    context = opened.video.codec_context
    seconds = max(video.duration_s, 0.001)
    is_plain = context.profile in PROFILES and frame.format.name in {"yuv420p", "yuvj420p"}
    return (
        context.name == "h264"
        and is_plain
        and not frame.interlaced_frame
        and not is_hdr(frame)
        and (opened.video.sample_aspect_ratio or 1) == 1
        and frame.width * frame.height <= MOST_REMUX_PIXELS
        and video.packets / seconds <= MOST_REMUX_RATE
        and max(video.longest_wait_s, video.end_s - (video.last_key_s or 0)) <= MOST_REMUX_WAIT_S
        and 8 * (video.size_bytes + audio.size_bytes) / seconds <= MOST_REMUX_BITS
        and _may_copy_sound(opened)
    )


def _may_copy_sound(opened: Opened) -> bool:
    if opened.audio is None:
        return True
    context = opened.audio.codec_context
    return context.name == "aac" and context.profile == "LC" and context.channels <= SOME
