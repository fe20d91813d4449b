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
from tintype.media.photos.decode import decode, fit_width, scale_to, scale_to_width
from tintype.media.photos.exif import read_exif
from tintype.media.photos.models import SIZES, Header, MadePhoto, PhotoFile
from tintype.media.photos.placeholder import make_placeholder
from tintype.media.photos.sniff import read_header
from tintype.media.photos.vips import pyvips

QUALITY = 82
MAX_CROP_SOURCE_WIDTH = 4 * SIZES[0]
"""A crop is made from an image no wider than this, which bounds memory."""
STRAIGHTEN_MARGIN = 1.25
"""Straightening loses about a quarter of the width."""


def make_photo(source: Path, out: Path, edit: Edit | None = None) -> MadePhoto:
    """Write every size of a photo into a folder, as `1080.jpg` … `150.jpg` and square as `1080s.jpg` … `150s.jpg`.

    A size larger than the photo is written at the photo's own width, so that every name exists.
    """
    content = source.read_bytes()
    header = read_header(content)
    base, block = decode(content, header) if edit is None else _edited(content, header, edit)
    exif, gps = read_exif(block)
    levels = list(_pyramid(base))
    squares = [_square(levels, size) for size in SIZES]
    return MadePhoto(
        width=base.width,
        height=base.height,
        placeholder=_placeholder(levels[-1]),
        kind=header.kind,
        files=[*_write(levels, "", out), *_write(squares, "s", out)],
        exif=exif,
        gps=gps,
    )


def _edited(content: bytes, header: Header, edit: Edit) -> tuple[pyvips.Image, bytes]:
    """Crop first, from as large an image as the crop needs, then scale, then colour: a small crop stays sharp."""

    def widest(width: int, height: int) -> int:
        across = (height / width if edit.turns % 2 else 1.0) * edit.crop.width
        margin = STRAIGHTEN_MARGIN if edit.straighten else 1.0
        return min(MAX_CROP_SOURCE_WIDTH, math.ceil(SIZES[0] * margin / across))

    base, block = decode(content, header, widest)
    base = cut(base, edit)
    return tint(scale_to_width(base, fit_width(base.width)), edit), block


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
