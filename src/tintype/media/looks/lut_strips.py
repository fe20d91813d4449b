"""The lookup tables (LUTs) of the looks as files: 33 slices of 33 by 33 side by side, one PNG per look.

An image 1089 wide and 33 high: red runs along a slice, green down, and blue from slice to slice. Browser and server
read the same bytes, so that the preview equals the result. `write_strips` writes them from the recipes
(`python -m develop.render_look_strips`); a test checks that they are equal.
"""

import io
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from tintype.media.looks.look_files import look_names, strip_path
from tintype.media.looks.lut import build_lut
from tintype.media.looks.recipe import SIZE, read_recipe

WIDTH = SIZE * SIZE
_EDGE = 1e-6
"""Values at exactly half a step round up, whatever the last bit of the arithmetic says."""


def load_strips() -> None:
    """Read the files of all looks, so that `read_lut` works where no file can be opened any more."""
    for look in look_names():
        _read_strip(look)
        read_recipe(look)


@cache
def _read_strip(look: str) -> bytes:
    return strip_path(look).read_bytes()


@cache
def read_lut(look: str) -> NDArray[np.float32]:
    """The LUT of a look, values from 0 to 1, one row per colour, red varying fastest."""
    with Image.open(io.BytesIO(_read_strip(look)), formats=["PNG"]) as image:
        pixels = np.asarray(image.convert("RGB"))
    slices = pixels.reshape(SIZE, SIZE, SIZE, 3).transpose(1, 0, 2, 3)
    return np.ascontiguousarray(slices, np.float32).reshape(-1, 3) / np.float32(255)


def render_strip(look: str) -> NDArray[np.uint8]:
    """The pixels of a strip, rendered from the recipe."""
    steps = np.floor(build_lut(read_recipe(look)) * 255 + 0.5 + _EDGE).astype(np.uint8)
    return np.ascontiguousarray(steps.transpose(1, 0, 2, 3)).reshape(SIZE, WIDTH, 3)


def write_strips() -> list[Path]:
    """Write the strips of all looks; returns their paths."""
    for look in sorted(look_names()):
        Image.fromarray(render_strip(look)).save(strip_path(look), "PNG", optimize=True)
    return [strip_path(look) for look in sorted(look_names())]
