"""The look, its strength and the sliders folded into one table, so that a picture is walked through once.

The sliders act after the look: that is the order in which people use them, and it needs no second look-up, so that
the fold is exact at every corner of the table. Values may leave 0 to 1; they are cut off after interpolating.
`web/src/rooms/media/looks/fold.ts` holds the same arithmetic; change both, the browser test compares them.
"""

import numpy as np

from tintype.media.looks.colour import Colours
from tintype.media.looks.cooking import grid
from tintype.media.looks.models import Edit
from tintype.media.looks.tables import read_table

PLAIN: Colours = grid().reshape(-1, 3).astype(np.float32)
"""A table that changes nothing: one row per colour, red running fastest."""
BRIGHTEST = 0.9
HARDEST = 0.85
SOFTEST = 0.5
MOST_COLOUR = 0.8
WARMEST = (0.12, 0.01, -0.16)


def changes_colour(edit: Edit) -> bool:
    """Whether a table is needed at all."""
    has_look = edit.look is not None and edit.strength > 0
    return has_look or any((edit.brightness, edit.contrast, edit.saturation, edit.warmth))


def fold(edit: Edit) -> Colours:
    """The one table of an edit."""
    table = _looked(edit)
    if edit.warmth:
        table = _warm(table, edit.warmth / 100)
    if edit.brightness:
        table = table + BRIGHTEST * edit.brightness / 100 * table * (1 - table)
    if edit.contrast:
        table = _contrast(table, edit.contrast / 100)
    if edit.saturation:
        table = _saturate(table, edit.saturation / 100)
    return table


def _looked(edit: Edit) -> Colours:
    if edit.look is None:
        return PLAIN
    return PLAIN + (read_table(edit.look) - PLAIN) * (edit.strength / 100)


def _luma(table: Colours) -> Colours:
    return (0.2126 * table[:, 0] + 0.7152 * table[:, 1] + 0.0722 * table[:, 2])[:, None]


def _warm(table: Colours, amount: float) -> Colours:
    """Towards a lower sun or, below 0, a higher one; as light as before."""
    gains = 1 + np.float32(amount) * np.array(WARMEST, np.float32)
    warmed = table * gains
    return warmed + (_luma(table) - _luma(warmed))


def _contrast(table: Colours, amount: float) -> Colours:
    if amount < 0:
        return table + SOFTEST * amount * (table - 0.5)
    return table + HARDEST * amount * (table * table * (3 - 2 * table) - table)


def _saturate(table: Colours, amount: float) -> Colours:
    luma = _luma(table)
    return luma + (table - luma) * (1 + amount * (MOST_COLOUR if amount > 0 else 1))
