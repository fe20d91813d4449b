"""Rotation, straightening and crop as one transform: where each pixel of the result comes from.

`web/src/rooms/media/looks/geometry.ts` holds the same arithmetic; change both, the browser test compares them.
"""

import math

import msgspec
import pyvips

from tintype.media.looks.errors import CropRefused
from tintype.media.looks.models import Edit

WIDEST_RATIO = 10
"""As for uploads: a crop may not have an aspect ratio that an upload could not have."""


class Frame(msgspec.Struct, frozen=True):
    """The result's size, and its pixels in the (rotated) photo: x' = a·x + b·y + left, y' = -b·x + a·y + top."""

    width: int
    height: int
    a: float
    b: float
    left: float
    top: float


def frame(width: int, height: int, edit: Edit) -> Frame:
    """Where the result lies in a photo of this size, after quarter turns."""
    angle = math.radians(edit.straighten)
    a, b = math.cos(angle), math.sin(angle)
    scale = 1 / (a + abs(b) * max(width / height, height / width))
    whole_width, whole_height = _whole(width * scale), _whole(height * scale)
    left, kept_width = _part(edit.crop.x, edit.crop.width, whole_width)
    top, kept_height = _part(edit.crop.y, edit.crop.height, whole_height)
    across, down = left - whole_width / 2, top - whole_height / 2
    return Frame(
        kept_width, kept_height, a, b, width / 2 + a * across + b * down, height / 2 - b * across + a * down
    )


def cut(image: pyvips.Image, edit: Edit) -> pyvips.Image:
    """The part of the photo that the edit keeps, upright; the same image where nothing changes."""
    if edit.turns:
        image = image.rot(f"d{edit.turns * 90}")
    if edit.mirrored:
        image = image.fliphor()
    width, height = int(image.width), int(image.height)
    kept = frame(width, height, edit)
    if max(kept.width, kept.height) > WIDEST_RATIO * min(kept.width, kept.height):
        raise CropRefused(width=kept.width, height=kept.height)
    if edit.straighten:
        return _straightened(image, kept)
    if (kept.width, kept.height) == (width, height):
        return image
    return image.crop(int(kept.left), int(kept.top), kept.width, kept.height)


def _straightened(image: pyvips.Image, kept: Frame) -> pyvips.Image:
    """Bilinear: the browser's preview samples the same four pixels with the same weights."""
    # Forward, as vips needs it: the inverse of the frame's rotation. Pixel centres are at a half on both sides.
    shift_x = kept.left + 0.5 * kept.a + 0.5 * kept.b - 0.5
    shift_y = kept.top - 0.5 * kept.b + 0.5 * kept.a - 0.5
    forward = [kept.a, -kept.b, kept.b, kept.a]
    return image.affine(
        forward,
        idx=-shift_x,
        idy=-shift_y,
        oarea=[0, 0, kept.width, kept.height],
        interpolate=pyvips.Interpolate.new("bilinear"),
        extend="copy",
    )


def _part(start: float, length: float, whole: int) -> tuple[int, int]:
    """Fractions as whole pixels: at least one, and none beyond the end."""
    first = min(_near(start * whole), whole - 1)
    return first, min(max(1, _near(length * whole)), whole - first)


def _near(value: float) -> int:
    return math.floor(value + 0.5)


def _whole(value: float) -> int:
    """Rounded down, with a tolerance for floating-point error."""
    return max(1, math.floor(value + 1e-6))
