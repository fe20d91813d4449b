"""CPU cost of a look (photo filter): a 33-step lookup table on 1080 by 1350 pixels, compared with vips and numpy.

Rates are photos per CPU second, on one core. All three interpolate between the same eight corners of the same folded
table; their results are compared first. The goal is 40 CPU-ms per look.
"""

import os

os.environ.setdefault("VIPS_CONCURRENCY", "1")

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pyvips
from numpy.typing import NDArray

from bench.harness import BenchResult, Measure, main, run_interleaved
from tintype.demo import draw_scene
from tintype.media.looks import Edit, cut, tint
from tintype.media.looks.fold import fold
from tintype.media.looks.recipe import SIZE

NAME = "looks"
WIDTH, HEIGHT = 1080, 1350
LOOK = "north-window"
FULL = Edit(look="night-tram", strength=80, brightness=10, contrast=10, saturation=10, warmth=10)
OURS, NUMPY, VIPS = "ours (Pillow)", "numpy", "vips mapim"
Pixels = NDArray[Any]


def run(*, quick: bool = False) -> BenchResult:
    """Apply the look repeatedly, contenders interleaved; the headline is ours over vips."""
    image = source()
    ways: dict[str, Callable[[], Pixels]] = {
        OURS: lambda: tint(image, Edit(look=LOOK)).numpy(),
        NUMPY: lambda: with_numpy(image),
        VIPS: lambda: with_vips(image),
    }
    check_alike(ways)
    measured = run_interleaved({name: measure(way) for name, way in ways.items()}, 3 if quick else 15)
    table: dict[str, Any] = {name: f"{1000 / measured.median(name):.1f} CPU-ms" for name in ways}
    table |= {name: f"{cost(way):.1f} CPU-ms" for name, way in more(image).items()}
    for name, value in table.items():
        print(f"{name}: {value}")
    ratio = measured.ratio(OURS, VIPS)
    return BenchResult(
        name=NAME,
        ratio=ratio.median,
        against="vips mapim on the strip, one look at 1080 by 1350",
        spread=(ratio.low, ratio.high),
        detail=table,
    )


def source() -> pyvips.Image:
    """An image with the smooth tones and the details of a photograph."""
    picture = draw_scene("bokeh", "warm", (WIDTH, HEIGHT), seed="looks").convert("RGB")
    return pyvips.Image.new_from_memory(picture.tobytes(), WIDTH, HEIGHT, 3, "uchar").copy(
        interpretation="srgb"
    )


def more(image: pyvips.Image) -> dict[str, Callable[[], object]]:
    """Other parts of an edit."""
    return {
        "folding the table": lambda: fold(FULL),
        "look, sliders, vignette and grain": lambda: tint(image, FULL).numpy(),
        "straightening": lambda: cut(image, Edit(straighten=5)).numpy(),
    }


def with_numpy(image: pyvips.Image) -> Pixels:
    """Trilinear interpolation in numpy: eight corners, weighted."""
    table = fold(Edit(look=LOOK))
    at = image.numpy().reshape(-1, 3).astype(np.float32) * np.float32((SIZE - 1) / 255)
    base = np.minimum(at.astype(np.int32), SIZE - 2)
    part = at - base
    index = base[:, 0] + SIZE * base[:, 1] + SIZE**2 * base[:, 2]
    total = np.zeros_like(at)
    for corner in range(8):
        steps = [corner & 1, corner >> 1 & 1, corner >> 2]
        shares = [part[:, axis] if step else 1 - part[:, axis] for axis, step in enumerate(steps)]
        offset = steps[0] + SIZE * steps[1] + SIZE**2 * steps[2]
        total += (shares[0] * shares[1] * shares[2])[:, None] * table[index + offset]
    return np.clip(total * 255 + 0.5, 0, 255).astype(np.uint8).reshape(HEIGHT, WIDTH, 3)


def with_vips(image: pyvips.Image) -> Pixels:
    """Trilinear interpolation in vips: two lookups in the strip, one slice apart, blended."""
    rows = fold(Edit(look=LOOK)).reshape(SIZE, SIZE, SIZE, 3).transpose(1, 0, 2, 3)
    strip = pyvips.Image.new_from_array(np.ascontiguousarray(rows).reshape(SIZE, SIZE**2, 3) * 255)
    at = image.cast("float") * ((SIZE - 1) / 255)
    slice_below = (at[2].floor() < SIZE - 2).ifthenelse(at[2].floor(), SIZE - 2)
    across = slice_below * SIZE + at[0]
    bilinear = pyvips.Interpolate.new("bilinear")
    below, above = (
        strip.mapim(where.bandjoin(at[1]), interpolate=bilinear, extend="copy")
        for where in (across, across + SIZE)
    )
    return (below + (above - below) * (at[2] - slice_below)).rint().cast("uchar").numpy()


def check_alike(ways: dict[str, Callable[[], Pixels]]) -> None:
    """Raise unless all contenders produce the same pixels, within one level."""
    first, *others = (way().astype(int) for way in ways.values())
    worst = max(int(np.abs(first - other).max()) for other in others)
    if worst > 1:
        raise AssertionError(f"the ways differ by {worst} of 255")


def measure(way: Callable[[], object]) -> Measure:
    """Photos per CPU second."""
    return lambda: 1000 / cost(way, rounds=2)


def cost(way: Callable[[], object], rounds: int = 7) -> float:
    """CPU time of the fastest of a few runs, in milliseconds."""
    tries: list[float] = []
    for _ in range(rounds):
        started = time.process_time()
        way()
        tries.append(time.process_time() - started)
    return 1000 * min(tries)


if __name__ == "__main__":
    main(run, __doc__)
