"""From the file a phone made to the files a browser gets.

One decode, one Lanczos pyramid: each size is made from the one above it, and each square is cut from the smallest of
them that holds it. Nothing of the original's metadata is written. Runs in the sandbox (`jobs`), touches no store and
no network.
"""

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np

from tintype.media.photos.decode import decode, fit_width, scale_to, scale_to_width
from tintype.media.photos.exif import read_exif
from tintype.media.photos.models import SIZES, MadePhoto, PhotoFile
from tintype.media.photos.placeholder import make_placeholder
from tintype.media.photos.sniff import read_header
from tintype.media.photos.vips import pyvips

QUALITY = 82


class Looks(Protocol):
    """What this room needs of `tintype.media.looks`, loaded only when a photo is edited."""

    Edit: type[Any]

    def apply(self, image: pyvips.Image, edit: Any) -> pyvips.Image:
        """Return the edited picture: sRGB, eight bits, three bands, in and out."""
        ...


def find_looks() -> Looks:
    """Load the looks."""
    return cast("Looks", importlib.import_module("tintype.media.looks"))


def make_photo(source: Path, out: Path, edit: Any = None) -> MadePhoto:  # any: `looks.Edit`, see `Looks`
    """Write every size of a photo into a folder, as `1080.jpg` … `150.jpg` and square as `1080s.jpg` … `150s.jpg`.

    A size larger than the picture is made at the picture's own width, so that every name exists.
    """
    content = source.read_bytes()
    header = read_header(content)
    base, block = decode(content, header)
    if edit is not None:
        base = find_looks().apply(base, edit)
        base = scale_to_width(base, fit_width(base.width))
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


def _pyramid(image: pyvips.Image) -> Iterator[pyvips.Image]:
    for size in SIZES:
        if image.width > size:
            image = scale_to_width(image, size)
        yield image


def _square(levels: list[pyvips.Image], size: int) -> pyvips.Image:
    """Cut the middle out of the smallest picture that holds it; of a tall photo, that is all there is to do."""
    size = min(size, levels[0].width, levels[0].height)
    image = next(level for level in reversed(levels) if min(level.width, level.height) >= size)
    side = min(image.width, image.height)
    return scale_to(image.crop((image.width - side) // 2, (image.height - side) // 2, side, side), size, size)


def _write(pictures: list[pyvips.Image], suffix: str, out: Path) -> Iterator[PhotoFile]:
    last, encoded = None, b""
    for size, image in zip(SIZES, pictures, strict=True):
        if image is not last:  # a small picture is the same in several sizes
            last, encoded = image, image.jpegsave_buffer(Q=QUALITY, keep=0)
        name = f"{size}{suffix}.jpg"
        (out / name).write_bytes(encoded)
        yield PhotoFile(name, image.width, image.height, len(encoded))


def _placeholder(image: pyvips.Image) -> str:
    pixels = np.frombuffer(image.write_to_memory(), np.uint8).reshape(image.height, image.width, 3)
    return make_placeholder(pixels)
