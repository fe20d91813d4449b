"""A look as a recipe: the steps of a darkroom in numbers, read from `recipes/NAME.toml`.

`lut` builds from it the lookup table that the server and the browser both apply. No numpy here: a web process lists
the looks and never builds one.
"""

from functools import cache
from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta

from tintype.media.looks.look_files import RECIPES

SIZE = 33
Curve: TypeAlias = tuple[tuple[float, float], ...]
"""Points (in, out) from 0 to 1, by rising in; none at all leaves everything as it is."""
Hue: TypeAlias = tuple[float, float, float]
"""At this hue (degrees in OKLab: 30 red, 110 yellow, 145 green, 195 cyan, 265 blue, 330 magenta):
multiply the saturation by the second, rotate the hue by the third."""
Tint: TypeAlias = tuple[float, float]
"""A hue in degrees and how much of it."""


class Recipe(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The steps in the order in which they are applied; a step that is left out changes nothing."""

    name: str
    place: int
    """Its position in the list that people swipe through."""
    matrix: tuple[tuple[float, float, float], ...] = ()
    """Mixes the channels in linear light: each row gives the shares that make up red, green, blue."""
    saturation: float = 1.0
    hues: tuple[Hue, ...] = ()
    mono: tuple[float, float, float] | None = None
    """Greyscale, of these shares of red, green and blue."""
    curve: Curve = ()
    red: Curve = ()
    green: Curve = ()
    blue: Curve = ()
    shadows: Tint = (0.0, 0.0)
    highlights: Tint = (0.0, 0.0)
    balance: float = 0.5
    """The lightness at which shadows give way to highlights."""
    fade: float = 0.0
    """How far the blacks are lifted."""
    vignette: Annotated[int, Meta(ge=0, le=100)] = 0
    grain: Annotated[int, Meta(ge=0, le=100)] = 0


@cache
def read_recipe(look: str) -> Recipe:
    """The recipe of an existing look."""
    return msgspec.toml.decode((RECIPES / f"{look}.toml").read_bytes(), type=Recipe)
