"""Budgets of requests, counted in this process and shared with the others through Redis once a second.

A feed read costs 0.2 ms of CPU; a round trip to Redis for each would cost half as much again. So a request only takes
from a number in memory (GCRA: the time at which the key has its full burst again). Once a second this process adds what
it has counted to the number in Redis and takes over the sum of all processes. Keys that used less than a sixteenth of
their burst are not reported: ordinary people never cost Redis anything. A limit can therefore be exceeded by a
sixteenth per process, and by what arrives within a second.

While Redis is away every process counts for itself: nothing is refused for that, and nobody is let loose.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from typing import NamedTuple, cast

from redis.asyncio import Redis
from redis.exceptions import RedisError

from tintype.base.log import get_log
from tintype.base.rate_limits import RateLimit

SHARE_EVERY_S = 1.0
REPORTED_SHARE = 16
MAX_KEYS = 200_000
MAX_REPORTED = 5_000
"""In one round trip; the rest waits for the next."""
log = get_log("limits")

_ADD = """
local now = redis.call('TIME')
now = now[1] * 1000 + math.floor(now[2] / 1000)
local every, window, count = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local full_at = math.max(tonumber(redis.call('GET', KEYS[1]) or 0), now)
local next = math.min(full_at + every * count, now + window)
redis.call('SET', KEYS[1], next, 'PX', math.max(1, math.ceil(next - now)))
return math.ceil(next - now)
"""


class Taken(NamedTuple):
    """What is left of a budget after a request, or how long to wait for one that was refused."""

    limit: RateLimit
    remaining: int
    full_in_s: float
    wait_s: float
    """Zero: the request may go on."""


@dataclass(slots=True)
class _Bucket:
    full_at: float = 0.0
    unreported: int = 0


class RequestBudgets:
    """Counts requests per key; `take` never waits."""

    def __init__(self, redis: Redis, namespace: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._redis, self._prefix, self._clock = redis, f"{namespace}:budget:", clock
        self._script = redis.register_script(_ADD)
        self._buckets: dict[tuple[str, str | int], _Bucket] = {}
        self._due: dict[tuple[str, str | int], RateLimit] = {}

    def take(self, limit: RateLimit, key: str | int) -> Taken:
        """Count one request, unless the budget is used up."""
        now, name = self._clock(), (limit.name, key)
        bucket = self._buckets.get(name)
        if bucket is None:
            bucket = self._add_bucket(name, now)
        if bucket.full_at <= now:
            bucket.full_at, bucket.unreported = now, 0
        every_s = limit.per_s / limit.count
        full_in_s = bucket.full_at + every_s - now
        left_s = limit.per_s - full_in_s
        if left_s < -1e-9:  # noqa: PLR2004 - rounding, not time
            return Taken(limit, 0, full_in_s - every_s, -left_s)
        bucket.full_at += every_s
        bucket.unreported += 1
        if bucket.unreported * REPORTED_SHARE >= limit.count:
            self._due[name] = limit
        return Taken(limit, int(left_s / every_s + 1e-6), full_in_s, 0.0)

    @contextlib.asynccontextmanager
    async def sharing(self) -> AsyncGenerator[None]:
        """Share what was counted, once a second, for the length of the block."""
        task = asyncio.create_task(self._share_forever())
        try:
            yield
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def _share_forever(self) -> None:
        while True:
            await asyncio.sleep(SHARE_EVERY_S)
            await self.share()

    async def share(self) -> None:
        """Report what was counted to Redis, and take over what all processes counted together."""
        reported = list(self._due.items())[:MAX_REPORTED]
        if not reported:
            return
        counts = [self._buckets[name].unreported if name in self._buckets else 0 for name, _ in reported]
        pipeline = self._redis.pipeline(transaction=False)
        for (name, limit), count in zip(reported, counts, strict=True):
            window_ms = limit.per_s * 1000
            await cast(
                "Awaitable[object]",
                self._script(
                    keys=[f"{self._prefix}{name[0]}:{name[1]}"],
                    args=[window_ms / limit.count, window_ms, count],
                    client=pipeline,
                ),
            )
        try:
            answers = await pipeline.execute()
        except (RedisError, OSError) as error:
            log.warning("budgets.unshared", keys=len(reported), error=f"{type(error).__name__}: {error}")
            return
        now = self._clock()
        for (name, limit), count, full_in_ms in zip(reported, counts, answers, strict=True):
            self._due.pop(name, None)
            if bucket := self._buckets.get(name):
                bucket.unreported = max(0, bucket.unreported - count)
                since = bucket.unreported * limit.per_s / limit.count
                bucket.full_at = now + float(full_in_ms) / 1000 + since

    def _add_bucket(self, name: tuple[str, str | int], now: float) -> _Bucket:
        if len(self._buckets) >= MAX_KEYS:
            in_use = [(each, bucket) for each, bucket in self._buckets.items() if bucket.full_at > now]
            # At most half stay, the newest: so many at once come from everywhere, and this must not happen at each.
            self._buckets = dict(in_use[-(MAX_KEYS // 2) :])
        bucket = self._buckets[name] = _Bucket()
        return bucket
