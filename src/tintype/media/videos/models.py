"""What the video jobs are asked and what they answer: files by path, everything else small."""

from typing import Literal

import msgspec

LONGEST_S = 60
GRACE_S = 0.5
"""Phones stop a little late, and sound runs on for a frame or two."""
LONGEST_SIDE = 4096
SHORTER_SIDE = 2304
MOST_FRAMES = 15_000
"""A minute at the 240 frames a second of slow motion, and some."""


class Wanted(msgspec.Struct, frozen=True):
    """A file to look at."""

    source: str


class Made(msgspec.Struct, frozen=True):
    """A file that a job has written."""

    name: str
    size_bytes: int


class Clip(msgspec.Struct, frozen=True):
    """A video as it came, measured and not believed."""

    width: int
    """As shown: after the turn that the file asks for."""
    height: int
    duration_s: float
    frames: int
    video_codec: str
    audio_codec: str | None
    may_remux: bool
    """Every browser plays it as it is; only its wrapping has to be made anew."""


class PosterWanted(msgspec.Struct, frozen=True):
    """Where the poster goes."""

    source: str
    poster: str


class Poster(msgspec.Struct, frozen=True):
    """A still of the video: a JPEG of at most 1080 by 1920, and the same very small, for a placeholder."""

    width: int
    height: int
    thumb_width: int
    thumb_height: int
    thumb: bytes
    """Red, green, blue, row by row; at most 100 pixels on a side, as thumbhash wants it."""


class VideoWanted(msgspec.Struct, frozen=True):
    """A video to be made ready for people, in a folder of its own."""

    source: str
    folder: str
    progress: str | None = None
    """A file to which a line with the percentage is added as work goes on."""
    threads: int = 1


class MadeVideo(msgspec.Struct, frozen=True):
    """What people get: one MP4, and for longer ones a playlist with segments beside it."""

    width: int
    height: int
    duration_s: float
    way: Literal["remuxed", "transcoded"]
    has_sound: bool
    video: Made
    playlist: str | None
    segments: list[Made]
