"""Whether a read of the feed stays as cheap as it is when the site grows from 1,000 to 100,000 people.

Installations of each size run side by side on the same servers, each with its own databases and web process, and take
turns: the same number of feeds over HTTP, by people chosen at random, each of whom follows about twenty. Measured are
CPU time in the web process, in PostgreSQL and in Valkey, and pages that PostgreSQL read. The ratio is the cost of a
read in the smallest installation over that in the largest: 1 is flat.
"""

import asyncio
import random
import statistics
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

import psutil

from bench.harness import BenchResult, main
from bench.http_load import Call, send_all
from bench.populated_installation import PopulatedInstallation, populated_installation
from bench.site_processes import cpu_s, engines

NAME = "feed-growth"
CLIENTS = 8
FEED = "/api/v1/feed?limit=20"
STATISTICS_DELAY_S = 11.0
"""An idle PostgreSQL backend reports its statistics within ten seconds."""
ENGINES = ("postgres", "valkey")


@dataclass
class Costs:
    """CPU-ms per read of each process, round by round."""

    by_part: dict[str, list[float]] = field(default_factory=dict[str, list[float]])

    def add(self, spent: dict[str, float]) -> None:
        """Record one round."""
        for part, value in spent.items():
            self.by_part.setdefault(part, []).append(value)

    def totals(self) -> list[float]:
        """Sum over all processes, round by round."""
        return [sum(each) for each in zip(*self.by_part.values(), strict=True)]


def run(*, quick: bool = False) -> BenchResult:
    """Measure every size, interleaved."""
    sizes, viewers, reads, rounds = (
        ((200, 1_000, 5_000), 100, 200, 2) if quick else ((1_000, 10_000, 100_000), 500, 1_000, 5)
    )
    return asyncio.run(_measure(sizes, viewers, reads, rounds))


async def _measure(sizes: Sequence[int], viewers: int, reads: int, rounds: int) -> BenchResult:
    async with AsyncExitStack() as stack:
        found, processes = await stack.enter_async_context(engines(servers=2))
        installations: list[PopulatedInstallation] = []
        for size in sizes:
            installations.append(
                await stack.enter_async_context(populated_installation(found, size, viewers))
            )
            await _warm(installations[-1])
            print(f"{size:,} people created")
        await asyncio.sleep(STATISTICS_DELAY_S)
        before = [await each.buffers() for each in installations]
        costs = [Costs() for _ in installations]
        for number in range(rounds):
            for index in _rotated(len(installations), number):
                costs[index].add(await _spend(installations[index], processes, reads, number))
        await asyncio.sleep(STATISTICS_DELAY_S)
        after = [await each.buffers() for each in installations]
        pages = [(end - start) / (reads * rounds) for start, end in zip(before, after, strict=True)]
    return _result(sizes, costs, pages)


def _result(sizes: Sequence[int], costs: Sequence[Costs], pages: Sequence[float]) -> BenchResult:
    first, last = costs[0].totals(), costs[-1].totals()
    ratios = [small / large for small, large in zip(first, last, strict=True)]
    return BenchResult(
        name=NAME,
        ratio=statistics.median(ratios),
        against=f"the same reads among {sizes[0]:,} people, cost with {sizes[-1]:,}; 1 is flat",
        spread=(min(ratios), max(ratios)),
        detail={
            f"{size:,} people": {
                **{
                    f"CPU-ms {part}": round(statistics.median(each), 3) for part, each in cost.by_part.items()
                },
                "CPU-ms": round(statistics.median(cost.totals()), 3),
                "PostgreSQL pages": round(pages_read, 1),
            }
            for size, cost, pages_read in zip(sizes, costs, pages, strict=True)
        },
    )


async def _warm(one: PopulatedInstallation) -> None:
    """Read every feed twice, so that timelines and post caches exist."""
    for _ in range(2):
        await send_all(one.port, [Call("GET", FEED, token) for token in one.tokens], clients=CLIENTS)


async def _spend(
    one: PopulatedInstallation, processes: dict[str, list[psutil.Process]], reads: int, number: int
) -> dict[str, float]:
    """CPU-ms per read of each process."""
    parts = {"web": [one.web]} | {name: processes[name] for name in ENGINES}
    calls = [Call("GET", FEED, token) for token in random.Random(number).choices(one.tokens, k=reads)]
    before = {name: cpu_s(*each) for name, each in parts.items()}
    await send_all(one.port, calls, clients=CLIENTS)
    spent = {name: (cpu_s(*each) - before[name]) * 1000 / reads for name, each in parts.items()}
    summary = ", ".join(f"{name} {value:.2f}" for name, value in spent.items())
    print(f"{one.people:,} people: {summary} CPU-ms per read")
    return spent


def _rotated(count: int, number: int) -> list[int]:
    return [(number + each) % count for each in range(count)]


if __name__ == "__main__":
    main(run, __doc__)
