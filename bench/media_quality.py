"""Quality of scaled photos: similarity (SSIM) and sharpness, against a full decode scaled in one Lanczos step."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Floats = NDArray[np.float64]
WINDOW = 8
STEADY, CONTRAST = (0.01 * 255) ** 2, (0.03 * 255) ** 2


def measure_quality(source: Path, made: Path, name: str) -> tuple[float, float]:
    """Return the similarity of one file to the reference, and its sharpness relative to it."""
    with Image.open(made / name) as image:
        found = image.convert("L")
    with Image.open(source) as image:
        whole = image.convert("L")
    if found.width == found.height:
        side = min(whole.size)
        left, top = (whole.width - side) // 2, (whole.height - side) // 2
        whole = whole.crop((left, top, left + side, top + side))
    ideal = np.asarray(whole.resize(found.size, Image.Resampling.LANCZOS), np.float64)
    ours = np.asarray(found, np.float64)
    return ssim(ours, ideal), sharpness(ours) / sharpness(ideal)


def ssim(one: Floats, other: Floats) -> float:
    """Structural similarity, over every window of 8 by 8 pixels."""
    mean_one, mean_other = _windows(one), _windows(other)
    spread_one = _windows(one * one) - mean_one**2
    spread_other = _windows(other * other) - mean_other**2
    together = _windows(one * other) - mean_one * mean_other
    likeness = (2 * mean_one * mean_other + STEADY) * (2 * together + CONTRAST)
    likeness /= (mean_one**2 + mean_other**2 + STEADY) * (spread_one + spread_other + CONTRAST)
    return float(likeness.mean())


def sharpness(picture: Floats) -> float:
    """How strong the finest detail is: the spread of the Laplacian."""
    middle = picture[1:-1, 1:-1]
    around = picture[:-2, 1:-1] + picture[2:, 1:-1] + picture[1:-1, :-2] + picture[1:-1, 2:]
    return float((4 * middle - around).std())


def _windows(values: Floats) -> Floats:
    """Return the mean of every window, by sums of sums."""
    sums = np.pad(values.cumsum(0).cumsum(1), ((1, 0), (1, 0)))
    total = (
        sums[WINDOW:, WINDOW:] - sums[:-WINDOW, WINDOW:] - sums[WINDOW:, :-WINDOW] + sums[:-WINDOW, :-WINDOW]
    )
    return total / WINDOW**2
