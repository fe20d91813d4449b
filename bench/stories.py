"""How long the stories tray takes, and what caching each author's active stories saves.

Ours: the tray of somebody who follows 100, 1,000 and 5,000 people, every fifth of whom shows three stories. Reference:
the same tray with an empty cache, when the shards are queried about everybody followed, as after a loss of Redis.
The target is a 99th percentile below 200 ms; the ratio is taken at 1,000. "cpu" is what this process spends on one: it
says more than times do where other programs use the same processors.
"""

import asyncio
import time
from collections.abc import Sequence
from typing import cast

import asyncpg

from bench.bench_rooms import open_bench_rooms
from bench.harness import BenchResult, main, percentile
from tintype.base.ids import AccountId
from tintype.wiring import Rooms

NAME = "stories"
SIZES = (100, 1_000, 5_000)
SHOWN_AT = 1_000
SHARDS = 64

PEOPLE = """
WITH person AS (
    INSERT INTO accounts (username, password_hash) SELECT 'p' || n, '' FROM generate_series(1, $1::int) AS n
    RETURNING id
)
SELECT array_agg(id ORDER BY id) FROM person
"""
SHOWING = """
WITH author AS (
    SELECT id, next_id() AS media_id FROM unnest($1::bigint[]) AS author (id)
), picture AS (
    INSERT INTO media (id, account_id, folder, width, height, kind)
    SELECT media_id, id, id || '/' || media_id || '-0123456789abcdef', 1080, 1920, 'story' FROM author
)
INSERT INTO stories (author_id, media_id, audience)
SELECT id, media_id, 'everyone' FROM author, generate_series(1, 3)
"""
FOLLOWING = """
INSERT INTO following (account_id, followee_id, change_id)
SELECT $1::bigint, followee.id, next_id() FROM unnest($2::bigint[]) AS followee (id)
"""


def run(*, quick: bool = False) -> BenchResult:
    """Measure both, interleaved, at every size."""
    times, cpu_ms = asyncio.run(_measure(20 if quick else 200))
    ratios = [cold / warm for warm, cold in zip(*times[SHOWN_AT], strict=True)]
    return BenchResult(
        name=NAME,
        ratio=percentile(ratios, 0.5),
        against=f"querying the shards about all {SHOWN_AT:,} followed",
        spread=(percentile(ratios, 0.05), percentile(ratios, 0.95)),
        detail={
            f"ms at {size}": {
                name: {"p50": round(percentile(found, 0.5), 1), "p99": round(percentile(found, 0.99), 1)}
                for name, found in zip(("cached", "uncached"), both, strict=True)
            }
            for size, both in times.items()
        }
        | {"cpu ms": cpu_ms},
    )


async def _measure(
    rounds: int,
) -> tuple[dict[int, tuple[list[float], list[float]]], dict[int, dict[str, float]]]:
    times: dict[int, tuple[list[float], list[float]]] = {}
    cpu_ms: dict[int, dict[str, float]] = {}
    async with open_bench_rooms(shard_count=SHARDS) as rooms:
        people = await _add_people(rooms, max(SIZES))
        for size in SIZES:
            viewer = await _viewer(rooms, people[:size])
            cpu_ms[size] = await _cpu(rooms, viewer, people[:size], rounds)
            warm: list[float] = []
            cold: list[float] = []
            for _ in range(rounds):
                warm.append(await _timed(rooms, viewer))
                await rooms.stories.author_stories.invalidate(*people[:size])
                cold.append(await _timed(rooms, viewer))
                await rooms.stories.author_stories.flush()
            times[size] = warm, cold
            print(f"{size}: {percentile(warm, 0.5):.1f} ms cached, {percentile(cold, 0.5):.1f} ms uncached")
    return times, cpu_ms


async def _cpu(
    rooms: Rooms, viewer: AccountId, followed: Sequence[AccountId], rounds: int
) -> dict[str, float]:
    """CPU time of this process per tray, in milliseconds: independent of other programs on the machine."""
    await rooms.stories.get_tray(viewer)
    started = time.process_time()
    for _ in range(rounds):
        await rooms.stories.get_tray(viewer)
    warm = time.process_time() - started
    cold = 0.0
    for _ in range(rounds):
        await rooms.stories.author_stories.invalidate(*followed)
        started = time.process_time()
        await rooms.stories.get_tray(viewer)
        await rooms.stories.author_stories.flush()
        cold += time.process_time() - started
    return {"cached": round(warm * 1_000 / rounds, 1), "uncached": round(cold * 1_000 / rounds, 1)}


async def _timed(rooms: Rooms, viewer: AccountId) -> float:
    started = time.perf_counter()
    await rooms.stories.get_tray(viewer)
    return (time.perf_counter() - started) * 1_000


async def _add_people(rooms: Rooms, count: int) -> list[AccountId]:
    """Create this many people, spread over the shards; every fifth has three stories."""
    by_shard: list[list[AccountId]] = []
    for number in sorted(rooms.shards.map.owners):
        async with rooms.shards.shard(number).begin() as tx:
            ids = cast("list[AccountId]", await tx.connection.fetchval(PEOPLE, count // SHARDS + 1))
            await tx.connection.execute(SHOWING, ids[number % 5 :: 5])
            by_shard.append(ids)
    return [each for turn in zip(*by_shard, strict=True) for each in turn][:count]


async def _viewer(rooms: Rooms, followed: Sequence[AccountId]) -> AccountId:
    async with rooms.shards.place().begin() as tx:
        connection: asyncpg.Connection = tx.connection
        ids = cast("list[AccountId]", await connection.fetchval(PEOPLE, 1))
        await connection.execute(FOLLOWING, ids[0], followed)
    return ids[0]


if __name__ == "__main__":
    main(run, __doc__)
