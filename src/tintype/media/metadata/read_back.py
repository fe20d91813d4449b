"""Reads a cleaned photo again with parsers that share no code with the cleaning: libvips, Pillow, libheif.

The size and orientation must be those of the original, and none of the readers may find a location, XMP, IPTC or text.
Then the bytes are searched for signs of a location without regard to any format. No pixels are decoded.
"""

import io
import struct
from typing import Any, cast

import pillow_heif
from PIL import (
    ExifTags,
    Image,
    JpegImagePlugin,
    MpoImagePlugin,
    PngImagePlugin,
    TiffImagePlugin,
    WebPImagePlugin,
)

from tintype.media.metadata.models import NotCleanable
from tintype.media.metadata.signs import has_gps_table, has_location, names_position
from tintype.media.photos.decode import LOADERS
from tintype.media.photos.models import FileFormat
from tintype.media.photos.vips import find_field, pyvips

PLUGINS = (JpegImagePlugin, MpoImagePlugin, PngImagePlugin, TiffImagePlugin, WebPImagePlugin)
"""Pillow imports them when it first needs one, and in the sandbox nothing can be imported any more."""
GPS_FIELDS = "exif-ifd3-"
"""The prefix under which libvips lists the tags of a GPS table."""
REFUSED_FIELDS = ("xmp-data", "iptc-data", "photoshop-data", "png-comment-", GPS_FIELDS)
REFUSED_KEYS = ("xmp", "XML:", "Raw profile", "photoshop", "comment", "mp", "mpoffset")


def check_photo(original: bytes, copy: bytes, kind: FileFormat) -> None:
    """Raise `NotCleanable` unless every reader sees the same picture as in the original, and no location."""
    try:
        if kind is FileFormat.HEIC:
            _check_by_libheif(original, copy)
        else:
            _check_by_libvips(original, copy, kind)
            _check_by_pillow(copy, kind)
    except NotCleanable:
        raise
    except MemoryError:
        raise
    except Exception as error:  # its readers raise many kinds; a copy that cannot be read is not kept
        raise NotCleanable(f"{type(error).__name__}: {error}"[:200]) from error
    if has_gps_table(copy) or names_position(copy):
        raise NotCleanable("signs of a location are left")


def _check_by_libvips(original: bytes, copy: bytes, kind: FileFormat) -> None:
    load = LOADERS[kind]
    before, after = load(original, access="sequential"), load(copy, access="sequential")
    if _shape(before) != _shape(after):
        raise NotCleanable("another size or orientation")
    left = [name for name in after.get_fields() if name.startswith(REFUSED_FIELDS)]
    if left:
        raise NotCleanable(f"libvips still finds {left[0]}")


def _shape(image: pyvips.Image) -> tuple[int, int, int, Any]:
    profile = find_field(image, "icc-profile-data")
    return image.width, image.height, find_field(image, "orientation") or 1, profile


def _check_by_pillow(copy: bytes, kind: FileFormat) -> None:
    with Image.open(io.BytesIO(copy), formats=[kind.name]) as image:
        keys = [str(key) for key in cast("dict[Any, Any]", image.info)]
        left = [key for key in keys if key.startswith(REFUSED_KEYS)]
        if left:
            raise NotCleanable(f"Pillow still finds {left[0]}")
        if kind is FileFormat.PNG:
            _check_chunks(copy)
        else:
            _check_exif(image.getexif())


def _check_chunks(png: bytes) -> None:
    """No text, and no location in Exif. Chunks behind the pixels too, for which Pillow would decode those first."""
    at = 8
    while at < len(png):
        length, kind = struct.unpack_from(">I4s", png, at)
        if kind in {b"tEXt", b"zTXt", b"iTXt"}:
            raise NotCleanable("texts are left")
        if kind == b"eXIf":
            exif = Image.Exif()
            exif.load(png[at + 8 : at + 8 + length])
            _check_exif(exif)
        at += 12 + length


def _check_exif(exif: Image.Exif) -> None:
    if exif.get_ifd(ExifTags.IFD.GPSInfo) or exif.get_ifd(ExifTags.IFD.MakerNote):
        raise NotCleanable("Pillow still finds a location or a maker note")


def _check_by_libheif(original: bytes, copy: bytes) -> None:
    before = pillow_heif.open_heif(io.BytesIO(original))
    after = pillow_heif.open_heif(io.BytesIO(copy))
    if (before.size, before.mode) != (after.size, after.mode):
        raise NotCleanable("another size")
    info = cast("dict[str, Any]", after.info)  # any: metadata of many kinds
    blocks = [info.get("exif") or b"", info.get("xmp") or b""]
    blocks += [each["data"] for each in info.get("metadata") or ()]
    if any(has_location(block) for block in blocks):
        raise NotCleanable("libheif still finds a location")
    if blocks[0]:
        exif = Image.Exif()
        exif.load(blocks[0])
        _check_exif(exif)
