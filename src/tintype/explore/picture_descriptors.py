"""Picture descriptors of our own: colour, composition and texture of a photo as 80 numbers, without a model.

Colour is a histogram of hues weighted by saturation, beside brightness and colourfulness; composition is the mean
colour of each cell of a grid; texture is how strong edges are in each direction, coarse and fine.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
_HUES, _GRID, _DIRECTIONS = 12, 4, 8
LENGTH = _HUES + 4 + 3 * _GRID**2 + 2 * _DIRECTIONS


def describe_picture(pixels: NDArray[np.uint8]) -> Floats:
    """The descriptor of an RGB picture (rows, columns, 3) of at least 8 by 8 pixels; a thumbnail is enough."""
    colours = (pixels[:, :, :3] / 255).astype(np.float32)
    grey = colours.mean(axis=2)
    parts = [_hues(colours), _spread(colours, grey), _cells(colours), _edges(grey), _edges(grey[::4, ::4])]
    return np.concatenate(parts).astype(np.float32)


def _hues(colours: Floats) -> NDArray[Any]:
    """How much of each hue there is; pale pixels count little."""
    red, green, blue = (colours[:, :, each] for each in range(3))
    angle = np.arctan2(np.sqrt(3) * (green - blue), 2 * red - green - blue)
    saturation = colours.max(axis=2) - colours.min(axis=2)
    place = ((angle + np.pi) / (2 * np.pi) * _HUES).astype(int) % _HUES
    return np.bincount(place.ravel(), saturation.ravel(), minlength=_HUES) / saturation.size


def _spread(colours: Floats, grey: Floats) -> NDArray[Any]:
    """Brightness, contrast, and mean and deviation of the saturation."""
    saturation = colours.max(axis=2) - colours.min(axis=2)
    return np.array([grey.mean(), grey.std(), saturation.mean(), saturation.std()])


def _cells(colours: Floats) -> NDArray[Any]:
    """The mean colour of each cell of a grid, row by row."""
    rows = np.array_split(colours, _GRID, axis=0)
    return np.concatenate(
        [cell.mean(axis=(0, 1)) for row in rows for cell in np.array_split(row, _GRID, axis=1)]
    )


def _edges(grey: Floats) -> NDArray[Any]:
    """How strong edges are in each direction, on average over all pixels."""
    down, across = np.gradient(grey)
    strength = np.hypot(down, across)
    place = (np.arctan2(down, across) / np.pi * _DIRECTIONS).astype(int) % _DIRECTIONS
    return np.bincount(place.ravel(), strength.ravel(), minlength=_DIRECTIONS) / strength.size
