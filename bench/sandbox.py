"""What the sandbox adds to a photo by the clock: a helper that waits, one that is started for the job, and no sandbox.

Each way runs in a process of its own, in rounds; between two photos there is time for the next helper to get ready, as
there is between uploads of people. The headline is how much less a waiting helper adds than one started for the job.
"""

import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from bench.harness import BenchResult, Measure, main, run_interleaved
from bench.media import make_source
from tintype.media.photos import make_photo_in_sandbox
from tintype.media.sandbox import SandboxOptions, configure_sandbox
from tintype.media.sandbox.connection import close_fork_server

NAME = "sandbox"
WAYS = ("no sandbox", "a new helper", "a waiting helper")
PAUSE_S = 0.15


def run(*, quick: bool = False) -> BenchResult:
    """Make a 12-MP photo in every way, interleaved."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as opened:
        source = Path(folder, "source.jpg")
        make_source(source)
        measures = {way: opened.enter_context(photos_made(way, source, Path(folder, way))) for way in WAYS}
        measured = run_interleaved(measures, rounds=8 if quick else 40)
    times = {way: [1000 / rate for rate in measured.rates[way]] for way in WAYS}
    added = {
        way: [mine - plain for mine, plain in zip(times[way], times[WAYS[0]], strict=True)]
        for way in WAYS[1:]
    }
    for way in WAYS:
        print(f"{way}: {statistics.median(times[way]):.1f} ms a photo, at best {min(times[way]):.1f}")
    new, waiting = (statistics.median(added[way]) for way in WAYS[1:])
    shares = measured.ratio(WAYS[2], WAYS[1])
    return BenchResult(
        name=NAME,
        ratio=shares.median,
        against="as many photos by waiting helpers as by new ones, one at a time",
        spread=(shares.low, shares.high),
        detail={"a new helper adds ms": round(new, 1), "a waiting helper adds ms": round(waiting, 1)},
    )


@contextmanager
def photos_made(way: str, source: Path, out: Path) -> Generator[Measure]:
    """A process that makes a photo for each line it reads, and answers with the seconds that took."""
    out.mkdir()
    command = [sys.executable, "-m", "bench.sandbox", way, str(source), str(out)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None  # noqa: S101 - they are pipes
        assert process.stdout is not None  # noqa: S101 - they are pipes
        asks, answers = process.stdin, process.stdout

        def measure() -> float:
            time.sleep(PAUSE_S)
            asks.write("\n")
            asks.flush()
            return 1 / float(answers.readline())

        for _ in range(3):  # loads the libraries, starts the fork server
            measure()
        yield measure
        asks.close()


def make_photos(way: str, source: Path, out: Path) -> None:
    """Make one photo per line of the standard input."""
    configure_sandbox(SandboxOptions(folder=out.parent / f"{out.name} jobs", helpers=int(way == WAYS[2])))
    with asyncio.Runner() as runner:
        for _ in sys.stdin:
            started = time.perf_counter()
            if way == WAYS[0]:
                _make_here(source, out)
            else:
                runner.run(make_photo_in_sandbox(source, out))
            print(time.perf_counter() - started, flush=True)
    close_fork_server()


def _make_here(source: Path, out: Path) -> None:
    from tintype.media.photos.pipeline import make_photo  # noqa: PLC0415 - only this way decodes in the process

    make_photo(source, out)


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in WAYS:
        make_photos(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
    else:
        main(run, __doc__)
