"""What a file says it is, and what is made of it."""

from enum import StrEnum
from typing import Literal

import msgspec

SIZES = (1080, 640, 320, 150)
LEAST_WIDTH = 320

Fact = str | int | float
LazyKind = Literal["webp", "avif"]


class Kind(StrEnum):
    """The kinds of file we take, told by content."""

    JPEG = "jpeg"
    PNG = "png"
    WEBP = "webp"
    HEIC = "heic"
    MP4 = "mp4"
    MOV = "mov"

    @property
    def is_photo(self) -> bool:
        """Whether it is a picture that stands still."""
        return self not in {Kind.MP4, Kind.MOV}


class Header(msgspec.Struct, frozen=True):
    """What a photo's header says, read by us before any decoder runs."""

    kind: Kind
    width: int
    height: int
    """As stored: before the orientation is applied."""

    @property
    def pixels(self) -> int:
        """How many pixels a decoder will make."""
        return self.width * self.height


class PhotoFile(msgspec.Struct, frozen=True):
    """One file that was made."""

    name: str
    width: int
    height: int
    size_bytes: int


class MadePhoto(msgspec.Struct, frozen=True):
    """A photo in all its sizes, and what its owner alone may know about it."""

    width: int
    height: int
    """Of the largest size, 1080.jpg."""

    placeholder: str
    """A thumbhash in base64: at most 25 bytes that draw a blurred picture until the real one is there."""

    kind: Kind
    files: list[PhotoFile]
    exif: dict[str, Fact]
    """What the camera noted, without the place: private."""

    gps: dict[str, Fact]
    """Where it was taken: private, kept only if the owner wants it."""
