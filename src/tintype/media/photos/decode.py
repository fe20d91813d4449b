"""Turns the bytes of a photo into one picture of our largest size: upright, in sRGB, opaque, in memory.

A JPEG is shrunk while it is decoded (by 2, 4 or 8, in the frequency domain, which costs nothing) as long as a third
more than the size we want is left for the Lanczos filter to work with: below that, pictures become soft. All that
is dear, colour management first of all, happens after the shrinking, on a twelfth of the pixels.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tintype.media.errors import MediaDamaged, MediaDimensionsFalse, MediaTooCostly
from tintype.media.photos.colour import to_srgb
from tintype.media.photos.heif import open_heif
from tintype.media.photos.models import LEAST_WIDTH, SIZES, Header, Kind
from tintype.media.photos.opened import Opened
from tintype.media.photos.sniff import check_size
from tintype.media.photos.vips import find_field, pyvips, take_complaints

LOADERS: dict[Kind, Callable[..., pyvips.Image]] = {
    Kind.JPEG: pyvips.Image.jpegload_buffer,
    Kind.PNG: pyvips.Image.pngload_buffer,
    Kind.WEBP: pyvips.Image.webpload_buffer,
}
KERNEL = "lanczos3"
TOO_COSTLY = ("out of memory", "File too large", "No space left")
SPARE = 4 / 3
SIDEWAYS = 5
"""Orientations from 5 on lie on their side."""
Widest = Callable[[int, int], int]
"""How wide the picture may be at most, given the width and height it has upright."""


def our_largest(_width: int, _height: int) -> int:
    """No wider than anything we show."""
    return SIZES[0]


def decode(content: bytes, header: Header, widest: Widest = our_largest) -> tuple[pyvips.Image, bytes]:
    """Return the picture at our largest size, or wider where a part of it is to be cut out; and its EXIF block."""
    try:
        opened = open_heif(content) if header.kind is Kind.HEIC else _open(content, header, widest)
        _check_truth(header, opened)
        return _make_base(opened, widest), opened.exif
    except pyvips.Error as error:
        kind = MediaTooCostly if any(words in str(error) for words in TOO_COSTLY) else MediaDamaged
        raise kind(error=str(error)[:500]) from error


def fit_width(width: int, widest: int = SIZES[0]) -> int:
    """The widest we want, or the picture's own width if that is smaller, or the least we show."""
    return max(LEAST_WIDTH, min(width, widest))


def scale_to(image: pyvips.Image, width: int, height: int) -> pyvips.Image:
    """Return a picture of exactly that size, computed once and held in memory."""
    if (image.width, image.height) != (width, height):
        image = image.resize(width / image.width, vscale=height / image.height, kernel=KERNEL)
    return image.copy_memory()


def scale_to_width(image: pyvips.Image, width: int) -> pyvips.Image:
    """Return a picture of that width in the same shape."""
    return scale_to(image, width, max(1, round(image.height * width / image.width)))


def _open(content: bytes, header: Header, widest: Widest) -> Opened:
    options: dict[str, Any] = {"access": "sequential", "fail_on": "error"}  # any: keywords of three loaders
    load = LOADERS[header.kind]
    image: pyvips.Image = load(content, **options)
    orientation = _orientation(image)
    exif = find_field(image, "exif-data") or b""
    opened = Opened(image, image.width, image.height, orientation, exif)
    shrink = _shrink_factor(opened, widest) if header.kind is Kind.JPEG else 1
    return opened if shrink == 1 else replace(opened, image=load(content, shrink=shrink, **options))


def _orientation(image: pyvips.Image) -> int:
    value = find_field(image, "orientation")
    return value if value in range(1, 9) else 1


def _shrink_factor(opened: Opened, widest: Widest) -> int:
    wide, high = _upright(opened)
    wanted = widest(wide, high) * SPARE
    return next((factor for factor in (8, 4, 2) if wide / factor >= wanted), 1)


def _upright(opened: Opened) -> tuple[int, int]:
    # Before shrinking, whose rounding would bend the shape.
    if opened.orientation >= SIDEWAYS:
        return opened.height, opened.width
    return opened.width, opened.height


def _check_truth(header: Header, opened: Opened) -> None:
    """The decoder must have found the size that the header was let in with."""
    expected, found = (header.width, header.height), (opened.width, opened.height)
    if header.kind is Kind.HEIC:  # turned upright already, and cropped to what the encoder's blocks left over
        check_size(*found)
        is_true = all(mine <= theirs for mine, theirs in zip(sorted(found), sorted(expected), strict=True))
    else:
        is_true = found == expected
    if not is_true:
        raise MediaDimensionsFalse(expected=str(expected), found=str(found))


def _make_base(opened: Opened, widest: Widest) -> pyvips.Image:
    image = opened.image
    if image.hasalpha():
        white = 65535 if image.format == "ushort" else 255
        image = image.flatten(background=[white])
    wide, high = _upright(opened)
    width = fit_width(wide, widest(wide, high))
    size = width, max(1, round(high * width / wide))
    take_complaints()
    image = scale_to(image, *(size[::-1] if opened.orientation >= SIDEWAYS else size))
    # libjpeg paints the rest grey when a picture ends before its size does. Its other complaints (bytes too many
    # before the end, say) are about photos that real cameras write.
    if "premature end" in take_complaints():
        raise MediaDamaged(reason="the picture is smaller than it says")
    image = to_srgb(image, opened.assumed_profile)
    return image.autorot().copy_memory() if opened.orientation > 1 else image.copy_memory()
