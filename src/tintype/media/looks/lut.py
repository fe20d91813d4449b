"""Builds the lookup table (LUT) of a look from its recipe: 33 by 33 by 33 colours."""

import numpy as np

from tintype.media.looks.colour import LUMA, Colours, from_light, from_oklab, to_light, to_oklab
from tintype.media.looks.curves import apply_curve
from tintype.media.looks.recipe import SIZE, Recipe


def grid() -> Colours:
    """The identity LUT: blue varies slowest, red fastest."""
    steps = np.arange(SIZE) / (SIZE - 1)
    blue, green, red = np.meshgrid(steps, steps, steps, indexing="ij")
    return np.stack([red, green, blue], axis=-1)


def build_lut(recipe: Recipe) -> Colours:
    """The LUT of a look, indexed by blue, green, red; values from 0 to 1."""
    colours = _mix(grid(), recipe)
    colours = _tune(colours, recipe)
    if recipe.mono is not None:
        colours = np.repeat((colours @ np.array(recipe.mono))[..., None], 3, axis=-1)
    colours = _expose(np.clip(colours, 0, 1), recipe)
    colours = _tone(colours, recipe)
    return np.clip(recipe.fade + colours * (1 - recipe.fade), 0, 1)


def _mix(colours: Colours, recipe: Recipe) -> Colours:
    if not recipe.matrix:
        return colours
    return np.clip(from_light(to_light(colours) @ np.array(recipe.matrix).T), 0, 1)


def _tune(colours: Colours, recipe: Recipe) -> Colours:
    """Adjust saturation and hue, globally and around single hues; lightness is unchanged."""
    if recipe.saturation == 1.0 and not recipe.hues:
        return colours
    lab = to_oklab(colours)
    hue = np.degrees(np.arctan2(lab[..., 2], lab[..., 1]))
    chroma = np.hypot(lab[..., 1], lab[..., 2]) * recipe.saturation
    turn = np.zeros_like(hue)
    for centre, factor, degrees in recipe.hues:
        near = _nearness(hue, centre)
        chroma = chroma * (1 + (factor - 1) * near)
        turn = turn + degrees * near
    angle = np.radians(hue + turn)
    return from_oklab(np.stack([lab[..., 0], chroma * np.cos(angle), chroma * np.sin(angle)], axis=-1))


def _nearness(hue: Colours, centre: float) -> Colours:
    """1 at the centre, falling smoothly to 0 at 60 degrees on either side."""
    away = np.abs((hue - centre + 180) % 360 - 180) / 60
    inside = np.clip(1 - away, 0, 1)
    return inside * inside * (3 - 2 * inside)


def _expose(colours: Colours, recipe: Recipe) -> Colours:
    colours = apply_curve(colours, recipe.curve)
    channels = [recipe.red, recipe.green, recipe.blue]
    return np.stack([apply_curve(colours[..., at], curve) for at, curve in enumerate(channels)], axis=-1)


def _tone(colours: Colours, recipe: Recipe) -> Colours:
    """Split toning: one tint for the shadows, one for the highlights; black and white change little."""
    luma = colours @ LUMA
    rising = np.clip((luma - recipe.balance + 0.5) / 1.0, 0, 1)
    rising = rising * rising * (3 - 2 * rising)
    headroom = 4 * luma * (1 - luma) * 0.7 + 0.3
    for (hue, amount), share in ((recipe.shadows, 1 - rising), (recipe.highlights, rising)):
        colours = colours + (share * headroom * amount)[..., None] * _direction(hue)
    return colours


def _direction(hue: float) -> Colours:
    """The direction from mid grey towards a hue, at constant lightness."""
    angle = np.radians(hue)
    tinted = from_oklab(np.array([0.6, 0.1 * np.cos(angle), 0.1 * np.sin(angle)]))
    towards = tinted - tinted @ LUMA
    return towards / np.abs(towards).max()
