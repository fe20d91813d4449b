"""Decodes a photo into one image of our largest size: upright, in sRGB, opaque, in memory.

A JPEG is shrunk while it is decoded (by 2, 4 or 8, in the frequency domain, which costs nothing) as long as a third
more than the size we want is left for the Lanczos filter to work with: below that, images become soft. Everything
expensive, colour management above all, happens after the shrinking, on a twelfth of the pixels.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from tintype.media.errors import MediaDamaged, MediaDimensionsFalse, MediaTooCostly
from tintype.media.photos.colour import to_srgb
from tintype.media.photos.heif import open_heif
from tintype.media.photos.models import MIN_WIDTH, SIZES, FileFormat, Header
from tintype.media.photos.sniff import check_size
from tintype.media.photos.source_image import SourceImage
from tintype.media.photos.vips import find_field, pop_warnings, pyvips

LOADERS: dict[FileFormat, Callable[..., pyvips.Image]] = {
    FileFormat.JPEG: pyvips.Image.jpegload_buffer,
    FileFormat.PNG: pyvips.Image.pngload_buffer,
    FileFormat.WEBP: pyvips.Image.webpload_buffer,
}
KERNEL = "lanczos3"
TOO_COSTLY = ("out of memory", "File too large", "No space left")
LANCZOS_MARGIN = 4 / 3
SIDEWAYS = 5
"""Orientations from 5 on are rotated by a quarter turn."""
Widest = Callable[[int, int], int]
"""The largest width to decode to, given the upright width and height."""


class DecodedPhoto(NamedTuple):
    """A decoded image, its EXIF block, and the size it has without any scaling, upright."""

    image: pyvips.Image
    exif: bytes
    width: int
    height: int


def our_largest(_width: int, _height: int) -> int:
    """The width of our largest size."""
    return SIZES[0]


def decode(content: bytes, header: Header, widest: Widest = our_largest) -> DecodedPhoto:
    """The image at our largest size, or wider where a part of it will be cropped."""
    try:
        opened = open_heif(content) if header.kind is FileFormat.HEIC else _open(content, header, widest)
        _check_size_matches_header(header, opened)
        return DecodedPhoto(_make_base(opened, widest), opened.exif, *_upright(opened))
    except pyvips.Error as error:
        kind = MediaTooCostly if any(words in str(error) for words in TOO_COSTLY) else MediaDamaged
        raise kind(error=str(error)[:500]) from error


def fit_width(width: int, widest: int = SIZES[0]) -> int:
    """The target width: at most `widest`, at most the image's own, and at least our smallest."""
    return max(MIN_WIDTH, min(width, widest))


def scale_to(image: pyvips.Image, width: int, height: int) -> pyvips.Image:
    """The image scaled to exactly that size, computed once and held in memory."""
    if (image.width, image.height) != (width, height):
        image = image.resize(width / image.width, vscale=height / image.height, kernel=KERNEL)
    return image.copy_memory()


def scale_to_width(image: pyvips.Image, width: int) -> pyvips.Image:
    """The image scaled to that width, with the same aspect ratio."""
    return scale_to(image, width, max(1, round(image.height * width / image.width)))


def _open(content: bytes, header: Header, widest: Widest) -> SourceImage:
    options: dict[str, Any] = {"access": "sequential", "fail_on": "error"}  # any: keywords of three loaders
    load = LOADERS[header.kind]
    image: pyvips.Image = load(content, **options)
    orientation = _orientation(image)
    exif = find_field(image, "exif-data") or b""
    opened = SourceImage(image, image.width, image.height, orientation, exif)
    shrink = _shrink_factor(opened, widest) if header.kind is FileFormat.JPEG else 1
    return opened if shrink == 1 else replace(opened, image=load(content, shrink=shrink, **options))


def _orientation(image: pyvips.Image) -> int:
    value = find_field(image, "orientation")
    return value if value in range(1, 9) else 1


def _shrink_factor(opened: SourceImage, widest: Widest) -> int:
    wide, high = _upright(opened)
    wanted = widest(wide, high) * LANCZOS_MARGIN
    return next((factor for factor in (8, 4, 2) if wide / factor >= wanted), 1)


def _upright(opened: SourceImage) -> tuple[int, int]:
    # By the size before shrinking, whose rounding would change the aspect ratio.
    if opened.orientation >= SIDEWAYS:
        return opened.height, opened.width
    return opened.width, opened.height


def _check_size_matches_header(header: Header, opened: SourceImage) -> None:
    """Refuse an image whose decoded size differs from the size in the header that was checked."""
    expected, found = (header.width, header.height), (opened.width, opened.height)
    if (
        header.kind is FileFormat.HEIC
    ):  # upright already, and cropped to remove the padding of the encoder's blocks
        check_size(*found)
        is_true = all(mine <= theirs for mine, theirs in zip(sorted(found), sorted(expected), strict=True))
    else:
        is_true = found == expected
    if not is_true:
        raise MediaDimensionsFalse(expected=str(expected), found=str(found))


def _make_base(opened: SourceImage, widest: Widest) -> pyvips.Image:
    image = opened.image
    if image.hasalpha():
        white = 65535 if image.format == "ushort" else 255
        image = image.flatten(background=[white])
    wide, high = _upright(opened)
    width = fit_width(wide, widest(wide, high))
    size = width, max(1, round(high * width / wide))
    pop_warnings()
    image = scale_to(image, *(size[::-1] if opened.orientation >= SIDEWAYS else size))
    # libjpeg paints the rest grey when the data end too early. Its other warnings (surplus bytes before the end, for
    # example) also occur with photos of real cameras.
    if "premature end" in pop_warnings():
        raise MediaDamaged(reason="the data end before the image does")
    image = to_srgb(image, opened.assumed_profile)
    return image.autorot().copy_memory() if opened.orientation > 1 else image.copy_memory()
