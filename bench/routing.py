"""What it costs to find the right shard: a point read and a gather of 20 ids over 2,000 schemas.

Ours against asyncpg and psycopg with the schema written into each statement, one caller each, and against the
limit: one prepared statement on one schema, over one connection, where there is nothing to route. Every shard
is touched before anything is measured. Memory is what PostgreSQL says the largest backend of each holds.
"""

import asyncio
import random

from bench.routing_cluster import (
    Cluster,
    Limit,
    Ours,
    PlainAsyncpg,
    Psycopg,
    Reader,
    rate_of_gathers,
    rate_of_points,
)
from bench.support import BenchResult, Measure, Rounds, main, run_interleaved

NAME = "routing"
HOT, ORDINARY, PLAIN, PSYCOPG, LIMIT = "ours, hot", "ours", "asyncpg", "psycopg", "limit"

Detail = dict[str, dict[str, str | float]]


def run(*, quick: bool = False) -> BenchResult:
    """Measure at each size; the headline is the hot point read over plain asyncpg, at 2,000 shards."""
    sizes, rounds, points = ((32, 256), 8, 200) if quick else ((16, 2000, 8192), 15, 600)
    headline_size = sizes[1]
    detail: Detail = {}
    headline = None
    with Cluster() as cluster, asyncio.Runner() as runner:
        for size in sizes:
            made = runner.run(cluster.grow(size))
            measured = _measure(cluster, runner, size, rounds, points)
            detail |= measured.detail
            detail[f"{size} shards: creation"] = {"shards a second": round(made)}
            for name, row in measured.detail.items():
                print(f"{name}:", ", ".join(f"{key} {value}" for key, value in row.items()))
            if size == headline_size:
                headline = measured.points.ratio(HOT, PLAIN)
    if headline is None:
        raise AssertionError(sizes)
    return BenchResult(
        name=NAME,
        ratio=headline.median,
        against=f"plain asyncpg, point reads over {headline_size} shards",
        spread=(headline.low, headline.high),
        detail=detail,
    )


class _Measured:
    """The numbers at one size."""

    def __init__(
        self, size: int, points: Rounds, gathers: Rounds, memory: dict[str, float], crowd: Rounds
    ) -> None:
        self.points = points
        self.detail: Detail = {
            f"{size} shards: point read": describe(points),
            f"{size} shards: point read, 16 callers": describe(crowd),
            f"{size} shards: gather of 20": describe(gathers),
            f"{size} shards: MB of the largest backend": {name: round(mb, 1) for name, mb in memory.items()},
        }


def _measure(cluster: Cluster, runner: asyncio.Runner, size: int, rounds: int, points: int) -> _Measured:
    chance = random.Random(size)  # noqa: S311  # the same load every time
    readers = runner.run(_open(cluster, size))
    for reader in readers.values():
        runner.run(_touch(reader, size))

    def rates(clients: int, names: list[str]) -> dict[str, Measure]:
        return {
            name: lambda reader=readers[name]: runner.run(
                rate_of_points(reader, size, points, clients, chance)
            )
            for name in names
        }

    def gathers() -> dict[str, Measure]:
        return {
            name: lambda reader=reader: runner.run(rate_of_gathers(reader, size, points // 20, chance))
            for name, reader in readers.items()
        }

    one = run_interleaved(rates(1, list(readers)), rounds)
    crowd = run_interleaved(rates(16, [HOT, ORDINARY]), rounds)
    many = run_interleaved(gathers(), rounds) if size >= 20 else one
    memory = {name: runner.run(reader.memory()) for name, reader in readers.items()}
    for reader in readers.values():
        runner.run(reader.close())
    return _Measured(size, one, many, memory, crowd)


async def _open(cluster: Cluster, size: int) -> dict[str, Reader]:
    return {
        HOT: await Ours.open(cluster.dsn, hot=True, shards=size),
        ORDINARY: await Ours.open(cluster.dsn, hot=False, shards=size),
        PLAIN: await PlainAsyncpg.open(cluster.dsn),
        PSYCOPG: Psycopg(cluster.dsn),
        LIMIT: await Limit.open(cluster.dsn),
    }


async def _touch(reader: Reader, size: int) -> None:
    """Read every shard, so that no catalog is read for the first time while the clock runs."""
    for shard in range(size):
        await reader.point(shard, 0)
    for start in range(0, size - 19, 20):
        await reader.gather(list(range(start, start + 20)), 0)


def describe(measured: Rounds) -> dict[str, str | float]:
    """Our rate, our ratio to each peer with its spread, and the limit's ratio to us."""
    names = list(measured.rates)
    row: dict[str, str | float] = {"a second": round(measured.median(HOT))}
    row |= {
        f"over {peer}": str(measured.ratio(HOT, peer)) for peer in names if peer in {PLAIN, PSYCOPG, ORDINARY}
    }
    if LIMIT in names:
        row["the limit over hot"] = str(measured.ratio(LIMIT, HOT))
        row["the limit over ours"] = str(measured.ratio(LIMIT, ORDINARY))
        row["ours over asyncpg"] = str(measured.ratio(ORDINARY, PLAIN))
    return row


if __name__ == "__main__":
    main(run, __doc__)
