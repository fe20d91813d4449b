"""Types of the cleaning of originals."""

from dataclasses import dataclass, field
from typing import Literal

import msgspec

Removed = Literal["location", "metadata", "attachments", "original"]
"""What was left out of an original: a location; other metadata; images or clips inside of it; or all of it."""
REMOVED: tuple[Removed, ...] = ("location", "metadata", "attachments", "original")


class NotCleanable(Exception):
    """The file cannot be copied without what may hold a location, or the copy was not proven clean."""


@dataclass
class Cleaned:
    """A clean copy of an original as it is assembled, and what was left out of it."""

    parts: list[bytes | memoryview] = field(default_factory=list[bytes | memoryview])
    removed: set[Removed] = field(default_factory=set[Removed])

    def content(self) -> bytes:
        """The bytes of the copy."""
        return b"".join(self.parts)


def in_order(removed: set[Removed]) -> list[Removed]:
    """What was removed, in the order in which it is documented."""
    return [each for each in REMOVED if each in removed]


class CleanPhotoRequest(msgspec.Struct, frozen=True):
    """A photo, and where to write its clean copy."""

    source: str
    copy: str


class CleanVideoRequest(msgspec.Struct, frozen=True):
    """A video, and where to write its clean copy."""

    source: str
    copy: str


class CleanVideo(msgspec.Struct, frozen=True):
    """What was removed from a video."""

    removed: list[Removed]
