"""Whether a read of the feed stays as cheap as it is when the site grows from 1,000 to 100,000 people.

Towns of each size live side by side on the same engines, each in databases of its own and with a web process of its
own, and take turns: the same number of feeds over HTTP, by people chosen at random, each of whom follows about twenty.
Counted are processor time in the web process, in PostgreSQL and in Valkey, and pages that PostgreSQL touched. The ratio
is the cost of a read in the smallest town over that in the largest: 1 is flat.
"""

import asyncio
import random
import statistics
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

import psutil

from bench.http_load import Call, send_all
from bench.support import BenchResult, main
from bench.towns import Town, cpu_s, engines, town

NAME = "feed-growth"
CLIENTS = 8
FEED = "/api/v1/feed?limit=20"
SETTLED_S = 11.0
"""A backend that falls idle tells what it has counted ten seconds later at the latest."""
ENGINES = ("postgres", "valkey")


@dataclass
class Costs:
    """CPU-ms a read of each part, round by round."""

    by_part: dict[str, list[float]] = field(default_factory=dict[str, list[float]])

    def note(self, spent: dict[str, float]) -> None:
        """One round more."""
        for part, value in spent.items():
            self.by_part.setdefault(part, []).append(value)

    def totals(self) -> list[float]:
        """All parts together, round by round."""
        return [sum(each) for each in zip(*self.by_part.values(), strict=True)]


def run(*, quick: bool = False) -> BenchResult:
    """Measure every size, in turn."""
    sizes, viewers, reads, rounds = (
        ((200, 1_000, 5_000), 100, 200, 2) if quick else ((1_000, 10_000, 100_000), 500, 1_000, 5)
    )
    return asyncio.run(_measure(sizes, viewers, reads, rounds))


async def _measure(sizes: Sequence[int], viewers: int, reads: int, rounds: int) -> BenchResult:
    async with AsyncExitStack() as stack:
        found, processes = await stack.enter_async_context(engines())
        towns: list[Town] = []
        for size in sizes:
            towns.append(await stack.enter_async_context(town(found, size, viewers)))
            await _warm(towns[-1])
            print(f"{size:,} people are there")
        await asyncio.sleep(SETTLED_S)
        before = [await each.buffers() for each in towns]
        costs = [Costs() for _ in towns]
        for number in range(rounds):
            for place in _rotated(len(towns), number):
                costs[place].note(await _spend(towns[place], processes, reads, number))
        await asyncio.sleep(SETTLED_S)
        after = [await each.buffers() for each in towns]
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
                "PostgreSQL pages": round(touched, 1),
            }
            for size, cost, touched in zip(sizes, costs, pages, strict=True)
        },
    )


async def _warm(one: Town) -> None:
    """Every timeline exists, every post has been seen."""
    for _ in range(2):
        await send_all(one.port, [Call("GET", FEED, token) for token in one.tokens], clients=CLIENTS)


async def _spend(
    one: Town, processes: dict[str, list[psutil.Process]], reads: int, number: int
) -> dict[str, float]:
    """CPU-ms a read of each part."""
    parts = {"web": [one.web]} | {name: processes[name] for name in ENGINES}
    calls = [Call("GET", FEED, token) for token in random.Random(number).choices(one.tokens, k=reads)]
    before = {name: cpu_s(*each) for name, each in parts.items()}
    await send_all(one.port, calls, clients=CLIENTS)
    spent = {name: (cpu_s(*each) - before[name]) * 1000 / reads for name, each in parts.items()}
    told = ", ".join(f"{name} {value:.2f}" for name, value in spent.items())
    print(f"{one.people:,} people: {told} CPU-ms a read")
    return spent


def _rotated(count: int, number: int) -> list[int]:
    return [(number + each) % count for each in range(count)]


if __name__ == "__main__":
    main(run, __doc__)
