"""Counts of what very many touch at once: a like of a viral post must not queue for the lock on the post's row.

While likes of one thing come slowly, its count moves in the transaction of the like. When they come faster than a
threshold, the like still commits by itself but the count's change is added up in Redis, and folded into the row in
batches. A batch has a number that grows with time; the row remembers the last one it holds, so a batch that is folded
again after a crash changes nothing, and a reader knows which changes to add to the count it read:

    buffered = await hot.buffered(ids)            # first, or at the same moment
    rows = read count and batch of each id        # second, from the database or from a cache
    count = buffered.add_to(id, count, batch)

Redis may lose what it holds, or a process may die between the like and the buffer: the count is then wrong until it is
recounted (`tintype.base.tallies`).
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from prometheus_client import Counter
from redis.asyncio import Redis
from redis.exceptions import RedisError

from tintype.base.bringing import Bringing
from tintype.base.log import get_log
from tintype.base.near import Near, Shelf

log = get_log("counting")
WINDOW_S = 5
HOT_S = 60
SETTLE_S = 30
"""A thing counts as hot for callers while its mark lives at least this long, and as cold for recounts once it is gone:
whoever saw it hot has long added its change by then."""
BATCH_FIELD = "batch"
BUFFERS = ("waiting", "folding")
ANSWERS = 4
"""How many answers belong to what `HotCounts.ask` asks."""

counts_buffered = Counter("tintype_counts_buffered", "Changes of counts that went through Redis.", ["kind"])
counts_folded = Counter("tintype_counts_folded", "Counts that got their buffered changes.", ["kind"])

_TOUCH = f"""
local touches = redis.call('INCR', KEYS[1])
if touches == 1 then redis.call('PEXPIRE', KEYS[1], {WINDOW_S * 1000}) end
if touches >= tonumber(ARGV[1]) then
  redis.call('SET', KEYS[2], 1, 'PX', {HOT_S * 1000})
  return 1
end
return redis.call('PTTL', KEYS[2]) > {SETTLE_S * 1000} and 1 or 0
"""

_START = f"""
if redis.call('EXISTS', KEYS[2]) == 0 then
  if redis.call('EXISTS', KEYS[1]) == 0 then return {{}} end
  redis.call('RENAME', KEYS[1], KEYS[2])
  local now = redis.call('TIME')
  redis.call('HSET', KEYS[2], '{BATCH_FIELD}', string.format('%d%06d', now[1], now[2]))
end
return redis.call('HGETALL', KEYS[2])
"""

_END = f"""
if redis.call('HGET', KEYS[1], '{BATCH_FIELD}') ~= ARGV[1] then return 0 end
for i = 2, #ARGV do redis.call('HDEL', KEYS[1], ARGV[i]) end
if redis.call('HLEN', KEYS[1]) <= 1 then redis.call('DEL', KEYS[1]) end
return 1
"""

Fold = Callable[[int, Mapping[int, int]], Awaitable[Iterable[int]]]
"""Adds changes by id to the rows that do not hold this batch yet; returns the ids that are done with."""


@dataclass(frozen=True)
class Buffered:
    """Changes that wait in Redis: not yet in a batch, and in the batch that is being folded."""

    waiting: Mapping[int, int]
    folding: Mapping[int, int]
    batch: int

    def add_to(self, each: int, count: int, batch: int) -> int:
        """The true count of something whose row has this count and holds batches up to this one."""
        folding = self.folding.get(each, 0) if self.batch > batch else 0
        return max(count + self.waiting.get(each, 0) + folding, 0)

    def holds(self, each: int) -> bool:
        """Whether something waits for this one."""
        return bool(self.waiting.get(each) or self.folding.get(each))


NOTHING = Buffered({}, {}, 0)


class HotCounts:
    """The buffered counts of one kind of thing, such as likes of posts."""

    def __init__(self, redis: Redis, namespace: str, kind: str, *, hot_per_s: int) -> None:
        self._redis, self.kind = redis, kind
        self._prefix = f"{namespace}:count:{kind}:"
        self._waiting, self._folding = (self._prefix + name for name in BUFFERS)
        self._threshold = hot_per_s * WINDOW_S
        self._touch = redis.register_script(_TOUCH)
        self._start = redis.register_script(_START)
        self._end = redis.register_script(_END)

    async def is_hot(self, each: int) -> bool:
        """Note one more change of this thing's count, and tell whether it must be buffered."""
        try:
            return bool(await self._touch(keys=self._heat_keys(each), args=[self._threshold]))
        except (RedisError, OSError):
            return False  # without Redis every change goes to the row

    async def add(self, each: int, delta: int) -> None:
        """Buffer a change whose cause is committed. A change that cannot be buffered is left to the recount."""
        try:
            await self._redis.hincrby(self._waiting, str(each), delta)  # pyright: ignore[reportGeneralTypeIssues] - redis-py types sync and async alike
        except (RedisError, OSError) as error:
            log.warning("count.unbuffered", kind=self.kind, id=each, error=str(error))
            return
        counts_buffered.labels(self.kind).inc()

    def is_quiet(self, near: Near) -> bool:
        """Whether nothing waits for anything, as far as is known near: see `near.py`."""
        return len(self._quiet(near).here) == len(BUFFERS)

    def ask(self, bringing: Bringing, near: Near, ids: Sequence[int]) -> None:
        """Ask for what waits for these; `read` takes the answers. Ask for counts together with it."""
        quiet = self._quiet(near)
        bringing.add(("HMGET", self._waiting, *ids))
        bringing.add(("HMGET", self._folding, BATCH_FIELD, *ids))
        for name in BUFFERS:
            bringing.add(("EXISTS", self._prefix + name), quiet, [name])

    def read(self, bringing: Bringing, near: Near, ids: Sequence[int], answers: Sequence[Any]) -> Buffered:
        """What waits for these, from the first answers to what was asked."""
        waiting, (batch, *folding), *exist = answers[:ANSWERS]
        quiet = self._quiet(near)
        for name, is_there in zip(BUFFERS, exist, strict=True):
            if not is_there:
                bringing.keep(quiet, name, True)
        return Buffered(_numbers(ids, waiting), _numbers(ids, folding), int(batch or 0))

    async def buffered(self, ids: Iterable[int]) -> Buffered:
        """What waits for these. Ask before reading the counts it is to be added to."""
        wanted = list(dict.fromkeys(ids))
        if not wanted:
            return NOTHING
        names = [str(each) for each in wanted]
        try:
            async with self._redis.pipeline(transaction=True) as pipe:
                pipe.hmget(self._waiting, names)
                pipe.hmget(self._folding, [BATCH_FIELD, *names])
                waiting, (batch, *folding) = await pipe.execute()
        except (RedisError, OSError):
            return NOTHING
        return Buffered(_numbers(wanted, waiting), _numbers(wanted, folding), int(batch or 0))

    async def settling(self, ids: Iterable[int]) -> set[int]:
        """Those of the things whose counts cannot be compared with their rows now: hot, or with changes waiting."""
        wanted = list(dict.fromkeys(ids))
        if not wanted:
            return set()
        marks = cast("list[Any]", await self._redis.mget([self._heat_keys(each)[1] for each in wanted]))
        buffered = await self.buffered(wanted)
        return {
            each for each, mark in zip(wanted, marks, strict=True) if mark is not None or buffered.holds(each)
        }

    async def flush(self, fold: Fold) -> int:
        """Fold what waits into the rows; what was begun and not finished comes first. Returns how many counts moved."""
        answer = cast("list[bytes]", await self._start(keys=[self._waiting, self._folding]))
        fields = dict(zip(answer[::2], answer[1::2], strict=True))
        if not fields:
            return 0
        batch = fields.pop(BATCH_FIELD.encode())
        deltas = {int(each): int(delta) for each, delta in fields.items()}
        done = list(await fold(int(batch), deltas)) if deltas else []
        await self._end(keys=[self._folding], args=[batch, *done])
        counts_folded.labels(self.kind).inc(len(done))
        return len(done)

    def _quiet(self, near: Near) -> Shelf[str, bool]:
        """Which of the two buffers do not exist."""
        return near.shelf(self._prefix, str, len(BUFFERS))

    def _heat_keys(self, each: int) -> list[str]:
        return [f"{self._prefix}heat:{each}", f"{self._prefix}hot:{each}"]


def _numbers(ids: Sequence[int], values: Sequence[bytes | None]) -> dict[int, int]:
    if not any(values):
        return {}
    return {each: int(value) for each, value in zip(ids, values, strict=True) if value}
