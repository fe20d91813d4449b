"""What ranking a page costs: scoring 150 candidates compared with reading as many small values from Redis.

Ours: `Ranking.rank` of 150 posts this process knows, for a viewer of whom 200 authors, 128 hashtags and some 1,200 seen
posts are known. Reference: one LRANGE of 150 ids and one MGET of 150 values of 64 bytes, sent together over redis-py,
which a feed reads anyway. Both in CPU time of this process, interleaved.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import numpy as np

from bench.bench_rooms import open_bench_rooms
from bench.harness import BenchResult, Ratio, Rounds, main
from tintype.base.ids import AccountId, PostId
from tintype.ranking import ViewerFeatures
from tintype.ranking.row_layouts import AFFINITY, INTEREST, POST, short_hash
from tintype.redis.client import PipelinedRedisClient
from tintype.wiring import Rooms

NAME = "ranking"
POSTS, AUTHORS, TAGS, SEEN = 150, 200, 128, 1_200
CALLS = 50
VIEWER = AccountId(77)
Call = Callable[[], Awaitable[Any]]


def run(*, quick: bool = False) -> BenchResult:
    """Measure both, interleaved, and report how many rankings are made in the CPU time of one read."""
    rounds = asyncio.run(_measure(5 if quick else 40))
    ratio: Ratio = rounds.ratio("rank", "read")
    detail = {f"{name}, CPU-µs": round(1e6 / rounds.median(name)) for name in rounds.rates}
    print(detail)
    return BenchResult(
        name=NAME,
        ratio=ratio.median,
        against="one LRANGE and MGET of as many values",
        spread=(ratio.low, ratio.high),
        detail=detail,
    )


async def _measure(rounds: int) -> Rounds:
    rates: dict[str, list[float]] = {"rank": [], "read": []}
    async with open_bench_rooms(servers=1, shard_count=1, training_share=0) as rooms:
        calls = {"rank": await _ranking(rooms), "read": await _reading(rooms)}
        for number in range(rounds):
            for name in ("rank", "read") if number % 2 else ("read", "rank"):
                rates[name].append(await _rate(calls[name]))
    return Rounds(rates)


async def _rate(call: Call) -> float:
    started = time.process_time()
    for _ in range(CALLS):
        await call()
    return CALLS / (time.process_time() - started)


async def _ranking(rooms: Rooms) -> Call:
    """A viewer and posts with plenty of data; the posts' features are in Redis, as the worker writes them."""
    chance, now = np.random.default_rng(1), time.time()
    ms = int(now * 1000) - rooms.shards.map.layout.epoch_ms
    ids = sorted(
        (PostId(ms - int(age) << 23 | 1) for age in chance.integers(0, 3 * 86_400_000, POSTS)), reverse=True
    )
    posts = np.zeros(POSTS, POST)
    posts["author"], posts["tags"] = chance.integers(1, 101, POSTS), chance.integers(0, 500, (POSTS, 4))
    posts["value"], posts["at"] = chance.exponential(20, POSTS), int(now)
    prefix = f"{rooms.settings.namespace}:ranking:post:"
    await rooms.redis.mset({f"{prefix}{each}": row.tobytes() for each, row in zip(ids, posts, strict=True)})
    affinity, interest = np.zeros(AUTHORS, AFFINITY), np.zeros(TAGS, INTEREST)
    affinity["key"], interest["key"] = chance.permutation(300)[:AUTHORS], chance.permutation(500)[:TAGS]
    affinity["value"], interest["value"] = 5, 3
    affinity["at"] = interest["at"] = int(now) - 5_000
    seen = [short_hash(np.array(ids[::4], np.uint64)), chance.integers(0, 2**32, SEEN).astype(np.uint32)]
    blobs = [affinity.tobytes(), interest.tobytes(), np.concatenate(seen).tobytes()]

    async def rank() -> None:
        await rooms.ranking.rank(VIEWER, ids, ViewerFeatures.parse(blobs))

    return rank


async def _reading(rooms: Rooms) -> Call:
    ids, redis_client = [str(1 << 60 | each) for each in range(POSTS)], PipelinedRedisClient(rooms.redis)
    await redis_client.execute(
        ("RPUSH", "bench:ids", *ids), ("MSET", *(part for each in ids for part in (each, "x" * 64)))
    )

    async def read() -> None:
        await redis_client.execute(("LRANGE", "bench:ids", 0, -1), ("MGET", *ids))

    return read


if __name__ == "__main__":
    main(run, __doc__)
