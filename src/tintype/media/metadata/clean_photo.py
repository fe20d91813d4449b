"""Makes the clean copy of an original photo, or says that there is none."""

import struct
from collections.abc import Callable

import msgspec

from tintype.media.metadata.heif import clean_heif
from tintype.media.metadata.jpeg import clean_jpeg
from tintype.media.metadata.models import Cleaned, NotCleanable, Removed, in_order
from tintype.media.metadata.png import clean_png
from tintype.media.metadata.read_back import check_photo
from tintype.media.metadata.signs import has_location
from tintype.media.metadata.webp import clean_webp
from tintype.media.photos.models import FileFormat

CLEANERS: dict[FileFormat, Callable[[bytes], Cleaned]] = {
    FileFormat.JPEG: clean_jpeg,
    FileFormat.PNG: clean_png,
    FileFormat.WEBP: clean_webp,
    FileFormat.HEIC: clean_heif,
}


class CleanPhoto(msgspec.Struct, frozen=True):
    """A clean copy that was read back, or None and why there is none; and what was removed."""

    copy: bytes | None
    removed: list[Removed]
    reason: str = ""


def clean_photo(content: bytes, kind: FileFormat) -> CleanPhoto:
    """Copy a photo without what may hold a location, and read the copy back."""
    try:
        cleaned = CLEANERS[kind](content)
        copy = cleaned.content()
        check_photo(content, copy, kind)
    except (NotCleanable, struct.error, IndexError, ValueError) as error:
        removed: set[Removed] = {"original"}
        if has_location(content):
            removed.add("location")
        return CleanPhoto(None, in_order(removed), str(error))
    return CleanPhoto(copy, in_order(cleaned.removed))
