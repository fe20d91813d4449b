"""Fractal noise: clouds, ridge lines and ripples are the same noise with different spectra.

Generated in frequency space, so that a texture tiles without seams and can be projected in perspective.
"""

from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Plane: TypeAlias = NDArray[np.floating[Any]]
"""One value per pixel: float32 at run time; numpy's types lose that as soon as a Python float is involved."""


def fractal(
    rng: np.random.Generator,
    shape: tuple[int, int],
    slope: float,
    *,
    stretch: float = 1.0,
    lowest: float = 1.0,
) -> Plane:
    """Noise whose strength falls with frequency to this power; `stretch` draws it out sideways.

    `lowest` is how many lumps the largest structure has across; mean 0, deviation 1.
    """
    white = np.fft.rfft2(rng.standard_normal(shape, np.float32))
    made = np.fft.irfft2(white * _spectrum(shape, slope, stretch, lowest), s=shape).astype(np.float32)
    return (made - made.mean()) / (made.std() + np.float32(1e-9))


@lru_cache(maxsize=64)
def _spectrum(shape: tuple[int, int], slope: float, stretch: float, lowest: float) -> Plane:
    down = np.fft.fftfreq(shape[0])[:, None] * shape[0]
    across = np.fft.rfftfreq(shape[1])[None, :] * shape[1] * stretch
    frequency = np.maximum(np.hypot(down, across), 1e-6)
    return np.where(frequency >= lowest, frequency**-slope, 0).astype(np.float32)


def resize_texture(texture: Plane, width: int, height: int) -> Plane:
    """The texture resized smoothly."""
    return np.asarray(Image.fromarray(texture).resize((width, height), Image.Resampling.BILINEAR))


def rough_line(rng: np.random.Generator, width: int, slope: float, *, lowest: float = 1.0) -> Plane:
    """A rough line, such as a ridge against the sky: one row, mean 0, deviation 1."""
    return fractal(rng, (1, width), slope, lowest=lowest)


def project_texture(texture: Plane, across: Plane, away: Plane) -> Plane:
    """The texture tiled over an infinite plane, sampled at these plane coordinates (1 is one tile)."""
    height, width = texture.shape
    columns = (across * width).astype(np.int32) % width
    rows = (away * height).astype(np.int32) % height
    return texture[rows, columns]
