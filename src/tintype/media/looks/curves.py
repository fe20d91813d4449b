"""Tone curves through a few points: monotone cubic interpolation, smooth and without overshoot."""

import numpy as np

from tintype.media.looks.colour import Colours
from tintype.media.looks.recipe import Curve


def apply_curve(values: Colours, curve: Curve) -> Colours:
    """Map values from 0 to 1 by the curve: cubic between points, with the slopes of Fritsch and Carlson."""
    if not curve:
        return values
    at = np.array([point[0] for point in curve])
    out = np.array([point[1] for point in curve])
    slopes = _slopes(at, out)
    left = np.clip(np.searchsorted(at, values, side="right") - 1, 0, len(at) - 2)
    width = at[left + 1] - at[left]
    t = np.clip((values - at[left]) / width, 0, 1)
    return (
        (1 + 2 * t) * (1 - t) ** 2 * out[left]
        + t * (1 - t) ** 2 * width * slopes[left]
        + t * t * (3 - 2 * t) * out[left + 1]
        + t * t * (t - 1) * width * slopes[left + 1]
    )


def _slopes(at: Colours, out: Colours) -> Colours:
    secants = np.diff(out) / np.diff(at)
    slopes = np.concatenate([secants[:1], (secants[:-1] + secants[1:]) / 2, secants[-1:]])
    for left, secant in enumerate(secants):
        if secant == 0:
            slopes[left] = slopes[left + 1] = 0
            continue
        steepness = np.hypot(slopes[left] / secant, slopes[left + 1] / secant)
        if steepness > 3:  # noqa: PLR2004 - beyond a circle of radius 3 the cubic overshoots
            slopes[left : left + 2] *= 3 / steepness
    return slopes
