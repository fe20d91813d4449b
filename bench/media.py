"""CPU cost of a photo: all eight sizes of a 12-MP JPEG, compared with the floor, Pillow and one thumbnail per size.

Rates are photos per CPU second, on one core. The floor is the least possible work: one shrunk
decode and eight encodes by libjpeg-turbo, no scaling at all. Likeness (SSIM) and sharpness are measured against a
full decode scaled in one step, so that a blurry result does not win.
"""

import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from PIL import Image

from bench.harness import BenchResult, Measure, main, run_interleaved
from bench.media_contenders import Contender, contenders
from bench.media_quality import measure_quality
from tintype.media.photos import make_photo_in_sandbox
from tintype.media.sandbox.connection import close_fork_server

NAME = "media"
OURS, FLOOR, PEER = "ours", "floor", "Pillow draft and pyramid"
WIDTH, HEIGHT = 4032, 3024
Row = dict[str, str | float]


def run(*, quick: bool = False) -> BenchResult:
    """Make the sizes repeatedly, contenders interleaved; the headline is ours over Pillow."""
    with tempfile.TemporaryDirectory() as folder:
        source, out = Path(folder, "source.jpg"), Path(folder, "out")
        out.mkdir()
        make_source(source)
        ways = contenders(source)
        measured = run_interleaved(
            {name: measure(way, source, out) for name, way in ways.items()}, rounds=3 if quick else 11
        )
        table: dict[str, Row] = {}
        for name, way in ways.items():
            way(source, out)
            table[name] = {
                "CPU-ms": round(1000 / measured.median(name), 1),
                "photos a second and core": round(measured.median(name), 1),
                "of the floor": str(measured.ratio(FLOOR, name)),
                "peak MB": measure_memory(name, source, out),
                **describe_quality(source, out),
            }
            print(f"{name}:", ", ".join(f"{key} {value}" for key, value in table[name].items()))
        table["the sandbox adds"] = measure_sandbox(ways[OURS], source, out, rounds=5 if quick else 20)
        print("the sandbox adds:", table["the sandbox adds"])
        over_peer = measured.ratio(OURS, PEER)
    return BenchResult(
        name=NAME,
        ratio=over_peer.median,
        against="Pillow draft and pyramid, eight sizes of a 12-MP JPEG",
        spread=(over_peer.low, over_peer.high),
        detail=table,
    )


def measure(way: Contender, source: Path, out: Path) -> Measure:
    """Return a measure of photos for each second of processor time.

    The best of three: that time swells with neighbours on the same core, and never shrinks.
    """

    def once() -> float:
        started = time.process_time()
        way(source, out)
        return 1 / (time.process_time() - started)

    return lambda: max(once() for _ in range(3))


def measure_memory(name: str, source: Path, out: Path) -> float:
    """Return the most memory a fresh process had while it made one photo, in MB, libraries included."""
    code = (
        "import sys; from pathlib import Path; from bench.media_contenders import contenders;"
        "source, out = map(Path, sys.argv[2:]); contenders(source, [sys.argv[1]])[sys.argv[1]](source, out);"
        "print(Path('/proc/self/status').read_text().partition('VmHWM:')[2].split()[0])"
    )
    command = [sys.executable, "-c", code, name, str(source), str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return round(int(done.stdout) / 1000, 1)


def describe_quality(source: Path, out: Path) -> Row:
    """Return likeness and sharpness of the largest, a middle and a square size."""
    names = ("1080.jpg", "320.jpg", "640s.jpg")
    pairs = {name: measure_quality(source, out, name) for name in names}
    return {
        f"{name} SSIM, sharpness": f"{likeness:.3f}, {sharp:.2f}" for name, (likeness, sharp) in pairs.items()
    }


def measure_sandbox(ours: Contender, source: Path, out: Path, rounds: int) -> Row:
    """Return the wall time that a separate process adds per photo."""

    async def apart() -> float:
        started = time.perf_counter()
        await make_photo_in_sandbox(source, out)
        return time.perf_counter() - started

    def here() -> float:
        started = time.perf_counter()
        ours(source, out)
        return time.perf_counter() - started

    async def both() -> list[tuple[float, float]]:
        await apart()  # starts the helper
        return [(await apart(), here()) for _ in range(rounds)]

    pairs = asyncio.run(both())
    close_fork_server()
    extra = [1000 * (apart - here) for apart, here in pairs]
    return {
        "ms": round(statistics.median(extra), 1),
        "of": f"{1000 * statistics.median(h for _, h in pairs):.1f}",
    }


def make_source(path: Path) -> None:
    """Write a 12-MP JPEG like a phone's: soft shapes, finer and finer, edges, and the noise of a sensor."""
    chance = np.random.default_rng(12)
    layers = np.zeros((HEIGHT, WIDTH, 3), np.float32)
    for octave in range(2, 12):
        grid = chance.normal(size=(3 * 2**octave // 4, 2**octave, 3)).astype(np.float32)
        for band in range(3):
            shape = Image.fromarray(grid[..., band]).resize((WIDTH, HEIGHT), Image.Resampling.BICUBIC)
            layers[..., band] += np.asarray(shape) * 0.62**octave
    grey = layers.mean(-1, keepdims=True)
    layers = grey + 0.35 * (layers - grey)
    layers = (layers - layers.min()) / (layers.max() - layers.min()) * 255
    layers += np.where(np.sin(np.arange(WIDTH) / 37.0) > 0.9, 25.0, 0.0)[None, :, None]
    layers += np.asarray(chance.normal(scale=2.0, size=(HEIGHT, WIDTH, 3)), np.float32)
    Image.fromarray(np.clip(layers, 0, 255).astype(np.uint8)).save(path, "JPEG", quality=92)


if __name__ == "__main__":
    main(run, __doc__)
