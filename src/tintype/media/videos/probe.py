"""Probes a video: its duration by its packets, its size by its first frame.

Headers can be wrong, by mistake or on purpose; players go by the packets.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import msgspec
from av.error import FFmpegError
from av.packet import Packet
from av.video.frame import VideoFrame

from tintype.media.videos.errors import VideoDamaged, VideoTooLong
from tintype.media.videos.models import GRACE_S, LONGEST_S, MAX_FRAMES, Clip, ProbeRequest
from tintype.media.videos.mp4_boxes import check_size
from tintype.media.videos.open_video import SourceVideo, open_video

MAX_REMUX_PIXELS = 1920 * 1088
MAX_REMUX_RATE = 61
MAX_REMUX_BITS = 10_000_000
MAX_REMUX_KEY_GAP_S = 10
"""Without key frames a player cannot seek, and no segments can be cut."""
PROFILES = {"Baseline", "Constrained Baseline", "Main", "High"}
HDR = {16, 18}
"""The transfer characteristics PQ and HLG."""
MAX_CHANNELS = 2
"""Audio channels that every phone plays."""


class TrackLength(msgspec.Struct):
    """The extent of one track, accumulated over its packets."""

    start_s: float | None = None
    end_s: float = 0.0
    packets: int = 0
    size_bytes: int = 0
    last_key_s: float | None = None
    longest_gap_s: float = 0.0
    """Between key frames, at which a player may start."""

    @property
    def duration_s(self) -> float:
        """From the first to the last timestamp."""
        return 0.0 if self.start_s is None else self.end_s - self.start_s

    def add(self, packet: "Packet[Any]") -> None:
        """Include one packet."""
        moment = packet.pts if packet.pts is not None else packet.dts
        if moment is None:
            return
        unit = float(packet.time_base or Fraction(1))
        start = moment * unit
        self.start_s = start if self.start_s is None else min(start, self.start_s)
        self.end_s = max(self.end_s, start + (packet.duration or 0) * unit)
        if packet.is_keyframe:
            waited = 0.0 if self.last_key_s is None else start - self.last_key_s
            self.longest_gap_s = max(self.longest_gap_s, waited)
            self.last_key_s = start
        self.packets += 1
        self.size_bytes += packet.size


def probe(request: ProbeRequest) -> Clip:
    """Measure a video, or refuse it."""
    frame = first_frame(request.source)
    with open_video(request.source) as opened:
        video, audio = measure(opened)
        context = opened.video.codec_context
        width, height = shown_size(opened, frame)
        return Clip(
            width=width,
            height=height,
            duration_s=round(max(video.duration_s, audio.duration_s), 3),
            frames=video.packets,
            video_codec=context.name,
            audio_codec=opened.audio.codec_context.name if opened.audio else None,
            may_remux=_may_remux(opened, frame, video, audio),
        )


def first_frame(source: str) -> VideoFrame:
    """The first frame that decodes; refused when there is none, or it exceeds our limits.

    The file is opened just for this: seeking back to the start would skip audio before the first frame.
    """
    with open_video(source) as opened:
        frame = next(decode_frames(opened), None)
    if frame is None:
        raise VideoDamaged(frames=0)
    check_size(frame.width, frame.height)
    return frame


def decode_frames(opened: SourceVideo) -> Iterator[VideoFrame]:
    """Frames in order, skipping what does not decode."""
    for packet in opened.container.demux(opened.video):
        try:
            yield from opened.video.decode(packet)
        except FFmpegError:
            continue  # players skip it as well; whoever needs a frame fails when there is none at all


def measure(opened: SourceVideo) -> tuple[TrackLength, TrackLength]:
    """The lengths of the video and audio track; refused as soon as either is too long."""
    video, audio = TrackLength(), TrackLength()
    for packet in opened.container.demux(*opened.streams):
        length = video if packet.stream is opened.video else audio
        length.add(packet)
        if max(video.duration_s, audio.duration_s) > LONGEST_S + GRACE_S or video.packets > MAX_FRAMES:
            raise VideoTooLong(seconds=length.duration_s, frames=video.packets)
    if video.packets == 0:
        raise VideoDamaged(frames=0)
    return video, audio


def shown_size(opened: SourceVideo, frame: VideoFrame) -> tuple[int, int]:
    """Width and height as displayed: with square pixels, after rotation."""
    ratio = opened.video.sample_aspect_ratio or Fraction(1)
    width = round(frame.width * ratio) if Fraction(1, 4) <= ratio <= 4 else frame.width  # noqa: PLR2004 - numbers of the format's own layout
    is_rotated = opened.layout.matrix[0] == 0
    return (frame.height, width) if is_rotated else (width, frame.height)


def is_hdr(frame: VideoFrame) -> bool:
    """Whether a frame is HDR."""
    return int(frame.color_trc) in HDR


def _may_remux(opened: SourceVideo, frame: VideoFrame, video: TrackLength, audio: TrackLength) -> bool:
    context = opened.video.codec_context
    seconds = max(video.duration_s, 0.001)
    is_plain = context.profile in PROFILES and frame.format.name in {"yuv420p", "yuvj420p"}
    return (
        context.name == "h264"
        and is_plain
        and not frame.interlaced_frame
        and not is_hdr(frame)
        and (opened.video.sample_aspect_ratio or 1) == 1
        and frame.width * frame.height <= MAX_REMUX_PIXELS
        and video.packets / seconds <= MAX_REMUX_RATE
        and max(video.longest_gap_s, video.end_s - (video.last_key_s or 0)) <= MAX_REMUX_KEY_GAP_S
        and 8 * (video.size_bytes + audio.size_bytes) / seconds <= MAX_REMUX_BITS
        and _may_copy_audio(opened)
    )


def _may_copy_audio(opened: SourceVideo) -> bool:
    if opened.audio is None:
        return True
    context = opened.audio.codec_context
    return context.name == "aac" and context.profile == "LC" and context.channels <= MAX_CHANNELS
