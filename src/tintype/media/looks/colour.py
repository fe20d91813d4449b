"""Colour spaces of the recipes: sRGB, linear light, and OKLab, where hue and chroma are separate.

Everything in float64: the strips are compared with their recipes to the last bit.
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Colours: TypeAlias = NDArray[np.floating[Any]]
"""Any number of colours; the last axis is red, green, blue, from 0 to 1."""

LUMA = np.array([0.2126, 0.7152, 0.0722])
_KNEE = 0.04045
_TO_LMS = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)
_FROM_LAB = np.linalg.inv(_TO_LAB)
_FROM_LMS = np.linalg.inv(_TO_LMS)


def to_light(colours: Colours) -> Colours:
    """From sRGB to linear light."""
    return np.where(colours <= _KNEE, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)


def from_light(light: Colours) -> Colours:
    """From linear light to sRGB; negative values become 0."""
    light = np.maximum(light, 0.0)
    return np.where(light <= _KNEE / 12.92, light * 12.92, 1.055 * light ** (1 / 2.4) - 0.055)


def to_oklab(colours: Colours) -> Colours:
    """From sRGB to lightness and two opponent axes."""
    return np.cbrt(to_light(colours) @ _TO_LMS.T) @ _TO_LAB.T


def from_oklab(lab: Colours) -> Colours:
    """From OKLab to sRGB; colours out of gamut come out below 0 or above 1."""
    light = (lab @ _FROM_LAB.T) ** 3 @ _FROM_LMS.T
    above = np.maximum(light, 0.0)
    return np.where(light < 0, light * 12.92, from_light(above))
