"""Detects containers of sound by their first bytes; what is in them, the job finds out."""

from typing import Literal

Container = Literal["webm", "ogg", "mp4"]
SOUND_BRANDS = frozenset({b"M4A ", b"M4B "})
"""Major brands of MP4 files that hold sound alone."""


def detect_container(head: bytes) -> Container | None:
    """The container that a file begins like, if it is one that recorders write."""
    if head.startswith(b"\x1a\x45\xdf\xa3"):
        return "webm"
    if head.startswith(b"OggS"):
        return "ogg"
    return "mp4" if head[4:8] == b"ftyp" else None


def is_sound_alone(head: bytes) -> bool:
    """Whether a file that begins with these bytes is neither a photo nor a video that we accept, but may be sound."""
    container = detect_container(head)
    return container in {"webm", "ogg"} or (container == "mp4" and head[8:12] in SOUND_BRANDS)
