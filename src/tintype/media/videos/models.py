"""Requests and results of the video jobs: files by path, everything else small."""

from typing import Literal

import msgspec

LONGEST_S = 60
GRACE_S = 0.5
"""Phones stop a little late, and audio runs on for a frame or two."""
LONGEST_SIDE = 4096
SHORTER_SIDE = 2304
MAX_FRAMES = 15_000
"""A minute at the 240 frames a second of slow motion, and some."""


class ProbeRequest(msgspec.Struct, frozen=True):
    """A file to probe."""

    source: str


class OutputFile(msgspec.Struct, frozen=True):
    """A file that a job has written."""

    name: str
    size_bytes: int


class Clip(msgspec.Struct, frozen=True):
    """An uploaded video as measured, whatever its header says."""

    width: int
    """As displayed: after the rotation that the file specifies."""
    height: int
    duration_s: float
    frames: int
    video_codec: str
    audio_codec: str | None
    may_remux: bool
    """Every browser plays its streams; only the container has to be rewritten."""


class PosterRequest(msgspec.Struct, frozen=True):
    """A video, and where to write its poster."""

    source: str
    poster: str


class Poster(msgspec.Struct, frozen=True):
    """A poster that was written: a JPEG of at most 1080 by 1920, and a thumbnail for a placeholder."""

    width: int
    height: int
    thumb_width: int
    thumb_height: int
    thumb: bytes
    """RGB, row by row; at most 100 pixels on a side, as thumbhash needs it."""


class VideoRequest(msgspec.Struct, frozen=True):
    """A video to convert for browsers, into an empty folder."""

    source: str
    folder: str
    progress: str | int | None = None
    """A file to which the percentage is appended, a line at a time; or its descriptor."""
    threads: int = 1


class MadeVideo(msgspec.Struct, frozen=True):
    """A converted video: one MP4, and for longer ones an HLS playlist with segments."""

    width: int
    height: int
    duration_s: float
    way: Literal["remuxed", "transcoded"]
    has_sound: bool
    video: OutputFile
    playlist: str | None
    segments: list[OutputFile]
