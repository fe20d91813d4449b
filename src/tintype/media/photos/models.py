"""Types of the photo pipeline: formats, headers, and the files that are made."""

from enum import StrEnum
from typing import Literal

import msgspec

from tintype.media.metadata.models import Removed

SIZES = (1080, 640, 320, 150)
MIN_WIDTH = 320
LARGE_SIZES = (2048, 1440)
"""Made of the original when they are first asked for, where it is that large."""
MAX_LARGE_HEIGHT = 4096
"""A tall photo is narrower than its size says: 9:16 is 2048 by 3641, 1:10 is 409 by 4096."""

Fact = str | int | float
VariantFormat = Literal["webp", "avif", "preview"]
"""`preview` is a JPEG for link previews, fitted into a square of `PREVIEW_SIDE`."""
PREVIEW_SIDE = 1_200


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


def large_renditions(large_width: int | None) -> dict[int, int]:
    """The large sizes of a photo whose largest rendition is this wide, with the width of each: none is enlarged."""
    width = large_width or 0
    smaller = (*LARGE_SIZES[1:], SIZES[0])
    sizes = {
        size: min(size, width) for size, below in zip(LARGE_SIZES, smaller, strict=True) if width > below
    }
    return dict(reversed(sizes.items()))


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

    large_width: int
    """The width of the largest rendition that can be made with the same edit, at most that of the upload."""

    removed: list[Removed] = msgspec.field(default_factory=list[Removed])
    """What the copy of the original does not have any more, where one was wanted."""

    not_kept_because: str = ""
    """Why there is no such copy, for the log."""
