"""The photo pipeline: from the file a phone made to the files a browser gets.

One decode, one Lanczos pyramid: each size is made from the one above it, and each square is cropped from the smallest
of them that contains it. None of the original's metadata is written. Runs in the sandbox (`sandbox_jobs`), and uses no
store and no network.
"""

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from tintype.media.looks import Edit, cut, tint
from tintype.media.looks.geometry import frame
from tintype.media.photos.decode import DecodedPhoto, decode, fit_width, scale_to, scale_to_width
from tintype.media.photos.exif import read_exif
from tintype.media.photos.models import (
    LARGE_SIZES,
    MAX_LARGE_HEIGHT,
    SIZES,
    Header,
    MadePhoto,
    PhotoFile,
)
from tintype.media.photos.placeholder import make_placeholder
from tintype.media.photos.sniff import read_header
from tintype.media.photos.vips import pyvips

QUALITY = 82
MAX_CROP_SOURCE_WIDTH = 4 * SIZES[0]
"""A crop is made from an image no wider than this, which bounds memory."""


def make_photo(source: Path, out: Path, edit: Edit | None = None) -> MadePhoto:
    """Write every size of a photo into a folder, as `1080.jpg` … `150.jpg` and square as `1080s.jpg` … `150s.jpg`.

    A size larger than the photo is written at the photo's own width, so that every name exists.
    """
    content = source.read_bytes()
    header = read_header(content)
    base = _make_base(content, header, edit, SIZES[0])
    exif, gps = read_exif(base.exif)
    levels = list(_pyramid(base.image))
    squares = [_square(levels, size) for size in SIZES]
    return MadePhoto(
        width=base.image.width,
        height=base.image.height,
        placeholder=_placeholder(levels[-1]),
        kind=header.kind,
        files=[*_write(levels, "", out), *_write(squares, "s", out)],
        exif=exif,
        gps=gps,
        large_width=_large_width(base, edit),
    )


def make_large_photo(source: Path, out: Path, width: int, edit: Edit | None = None) -> PhotoFile:
    """Write one rendition of a photo at `out`, with the same edit: so wide, or as wide as the photo is."""
    content = source.read_bytes()
    image = _make_base(content, read_header(content), edit, width).image
    encoded = image.jpegsave_buffer(Q=QUALITY, keep=0)
    out.write_bytes(encoded)
    return PhotoFile(out.name, image.width, image.height, len(encoded))


def _make_base(content: bytes, header: Header, edit: Edit | None, width: int) -> DecodedPhoto:
    """The photo at this width at most. Crop first, from an image as large as that needs, then scale, then colour."""
    if edit is None:
        return decode(content, header, lambda _width, _height: width)

    def widest(wide: int, high: int) -> int:
        return min(MAX_CROP_SOURCE_WIDTH, math.ceil(wide * width / _edited_size(wide, high, edit)[0]))

    decoded = decode(content, header, widest)
    image = cut(decoded.image, edit)
    return decoded._replace(image=tint(scale_to_width(image, fit_width(image.width, width)), edit))


def _edited_size(width: int, height: int, edit: Edit) -> tuple[int, int]:
    """What is left of an image of this size when the edit has turned, straightened and cropped it."""
    sides = (height, width) if edit.turns % 2 else (width, height)
    kept = frame(*sides, edit)
    return kept.width, kept.height


def _large_width(photo: DecodedPhoto, edit: Edit | None) -> int:
    width, height = photo.width, photo.height
    if edit is not None:
        scale = min(1.0, MAX_CROP_SOURCE_WIDTH / width)
        width, height = _edited_size(int(width * scale), max(1, int(height * scale)), edit)
    return max(1, min(LARGE_SIZES[0], width, MAX_LARGE_HEIGHT * width // height))


def _pyramid(image: pyvips.Image) -> Iterator[pyvips.Image]:
    for size in SIZES:
        if image.width > size:
            image = scale_to_width(image, size)
        yield image


def _square(levels: list[pyvips.Image], size: int) -> pyvips.Image:
    """Crop the centre from the smallest level that contains it, and scale it where needed."""
    size = min(size, levels[0].width, levels[0].height)
    image = next(level for level in reversed(levels) if min(level.width, level.height) >= size)
    side = min(image.width, image.height)
    return scale_to(image.crop((image.width - side) // 2, (image.height - side) // 2, side, side), size, size)


def _write(pictures: list[pyvips.Image], suffix: str, out: Path) -> Iterator[PhotoFile]:
    last, encoded = None, b""
    for size, image in zip(SIZES, pictures, strict=True):
        if image is not last:  # a small photo is the same in several sizes
            last, encoded = image, image.jpegsave_buffer(Q=QUALITY, keep=0)
        name = f"{size}{suffix}.jpg"
        (out / name).write_bytes(encoded)
        yield PhotoFile(name, image.width, image.height, len(encoded))


def _placeholder(image: pyvips.Image) -> str:
    pixels = np.frombuffer(image.write_to_memory(), np.uint8).reshape(image.height, image.width, 3)
    return make_placeholder(pixels)
