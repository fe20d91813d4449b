"""The tables of the looks as files: 33 slices of 33 by 33 side by side, one PNG per look.

A picture 1089 wide and 33 high: red runs along a slice, green down, and blue from slice to slice. Both sides read
the same bytes, so what the browser shows while choosing is what the server makes. `cook_strips` writes them anew
from the recipes (`python -m develop.looks`); a test holds that they are equal.
"""

import hashlib
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from tintype.media.looks.models import Look
from tintype.media.looks.names import STRIPS, look_names
from tintype.media.looks.recipe import SIZE, cook, read_recipe

WIDTH = SIZE * SIZE
ADDRESS = "/looks"
DIGEST_LENGTH = 12
_EDGE = 1e-6
"""Values at exactly half a step round up, whatever the last bit of the arithmetic says."""


@cache
def list_looks() -> tuple[Look, ...]:
    """All looks, in the order in which people see them."""
    recipes = sorted(((name, read_recipe(name)) for name in look_names()), key=lambda each: each[1].place)
    return tuple(
        Look(name, recipe.name, f"{ADDRESS}/{strip_file(name)}", recipe.vignette, recipe.grain)
        for name, recipe in recipes
    )


@cache
def strip_file(look: str) -> str:
    """The public name of a strip: the look and a digest of the content."""
    return f"{look}-{hashlib.sha256(_path(look).read_bytes()).hexdigest()[:DIGEST_LENGTH]}.png"


def find_strip(file_name: str) -> bytes | None:
    """The PNG that goes by this public name, if there is one; any string may be asked for."""
    look = file_name.rpartition("-")[0]
    if look not in look_names() or file_name != strip_file(look):
        return None
    return _path(look).read_bytes()


@cache
def read_table(look: str) -> NDArray[np.float32]:
    """The table of a look from 0 to 1, one row per colour, red running fastest."""
    with Image.open(_path(look), formats=["PNG"]) as image:
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
        Image.fromarray(cook_strip(look)).save(_path(look), "PNG", optimize=True)
    return [_path(look) for look in sorted(look_names())]


def _path(look: str) -> Path:
    return STRIPS / f"{look}.png"
