"""Types of the photo pipeline: formats, headers, and the files that are made."""

from enum import StrEnum
from typing import Literal

import msgspec

from tintype.media.metadata.models import Removed

SIZES = (1080, 640, 320, 150)
MIN_WIDTH = 320

Fact = str | int | float
VariantFormat = Literal["webp", "avif"]


class FileFormat(StrEnum):
    """The file formats we accept, detected by content."""

    JPEG = "jpeg"
    PNG = "png"
    WEBP = "webp"
    HEIC = "heic"
    MP4 = "mp4"
    MOV = "mov"

    @property
    def is_photo(self) -> bool:
        """Whether it is a still image."""
        return self not in {FileFormat.MP4, FileFormat.MOV}

    @property
    def extension(self) -> str:
        """What the name of such a file ends with."""
        return "jpg" if self is FileFormat.JPEG else self.value


class Header(msgspec.Struct, frozen=True):
    """A photo's header, parsed by us before any decoder runs."""

    kind: FileFormat
    width: int
    height: int
    """As stored: before the orientation is applied."""

    @property
    def pixels(self) -> int:
        """How many pixels a decoder will produce."""
        return self.width * self.height


class PhotoFile(msgspec.Struct, frozen=True):
    """One file that was written."""

    name: str
    width: int
    height: int
    size_bytes: int


class MadePhoto(msgspec.Struct, frozen=True):
    """A photo in all its sizes, with the metadata that only its owner may read."""

    width: int
    height: int
    """Of the largest size, 1080.jpg."""

    placeholder: str
    """A thumbhash in base64: at most 25 bytes that draw a blurred image until the real one is loaded."""

    kind: FileFormat
    files: list[PhotoFile]
    exif: dict[str, Fact]
    """What the camera recorded, without the location: private."""

    gps: dict[str, Fact]
    """Where it was taken: private, stored only if the owner wants it."""

    removed: list[Removed] = msgspec.field(default_factory=list[Removed])
    """What the copy of the original does not have any more, where one was wanted."""

    not_kept_because: str = ""
    """Why there is no such copy, for the log."""
