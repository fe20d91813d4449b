"""What routing costs: a point read, a scatter-gather of 20 ids and a small write over 2,000 schemas.

Ours against asyncpg and psycopg with the schema written into each statement, and against the limit: prepared
statements on one schema, where there is nothing to route. First one caller with one connection each, then 16
callers with 16 connections each, where ours deals the shards out to the connections. Every shard is touched
before anything is measured. A write is a like with its count and its event, see `bench.routing_writes`. Rates are per
second of processor time, client and server together: what a read or a write costs. Memory is what PostgreSQL says the
largest backend for single calls holds.
"""

import asyncio
import itertools
import random
import statistics
import time

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
from bench.routing_writes import (
    DispatchedTransaction,
    OneCall,
    OneDispatchedCall,
    OneSchema,
    PlainTransaction,
    ShardTransaction,
    like_everywhere,
    rate_of_likes,
)

NAME = "routing"
HOT, ORDINARY, PLAIN, PSYCOPG, LIMIT = "ours, hot", "ours", "asyncpg", "psycopg", "the limit"

NEW_ACCOUNTS = itertools.count(1, 1 << 20)
"""Where each measurement's accounts start: nobody likes a post twice."""
ONE_CALL = "one call"
WRITERS = {
    ONE_CALL: OneCall,
    "one call, not hot": OneDispatchedCall,
    "begin(), hot": ShardTransaction,
    "begin()": DispatchedTransaction,
    "asyncpg on one schema": OneSchema,
    "asyncpg": PlainTransaction,
}

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
                if size in sizes[:2]:
                    bench.measure_writes(rounds, points, detail)
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

    def measure_writes(self, rounds: int, likes: int, detail: Detail) -> None:
        """Add what a like costs in each way, and how the peers compare with one call."""
        opened = {
            name: self._runner.run(kind.open(self._cluster.dsn, shards=self._size, connections=self._callers))
            for name, kind in WRITERS.items()
        }
        try:
            for writer in opened.values():
                self._runner.run(like_everywhere(writer, self._size, self._callers, next(NEW_ACCOUNTS)))
            costs: dict[str, list[tuple[float, float]]] = {name: [] for name in opened}

            def measure(name: str) -> float:
                before = time.process_time(), self._cluster.server_clock()
                rate = self._runner.run(
                    rate_of_likes(
                        opened[name],
                        self._size,
                        likes,
                        callers=self._callers,
                        chance=self._chance,
                        first=next(NEW_ACCOUNTS),
                        clock=self._cluster.clock,
                    )
                )
                spent = time.process_time() - before[0], self._cluster.server_clock() - before[1]
                costs[name].append((spent[0] / likes, spent[1] / likes))
                return rate

            measured = run_interleaved({name: lambda n=name: measure(n) for name in opened}, rounds)
            title = f"{self._size} shards, {self._callers} at once"
            detail[f"{title}: like with count and event"] = {
                f"one call over {peer}": str(measured.ratio(ONE_CALL, peer))
                for peer in opened
                if peer != ONE_CALL
            }
            detail[f"{title}: CPU-ms of a like, PostgreSQL and client"] = {
                name: f"{_median_ms(each, 1):.3f} + {_median_ms(each, 0):.3f}" for name, each in costs.items()
            }
            detail[f"{title}: MB of the largest backend that writes"] = {
                name: round(self._runner.run(writer.memory()), 1) for name, writer in opened.items()
            }
        finally:
            for writer in opened.values():
                self._runner.run(writer.close())

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


def _median_ms(costs: list[tuple[float, float]], part: int) -> float:
    return statistics.median(cost[part] for cost in costs) * 1000


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
