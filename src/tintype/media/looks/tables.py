"""The tables of the looks as files: 33 slices of 33 by 33 side by side, one PNG per look.

A picture 1089 wide and 33 high: red runs along a slice, green down, and blue from slice to slice. Both sides read
the same bytes, so what the browser shows while choosing is what the server makes. `cook_strips` writes them anew
from the recipes (`python -m develop.looks`); a test holds that they are equal.
"""

from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from tintype.media.looks.cooking import cook
from tintype.media.looks.names import look_names, strip_path
from tintype.media.looks.recipe import SIZE, read_recipe

WIDTH = SIZE * SIZE
_EDGE = 1e-6
"""Values at exactly half a step round up, whatever the last bit of the arithmetic says."""


@cache
def read_table(look: str) -> NDArray[np.float32]:
    """The table of a look from 0 to 1, one row per colour, red running fastest."""
    with Image.open(strip_path(look), formats=["PNG"]) as image:
        pixels = np.asarray(image.convert("RGB"))
    slices = pixels.reshape(SIZE, SIZE, SIZE, 3).transpose(1, 0, 2, 3)
    return np.ascontiguousarray(slices, np.float32).reshape(-1, 3) / np.float32(255)


def cook_strip(look: str) -> NDArray[np.uint8]:
    """The pixels of a strip as the recipe has them."""
    steps = np.floor(cook(read_recipe(look)) * 255 + 0.5 + _EDGE).astype(np.uint8)
    return np.ascontiguousarray(steps.transpose(1, 0, 2, 3)).reshape(SIZE, WIDTH, 3)


def cook_strips() -> list[Path]:
    """Write all strips anew."""
    for look in sorted(look_names()):
        Image.fromarray(cook_strip(look)).save(strip_path(look), "PNG", optimize=True)
    return [strip_path(look) for look in sorted(look_names())]
