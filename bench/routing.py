"""What routing costs: a point read and a scatter-gather of 20 ids over 2,000 schemas.

Ours against asyncpg and psycopg with the schema written into each statement, and against the limit: prepared
statements on one schema, where there is nothing to route. First one caller with one connection each, then 16
callers with 16 connections each, where ours deals the shards out to the connections. Every shard is touched
before anything is measured. Rates are per second of processor time, client and server together: what a read
costs. Memory is what PostgreSQL says the largest backend for single reads holds.
"""

import asyncio
import random

from bench.harness import BenchResult, Ratio, Rounds, main, run_interleaved
from bench.routing_cluster import (
    Cluster,
    Limit,
    Ours,
    PlainAsyncpg,
    Psycopg,
    Reader,
    rate_of_gathers,
    rate_of_points,
    touch_all,
)

NAME = "routing"
HOT, ORDINARY, PLAIN, PSYCOPG, LIMIT = "ours, hot", "ours", "asyncpg", "psycopg", "the limit"

Detail = dict[str, dict[str, str | float]]


def run(*, quick: bool = False) -> BenchResult:
    """Measure at each size; the headline is the hot point read over plain asyncpg, at 2,000 shards."""
    sizes, rounds, points = ((32, 256), 6, 200) if quick else ((32, 2000, 8192), 15, 600)
    detail: Detail = {}
    headlines: dict[int, Ratio] = {}
    with Cluster() as cluster, asyncio.Runner() as runner:
        for size in sizes:
            made = runner.run(cluster.grow(size))
            detail[f"{size} shards: creation"] = {"shards a second": round(made)}
            for callers in (1, 16):
                bench = SizeBench(cluster, runner, size, callers)
                headlines.setdefault(size, bench.measure(rounds, points, detail))
    for name, row in detail.items():
        print(f"{name}:", ", ".join(f"{key} {value}" for key, value in row.items()))
    headline = headlines[sizes[1]]
    return BenchResult(
        name=NAME,
        ratio=headline.median,
        against=f"plain asyncpg, point reads over {sizes[1]} shards",
        spread=(headline.low, headline.high),
        detail=detail,
    )


class SizeBench:
    """All readers at one number of shards and callers."""

    def __init__(self, cluster: Cluster, runner: asyncio.Runner, size: int, callers: int) -> None:
        self._cluster, self._runner, self._size, self._callers = cluster, runner, size, callers
        self._chance = random.Random(size)  # the same load every time

    def measure(self, rounds: int, points: int, detail: Detail) -> Ratio:
        """Add the numbers to the detail, and return the hot point read over plain asyncpg."""
        readers = self._runner.run(self._open())
        try:
            for reader in readers.values():
                self._runner.run(touch_all(reader, self._size, self._callers))
            reads = self._points(readers, rounds, points)
            name = f"{self._size} shards, {self._callers} at once"
            detail[f"{name}: point read"] = describe(reads)
            if self._callers == 1:
                detail[f"{name}: gather of 20"] = describe(self._gathers(readers, rounds, points // 20))
            detail[f"{name}: MB of the largest backend"] = {
                name: round(self._runner.run(reader.memory()), 1) for name, reader in readers.items()
            }
        finally:
            for reader in readers.values():
                self._runner.run(reader.close())
        return reads.ratio(HOT, PLAIN)

    def _points(self, readers: dict[str, Reader], rounds: int, points: int) -> Rounds:
        def measure(reader: Reader) -> float:
            return self._runner.run(
                rate_of_points(
                    reader,
                    self._size,
                    points,
                    callers=self._callers,
                    chance=self._chance,
                    clock=self._cluster.clock,
                )
            )

        return run_interleaved(
            {name: lambda r=reader: measure(r) for name, reader in readers.items()}, rounds
        )

    def _gathers(self, readers: dict[str, Reader], rounds: int, gathers: int) -> Rounds:
        def measure(reader: Reader) -> float:
            return self._runner.run(
                rate_of_gathers(reader, self._size, gathers, chance=self._chance, clock=self._cluster.clock)
            )

        return run_interleaved(
            {name: lambda r=reader: measure(r) for name, reader in readers.items()}, rounds
        )

    async def _open(self) -> dict[str, Reader]:
        dsn, size, callers = self._cluster.dsn, self._size, self._callers
        readers: dict[str, Reader] = {
            HOT: await Ours.open(dsn, hot=True, shards=size, connections=callers),
            ORDINARY: await Ours.open(dsn, hot=False, shards=size, connections=callers),
            PLAIN: await PlainAsyncpg.open(dsn, connections=callers),
            LIMIT: await Limit.open(dsn, connections=callers),
        }
        return readers | {PSYCOPG: Psycopg(dsn)} if callers == 1 else readers


def describe(measured: Rounds) -> dict[str, str | float]:
    """Our rate, our ratio to each peer, and the limit's ratio to us, with their spread."""
    row: dict[str, str | float] = {"hot, a second": round(measured.median(HOT))}
    for ours in (HOT, ORDINARY):
        for peer in measured.rates:
            if peer == LIMIT:
                row[f"{LIMIT} over {ours}"] = str(measured.ratio(LIMIT, ours))
            elif peer not in (HOT, ORDINARY):
                row[f"{ours} over {peer}"] = str(measured.ratio(ours, peer))
    return row


if __name__ == "__main__":
    main(run, __doc__)
