"""Hot counters: buffer changes of a counter in Redis when they come too fast for the lock on its row.

While likes of a post come slowly, its counter changes in the transaction of the like. When they come faster than a
threshold, the like still commits by itself, but its delta is added up in Redis and folded into the row in batches.
Batch numbers grow with time and the row stores the last one it contains, so a batch that is folded again after a crash
changes nothing, and a reader knows which deltas to add to the count it read:

    buffered = await counters.get_buffered(ids)   # first, or at the same moment
    rows = read count and batch of each id        # second, from the database or from a cache
    count = buffered.apply(id, count, batch)

Redis may lose the buffer, or a process may die between the like and the buffer: the counter is then wrong until it is
reconciled (`tintype.base.counter_reconciler`).
"""

import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, cast

from prometheus_client import Counter
from redis.asyncio import Redis
from redis.exceptions import RedisError

from tintype.base.bounded_map import BoundedMap
from tintype.base.log import get_log
from tintype.redis.client import PipelinedRedisClient, RedisClient
from tintype.redis.client_cache import ClientCache, Region
from tintype.redis.scripts import Script, run
from tintype.redis.tracked_read import EXEC, MULTI, TrackedRead

log = get_log("hot_counters")
WINDOW_S = 5
HOT_S = 60
SETTLE_S = 30
"""Callers treat an id as hot while its mark lives at least this long; reconciling treats it as settled once the mark is
gone: whoever saw it hot has long added its delta by then."""
REPORTED_SHARE = 16
"""A process asks Redis about a counter only once it has seen this part of the threshold by itself: most counters change
seldom, and would pay a round trip for each change."""
MAX_LOCAL = 20_000
BATCH_FIELD = "batch"
BUFFERS = ("waiting", "folding")
REPLY_COUNT = 4
"""How many replies belong to the commands of `HotCounters.add_to_read`."""

counts_buffered = Counter(
    "tintype_counts_buffered", "Changes of counters that were buffered in Redis.", ["kind"]
)
counts_folded = Counter(
    "tintype_counts_folded", "Counters into which buffered changes were folded.", ["kind"]
)

_TOUCH = Script.of(f"""
local touches = redis.call('INCRBY', KEYS[1], ARGV[2])
if touches == tonumber(ARGV[2]) then redis.call('PEXPIRE', KEYS[1], {WINDOW_S * 1000}) end
if touches >= tonumber(ARGV[1]) then
  redis.call('SET', KEYS[2], 1, 'PX', {HOT_S * 1000})
  return 1
end
return redis.call('PTTL', KEYS[2]) > {SETTLE_S * 1000} and 1 or 0
""")

_START_BATCH = f"""
if redis.call('EXISTS', KEYS[2]) == 0 then
  if redis.call('EXISTS', KEYS[1]) == 0 then return {{}} end
  redis.call('RENAME', KEYS[1], KEYS[2])
  local now = redis.call('TIME')
  redis.call('HSET', KEYS[2], '{BATCH_FIELD}', string.format('%d%06d', now[1], now[2]))
end
return redis.call('HGETALL', KEYS[2])
"""

_END_BATCH = f"""
if redis.call('HGET', KEYS[1], '{BATCH_FIELD}') ~= ARGV[1] then return 0 end
for i = 2, #ARGV do redis.call('HDEL', KEYS[1], ARGV[i]) end
if redis.call('HLEN', KEYS[1]) <= 1 then redis.call('DEL', KEYS[1]) end
return 1
"""

Fold = Callable[[int, Mapping[int, int]], Awaitable[Iterable[int]]]
"""Adds deltas by id to the rows that do not contain this batch yet; returns the ids that need no further try."""


@dataclass(frozen=True)
class BufferedDeltas:
    """Deltas in Redis: those not yet in a batch, and those of the batch that is being folded."""

    waiting: Mapping[int, int]
    folding: Mapping[int, int]
    batch: int

    def apply(self, each: int, count: int, batch: int) -> int:
        """The true count of an id whose row has this count and contains all batches up to this one."""
        folding = self.folding.get(each, 0) if self.batch > batch else 0
        return max(count + self.waiting.get(each, 0) + folding, 0)

    def has_delta(self, each: int) -> bool:
        """Whether there is a buffered delta for this id."""
        return bool(self.waiting.get(each) or self.folding.get(each))


NO_DELTAS = BufferedDeltas({}, {}, 0)


@dataclass(slots=True)
class _LocalTouches:
    """Changes of one counter that this process has seen within a window."""

    window_end: float
    seen: int = 0
    unreported: int = 0


class HotCounters:
    """The hot counters of one kind, such as likes of posts, by id."""

    def __init__(
        self,
        redis: Redis,
        namespace: str,
        kind: str,
        *,
        hot_per_s: int,
        redis_client: RedisClient | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._redis, self.kind, self._clock = redis, kind, clock
        self._redis_client: RedisClient = redis_client or PipelinedRedisClient(redis)
        self._prefix = f"{namespace}:count:{kind}:"
        self._waiting, self._folding = (self._prefix + name for name in BUFFERS)
        self._threshold = hot_per_s * WINDOW_S
        self._local: BoundedMap[int, _LocalTouches] = BoundedMap(MAX_LOCAL)
        self._start = redis.register_script(_START_BATCH)
        self._end = redis.register_script(_END_BATCH)

    async def should_buffer(self, each: int) -> bool:
        """Record one more change of this counter, and return whether it is hot, so that the change must be buffered."""
        touches = self._count_locally(each)
        if touches.seen * REPORTED_SHARE < self._threshold:
            return False
        count, touches.unreported = touches.unreported, 0
        try:
            return await self._touch(each, count)
        except (RedisError, OSError):
            return False  # without Redis every change goes to the row

    async def buffer(self, each: int, delta: int) -> None:
        """Buffer the delta of a committed change. One that cannot be buffered is repaired by reconciling."""
        try:
            await self._redis_client.execute(("HINCRBY", self._waiting, each, delta))
        except (RedisError, OSError) as error:
            log.warning("count.unbuffered", kind=self.kind, id=each, error=str(error))
            return
        counts_buffered.labels(self.kind).inc()

    def is_known_empty(self, client_cache: ClientCache) -> bool:
        """Whether the client-side cache knows that nothing is buffered for any id."""
        return len(self._empty_buffers(client_cache).values) == len(BUFFERS)

    def add_to_read(self, read: TrackedRead, client_cache: ClientCache, ids: Sequence[int]) -> None:
        """Add commands for the deltas of these ids, for `parse_replies`; read the counts in the same tracked read."""
        empty_buffers = self._empty_buffers(client_cache)
        read.add(("HMGET", self._waiting, *ids))
        read.add(("HMGET", self._folding, BATCH_FIELD, *ids))
        for name in BUFFERS:
            read.add(("EXISTS", self._prefix + name), empty_buffers, [name])

    def parse_replies(
        self, read: TrackedRead, client_cache: ClientCache, ids: Sequence[int], replies: Sequence[Any]
    ) -> BufferedDeltas:
        """The deltas of these ids, from the first replies to what `add_to_read` added."""
        waiting, (batch, *folding), *exist = replies[:REPLY_COUNT]
        empty_buffers = self._empty_buffers(client_cache)
        for name, exists in zip(BUFFERS, exist, strict=True):
            if not exists:
                read.store(empty_buffers, name, True)
        return BufferedDeltas(_deltas(ids, waiting), _deltas(ids, folding), int(batch or 0))

    async def get_buffered(self, ids: Iterable[int]) -> BufferedDeltas:
        """The buffered deltas of these ids. Read them before the counts they are to be added to."""
        unique = list(dict.fromkeys(ids))
        if not unique:
            return NO_DELTAS
        try:
            return await self._read_buffered(unique)
        except (RedisError, OSError):
            return NO_DELTAS

    async def find_unsettled(self, ids: Iterable[int]) -> set[int]:
        """Those of the ids whose counters cannot be compared with their rows now: hot, or with buffered deltas."""
        unique = list(dict.fromkeys(ids))
        if not unique:
            return set()
        marks = cast("list[Any]", await self._redis.mget([self._heat_keys(each)[1] for each in unique]))
        buffered = await self.get_buffered(unique)
        return {
            each
            for each, mark in zip(unique, marks, strict=True)
            if mark is not None or buffered.has_delta(each)
        }

    async def flush(self, fold: Fold) -> int:
        """Fold buffered deltas into the rows, beginning with a batch that a crash left unfinished; returns how many."""
        reply = cast("list[bytes]", await self._start(keys=[self._waiting, self._folding]))
        fields = dict(zip(reply[::2], reply[1::2], strict=True))
        if not fields:
            return 0
        batch = fields.pop(BATCH_FIELD.encode())
        deltas = {int(each): int(delta) for each, delta in fields.items()}
        done = list(await fold(int(batch), deltas)) if deltas else []
        await self._end(keys=[self._folding], args=[batch, *done])
        counts_folded.labels(self.kind).inc(len(done))
        return len(done)

    async def _read_buffered(self, ids: Sequence[int]) -> BufferedDeltas:
        client_cache = self._redis_client.client_cache
        if not client_cache.may_be_read:
            [*_, (waiting, (batch, *folding))] = await self._redis_client.execute(
                MULTI, ("HMGET", self._waiting, *ids), ("HMGET", self._folding, BATCH_FIELD, *ids), EXEC
            )
            return BufferedDeltas(_deltas(ids, waiting), _deltas(ids, folding), int(batch or 0))
        if self.is_known_empty(client_cache):
            return NO_DELTAS
        with closing(TrackedRead(self._redis_client)) as read:
            self.add_to_read(read, client_cache, ids)
            return self.parse_replies(read, client_cache, ids, await read.execute())

    def _count_locally(self, each: int) -> _LocalTouches:
        now, touches = self._clock(), self._local.get(each)
        if touches is None or touches.window_end <= now:
            touches = self._local[each] = _LocalTouches(now + WINDOW_S)
        touches.seen += 1
        touches.unreported += 1
        return touches

    async def _touch(self, each: int, count: int) -> bool:
        """Add changes to those that all processes have seen, and return whether the counter is hot."""
        call = _TOUCH.call(self._heat_keys(each), self._threshold, count)
        return bool((await run(self._redis_client, _TOUCH, call))[0])

    def _empty_buffers(self, client_cache: ClientCache) -> Region[str, bool]:
        """Client-side cache of which of the two buffers do not exist."""
        return client_cache.region(self._prefix, str, len(BUFFERS))

    def _heat_keys(self, each: int) -> list[str]:
        return [f"{self._prefix}heat:{each}", f"{self._prefix}hot:{each}"]


def _deltas(ids: Sequence[int], values: Sequence[bytes | None]) -> dict[int, int]:
    if not any(values):
        return {}
    return {each: int(value) for each, value in zip(ids, values, strict=True) if value}
