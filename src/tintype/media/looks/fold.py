"""Folds the look, its strength and the sliders into one lookup table (LUT), so that an image is processed once.

The sliders act after the look: that is the order in which people use them, and it needs no second lookup, so that
the fold is exact at every node of the LUT. Values may leave 0 to 1; they are clipped after interpolation.
`web/src/rooms/media/looks/fold.ts` holds the same arithmetic; change both, the browser test compares them.
"""

import numpy as np

from tintype.media.looks.colour import Colours
from tintype.media.looks.lut import grid
from tintype.media.looks.lut_strips import read_lut
from tintype.media.looks.models import Edit

IDENTITY: Colours = grid().reshape(-1, 3).astype(np.float32)
"""The LUT that changes nothing: one row per colour, red varying fastest."""
BRIGHTNESS_GAIN = 0.9
CONTRAST_GAIN = 0.85
CONTRAST_LOSS = 0.5
MAX_SATURATION_GAIN = 0.8
WARMTH_GAINS = (0.12, 0.01, -0.16)


def changes_colour(edit: Edit) -> bool:
    """Whether an edit needs a LUT at all."""
    has_look = edit.look is not None and edit.strength > 0
    return has_look or any((edit.brightness, edit.contrast, edit.saturation, edit.warmth))


def fold(edit: Edit) -> Colours:
    """The LUT of an edit."""
    table = _apply_look(edit)
    if edit.warmth:
        table = _warm(table, edit.warmth / 100)
    if edit.brightness:
        table = table + BRIGHTNESS_GAIN * edit.brightness / 100 * table * (1 - table)
    if edit.contrast:
        table = _contrast(table, edit.contrast / 100)
    if edit.saturation:
        table = _saturate(table, edit.saturation / 100)
    return table


def _apply_look(edit: Edit) -> Colours:
    if edit.look is None:
        return IDENTITY
    return IDENTITY + (read_lut(edit.look) - IDENTITY) * (edit.strength / 100)


def _luma(table: Colours) -> Colours:
    return (0.2126 * table[:, 0] + 0.7152 * table[:, 1] + 0.0722 * table[:, 2])[:, None]


def _warm(table: Colours, amount: float) -> Colours:
    """Shift the white balance to warmer or, below 0, cooler, at constant luma."""
    gains = 1 + np.float32(amount) * np.array(WARMTH_GAINS, np.float32)
    warmed = table * gains
    return warmed + (_luma(table) - _luma(warmed))


def _contrast(table: Colours, amount: float) -> Colours:
    if amount < 0:
        return table + CONTRAST_LOSS * amount * (table - 0.5)
    return table + CONTRAST_GAIN * amount * (table * table * (3 - 2 * table) - table)


def _saturate(table: Colours, amount: float) -> Colours:
    luma = _luma(table)
    return luma + (table - luma) * (1 + amount * (MAX_SATURATION_GAIN if amount > 0 else 1))
