"""At which read count a smaller format pays: CPU-ms of an AVIF and a WebP against the bytes they save, by size.

Three pictures: a 12-MP photograph like a phone's, with the noise of its sensor, and two drawn scenes, smooth and
detailed. A read saves bytes; a conversion costs processor time once, and its file a place in the store. Prices turn
them into one another: those of a cloud (a processor hour 0.04, a GB sent 0.05, a GB kept for a month 0.02 dollars).
The large sizes are measured too: what each costs when it is asked for, and what it would add to every upload.
"""

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.harness import BenchResult, main
from bench.media import make_source
from tintype.demo import draw_scene
from tintype.media.photos.convert import convert
from tintype.media.photos.models import VariantFormat
from tintype.media.photos.pipeline import make_large_photo, make_photo

NAME = "media_formats"
FORMATS: tuple[VariantFormat, ...] = ("avif", "webp")
WIDTHS = (640, 1080, 1440, 2048)
CPU_HOUR, GB_SENT, GB_MONTH, MONTHS = 0.04, 0.05, 0.02, 12
GB = 1_000_000_000


def run(*, quick: bool = False) -> BenchResult:
    """Convert every size of every picture; the headline is the bytes of a JPEG over those of its AVIF at 1080 px."""
    rounds = 1 if quick else 5
    table: dict[str, Any] = {}
    ratios: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, source in make_sources(Path(folder)).items():
            for width in WIDTHS:
                row = measure_width(source, width, Path(folder), rounds)
                table[f"{name}, {width} px"] = row
                print(f"{name}, {width} px:", ", ".join(f"{key} {value}" for key, value in row.items()))
                if width == 1080:
                    ratios.append(row["JPEG KB"] / row["AVIF KB"])
            table[f"{name}, uploaded"] = {"CPU-ms": measure_upload(source, Path(folder), rounds)}
            print(f"{name}, uploaded:", table[f"{name}, uploaded"])
    return BenchResult(
        name=NAME,
        ratio=statistics.median(ratios),
        against="the bytes of the JPEG, over those of its AVIF at 1080 px",
        spread=(min(ratios), max(ratios)),
        detail=table,
    )


def make_sources(folder: Path) -> dict[str, Path]:
    """Write three 12-MP JPEGs."""
    found = {name: folder / f"{name}.jpg" for name in ("phone", "bokeh", "meadow")}
    make_source(found["phone"])
    for name in ("bokeh", "meadow"):
        draw_scene(name, "warm", (4032, 3024), seed=NAME).convert("RGB").save(found[name], "JPEG", quality=92)
    return found


def measure_width(source: Path, width: int, folder: Path, rounds: int) -> dict[str, Any]:
    """The cost of one size, its formats, and after how many reads each of them has paid for itself."""
    jpeg = folder / "size.jpg"
    row: dict[str, Any] = {"CPU-ms": cpu_ms(lambda: make_large_photo(source, jpeg, width), rounds)}
    jpeg_bytes = jpeg.stat().st_size
    row["JPEG KB"] = round(jpeg_bytes / 1000, 1)
    for format_ in FORMATS:
        out = folder / f"size.{format_}"
        spent_ms = cpu_ms(lambda out=out, format_=format_: convert(jpeg, out, format_), rounds)
        size_bytes = out.stat().st_size
        label = format_.upper()
        row |= {f"{label} CPU-ms": spent_ms, f"{label} KB": round(size_bytes / 1000, 1)}
        row[f"{label} pays after"] = reads_to_pay(spent_ms, size_bytes, jpeg_bytes - size_bytes)
    return row


def measure_upload(source: Path, folder: Path, rounds: int) -> float:
    """The cost of all sizes that an upload makes."""
    return cpu_ms(lambda: make_photo(source, folder), rounds)


def reads_to_pay(spent_ms: float, size_bytes: int, saved_bytes: int) -> str:
    """Reads until the bytes saved are worth the processor time, and that and the place of the file for a year."""
    if saved_bytes <= 0:
        return "never"
    saved = saved_bytes / GB * GB_SENT
    work = spent_ms / 3_600_000 * CPU_HOUR
    place = size_bytes / GB * GB_MONTH * MONTHS
    return f"{work / saved:.1f} reads, {(work + place) / saved:.1f} if kept a year"


def cpu_ms(work: Callable[[], object], rounds: int) -> float:
    """The least processor time of some rounds: it swells with neighbours on the same core, and never shrinks."""

    def once() -> float:
        started = time.process_time()
        work()
        return 1000 * (time.process_time() - started)

    return round(min(once() for _ in range(rounds)), 1)


if __name__ == "__main__":
    main(run, __doc__)
