"""Vignette and grain: what depends on a pixel's position, applied after the colour LUT.

Grain comes from a hash of the coordinates, in 32-bit integers, so that every machine and every browser draws the
same one; `web/src/rooms/media/looks/shaders.ts` holds the same arithmetic. The image is processed in
bands that fit into the processor's cache, one channel at a time: numpy is slow along an axis of three.
"""

import numpy as np
from numpy.typing import NDArray

from tintype.media.looks.colour import Colours
from tintype.media.looks.models import Edit
from tintype.media.looks.recipe import read_recipe

VIGNETTE_GAIN = 0.8
GRAIN_GAIN = 72.0
ROWS = 32
_MIDDLE = 510.0
"""The mean of a sum of four random bytes."""

Pixels = NDArray[np.uint8]


def amounts(edit: Edit) -> tuple[float, float]:
    """Vignette and grain from 0 to 1: the look's own, scaled by its strength, plus the edit's."""
    vignette, grain = float(edit.vignette), float(edit.grain)
    if edit.look is not None:
        recipe = read_recipe(edit.look)
        vignette += recipe.vignette * edit.strength / 100
        grain += recipe.grain * edit.strength / 100
    return min(vignette, 100.0) / 100, min(grain, 100.0) / 100


def finish(pixels: Pixels, vignette: float, grain: float) -> Pixels:
    """The pixels (rows, columns, three bytes) with vignette and grain."""
    height, width = pixels.shape[:2]
    across, down = _falloff(width), _falloff(height)
    weights = _grain_weights(grain)
    done = np.empty_like(pixels)
    for top in range(0, height, ROWS):
        band = pixels[top : top + ROWS]
        gain = _gain(across, down[top : top + ROWS], vignette)
        added: Colours | np.float32 = np.float32(0.5)  # rounds
        if grain:
            added = added + noise(top, band.shape[0], width) * weights.take(band[..., 1])
        for channel in range(3):
            work = band[..., channel] * gain
            work += added
            done[top : top + ROWS, :, channel] = np.clip(work, 0, 255, out=work)
    return done


def _falloff(length: int) -> Colours:
    """Squared distance from the centre: 0.5 at the edge, so that the corners are 1."""
    at = (np.arange(length, dtype=np.float32) + np.float32(0.5)) / np.float32(length) - np.float32(0.5)
    return 2 * at * at


def _gain(across: Colours, down: Colours, vignette: float) -> Colours:
    distance = across[None, :] + down[:, None]
    return 1 - np.float32(VIGNETTE_GAIN * vignette) * distance * distance


def _grain_weights(grain: float) -> Colours:
    """The strength of grain for each of 256 tones: most in midtones, little in black and white."""
    tone = np.arange(256, dtype=np.float32) / np.float32(255)
    return np.float32(GRAIN_GAIN * grain / _MIDDLE) * (np.float32(0.2) + np.float32(3.2) * tone * (1 - tone))


def noise(top: int, rows: int, width: int) -> Colours:
    """Noise as the sum of four neighbouring random bytes: soft grain about two pixels wide, from -510 to 510."""
    chance = _random_bytes(top, rows + 1, width + 1)
    pairs = chance[:, 1:] + chance[:, :-1]
    return (pairs[1:] + pairs[:-1]).astype(np.float32) - np.float32(_MIDDLE)


def _random_bytes(top: int, rows: int, width: int) -> NDArray[np.uint16]:
    x = np.arange(width, dtype=np.uint32) * np.uint32(0x9E3779B1)
    y = np.arange(top, top + rows, dtype=np.uint32) * np.uint32(0x85EBCA77)
    mixed = x[None, :] + y[:, None]
    mixed ^= mixed >> np.uint32(15)
    mixed *= np.uint32(0x2C1B3C6D)
    mixed ^= mixed >> np.uint32(12)
    mixed *= np.uint32(0x297A2D39)
    return (mixed >> np.uint32(24)).astype(np.uint16)
