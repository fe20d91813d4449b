"""Edits of a photo, as one small value that the browser and the server read alike."""

import math
from typing import Annotated

import msgspec
from msgspec import Meta

from tintype.media.looks.look_files import is_look

Fraction = Annotated[float, Meta(ge=0, le=1)]
Span = Annotated[float, Meta(ge=0.05, le=1)]
Percent = Annotated[int, Meta(ge=0, le=100)]
Signed = Annotated[int, Meta(ge=-100, le=100)]
SLACK = 1e-6
"""A browser adds fractions that JSON has rounded: a crop may exceed the photo by this much, and is clamped."""


class Crop(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The part to keep, as fractions of the photo after rotation and straightening."""

    x: Fraction = 0.0
    y: Fraction = 0.0
    width: Span = 1.0
    height: Span = 1.0

    def __post_init__(self) -> None:
        """Refuse a crop that reaches beyond the photo."""
        sides = (self.x, self.y, self.width, self.height)
        if not all(math.isfinite(side) for side in sides):
            raise ValueError("a crop is made of numbers")
        if self.x + self.width > 1 + SLACK or self.y + self.height > 1 + SLACK:
            raise ValueError("a crop ends where the photo ends")


class Edit(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Everything done to a photo, in the order of the fields; the plain `Edit()` changes nothing."""

    turns: Annotated[int, Meta(ge=0, le=3)] = 0
    """Quarter turns, clockwise."""
    mirrored: bool = False
    """Flipped horizontally, after the rotation."""
    straighten: Annotated[float, Meta(ge=-25, le=25)] = 0.0
    """Degrees, clockwise; the photo is cropped to the largest upright part of the same aspect ratio."""
    crop: Crop = Crop()
    look: Annotated[str, Meta(max_length=40)] | None = None
    strength: Percent = 100
    """How much of the look."""
    brightness: Signed = 0
    contrast: Signed = 0
    saturation: Signed = 0
    warmth: Signed = 0
    vignette: Percent = 0
    """Added to the look's own, as is the grain."""
    grain: Percent = 0

    def __post_init__(self) -> None:
        """Refuse a look that does not exist."""
        if not math.isfinite(self.straighten):
            raise ValueError("an angle is a number")
        if self.look is not None and not is_look(self.look):
            raise ValueError("there is no such look")


class Look(msgspec.Struct, frozen=True):
    """A look as the API lists it."""

    id: str
    name: str
    strip: str
    """The URL of its lookup table, which changes with the content, so it may be cached forever."""
    vignette: int
    grain: int
