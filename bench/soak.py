"""Whether memory and response times stay flat under a mixed load: 120 people for some minutes.

One `tintype up` with its defaults on an empty data directory: the servers, the web process and the worker that an
operator gets. People sign up, upload and publish photos; then each of them reads feeds, profiles, notifications and
comments, likes, comments, follows, searches and posts, over a connection of their own, with pauses of a second on
average. Sampled are requests, errors, p50 and p99, and memory of every process as PSS, so that shared pages count once.
Beside them, somebody comments every other second, and it is measured when the author of the post is notified. It prints
a table and writes a picture (`--picture FILE.svg`). The ratio is memory after a third of the time over memory
at the end: 1 is flat, below 1 it grows. `--minutes`, `--people` and `--pause` change the load.
"""

import argparse
import asyncio
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from bench.harness import BenchResult, main, percentile
from bench.soak_load import Counted, join, use_site
from bench.soak_notifications import watch_notifications
from bench.soak_report import Sample, render_svg, render_table, render_text
from bench.soak_stack import RunningStack, running_stack

NAME = "soak"
PEOPLE = 120
MINUTES = 7.0
PAUSE_S = 1.0
SAMPLES, FEW_SAMPLES = 28, 6
ERRORS_SHOWN = 5
PICTURE = Path(tempfile.gettempdir()) / "tintype-soak.svg"


@dataclass(frozen=True)
class SoakOptions:
    """How many people use the site, for how long, and at what pace."""

    people: int = PEOPLE
    minutes: float = MINUTES
    pause_s: float = PAUSE_S
    samples: int = SAMPLES


def add_options(parser: argparse.ArgumentParser) -> None:
    """Options of this bench."""
    parser.add_argument("--minutes", type=float, help=f"how long (default: {MINUTES:g})")
    parser.add_argument("--people", type=int, help=f"how many people (default: {PEOPLE})")
    parser.add_argument(
        "--pause", type=float, default=PAUSE_S, help="seconds between two requests of a person"
    )
    parser.add_argument("--picture", type=Path, default=PICTURE, help="where to write the picture (SVG)")


def run(
    *,
    quick: bool = False,
    minutes: float | None = None,
    people: int | None = None,
    pause: float = PAUSE_S,
    picture: Path = PICTURE,
) -> BenchResult:
    """Use the site, and report how memory and response times went."""
    fewer = (12, 0.2, FEW_SAMPLES) if quick else (PEOPLE, MINUTES, SAMPLES)
    options = SoakOptions(people or fewer[0], minutes or fewer[1], pause, fewer[2])
    samples, errors, restarts, notified_s = asyncio.run(_soak(options))
    print(render_table(samples), render_text(samples), sep="\n\n")
    title = f"{options.people} people for {options.minutes:g} minutes"
    picture.write_text(render_svg(samples, title))
    print(f"\nThe picture is in {picture}")
    for error, count in errors.most_common(ERRORS_SHOWN):
        print(f"{count} times: {error}")
    return _result(samples, errors, restarts, notified_s, title)


async def _soak(options: SoakOptions) -> tuple[list[Sample], Counter[str], int, list[float]]:
    async with running_stack() as stack:
        site = await join(stack.port, options.people)
        print(f"{options.people} people have joined")
        counted, errors, samples, notified_s = Counted(), Counter[str](), list[Sample](), list[float]()
        using = asyncio.gather(
            use_site(site, counted, pause_s=options.pause_s), watch_notifications(stack.port, notified_s)
        )
        started = time.monotonic()
        for number in range(1, options.samples + 1):
            due = started + number * options.minutes * 60 / options.samples
            await asyncio.wait([using], timeout=due - time.monotonic())
            if using.done():
                using.result()
            taken = counted.take()
            errors.update(taken.errors)
            samples.append(await asyncio.to_thread(_sample, stack, taken, time.monotonic() - started))
        using.cancel()
        await asyncio.wait([using])
        return samples, errors, stack.count_restarts(), notified_s


def _sample(stack: RunningStack, taken: Counted, at_s: float) -> Sample:
    return Sample(
        at_s,
        len(taken.took_s) + len(taken.errors),
        len(taken.errors),
        percentile(taken.took_s, 0.50) * 1000 if taken.took_s else 0.0,
        percentile(taken.took_s, 0.99) * 1000 if taken.took_s else 0.0,
        stack.memory_mb(),
    )


def _result(
    samples: list[Sample], errors: Counter[str], restarts: int, notified_s: list[float], title: str
) -> BenchResult:
    warm = samples[len(samples) // 3 :]
    ratios = [warm[0].total_mb / each.total_mb for each in warm]
    last = samples[-1]
    return BenchResult(
        name=NAME,
        ratio=ratios[-1],
        against=f"memory after a third of the time over that at the end, {title}; 1 is flat",
        spread=(min(ratios), max(ratios)),
        detail={
            "requests": sum(each.requests for each in samples),
            "errors": sum(errors.values()),
            "restarts": restarts,
            "p50 ms": round(percentile([each.p50_ms for each in samples], 0.5), 1),
            "p99 ms, worst sample": round(max(each.p99_ms for each in samples), 1),
            "notifications": len(notified_s),
            "notified after ms, p50": round(percentile(notified_s, 0.50) * 1000) if notified_s else None,
            "notified after ms, p99": round(percentile(notified_s, 0.99) * 1000) if notified_s else None,
            "MB at the end": round(last.total_mb),
            "MB at most": round(max(each.total_mb for each in samples)),
            "MB at the end by process": {name: round(value) for name, value in last.memory_mb.items()},
        },
    )


if __name__ == "__main__":
    main(run, __doc__, add_options)
