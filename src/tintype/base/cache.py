"""Objects that many read and few change, kept in Redis and forgotten the moment they change.

A plain "read, miss, load, store" can store what it loaded *before* a change *after* the change has been forgotten, and
so keep a lie for a whole lifetime. Here a miss leaves a lease in the place of the value; what was loaded is stored only
where that very lease still stands, and forgetting removes leases as well. What is forgotten after a commit is
therefore loaded anew after that commit.

Redis may be empty or away at any time: then everything is loaded. Who changes an object forgets it after the commit;
a process that dies in between is covered by the event it put into the outbox, whose handler forgets again.
"""

import secrets
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, cast

import msgspec
from prometheus_client import Counter
from redis.asyncio import Redis
from redis.exceptions import RedisError

from tintype.base.bringing import Bringing
from tintype.base.log import get_log
from tintype.base.near import Shelf
from tintype.base.wire import Command, PipelinedWire, Wire

log = get_log("cache")
T = TypeVar("T")
K = TypeVar("K", bound=int | str)
LEASE_MS = 5_000
LEASE_MARK = b"?"
ABSENT = b"-"
"""In the place of a value: there is no such object. No encoded object begins like it or like a lease."""

cache_reads = Counter(
    "tintype_cache_reads", "Objects asked of the cache, by kind and outcome.", ["kind", "outcome"]
)

_FILL = """
local filled = 0
for i, key in ipairs(KEYS) do
  if redis.call('GET', key) == ARGV[1] then
    redis.call('SET', key, ARGV[i + 2], 'PX', ARGV[2])
    filled = filled + 1
  end
end
return filled
"""

_SWAP = """
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[2] == '' then redis.call('DEL', KEYS[1]) else redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) end
return 1
"""
SWAP_TRIES = 5


@dataclass(frozen=True)
class Kind(Generic[T]):
    """One kind of cached object. Raise `version` whenever its type changes: releases then never read each other's."""

    name: str
    type: type[T]
    ttl_s: int
    version: int = 1
    decoded_here: int = 0
    """How many are kept decoded in this process. The bytes are still read each time; equal bytes are not read twice."""
    read_id: Callable[[str], int | str] = int
    """The id from the end of a key."""
    absent_s: int = 0
    """For how long it is remembered that there is no such object; for ids that people cannot make up."""


@dataclass(frozen=True)
class Source(Generic[K, T]):
    """A kind of cached object, and how to load what the cache lacks, in one call."""

    kind: Kind[T]
    load: Callable[[list[K]], Awaitable[Mapping[K, T]]]


@dataclass
class _Shelf:
    """What one process remembers of one kind."""

    hits: Counter
    misses: Counter
    decoded: dict[Any, tuple[bytes, Any]] = field(default_factory=dict[Any, tuple[bytes, Any]])


class Cache:
    """The cached objects of one installation."""

    def __init__(self, redis: Redis, namespace: str, wire: Wire | None = None) -> None:
        self._redis, self._prefix = redis, f"{namespace}:cache:"
        self.wire: Wire = wire or PipelinedWire(redis)
        self._shelves: dict[str, _Shelf] = {}
        self._fill_script = redis.register_script(_FILL)
        self._swap_script = redis.register_script(_SWAP)

    async def get_many(
        self, kind: Kind[T], ids: Iterable[K], load: Callable[[list[K]], Awaitable[Mapping[K, T]]]
    ) -> dict[K, T]:
        """The objects that exist: from the cache, and what it lacks from `load`, in one call."""
        source = Source(kind, load)
        [found] = await self.get_together((source, list(dict.fromkeys(ids))))
        return found

    async def get_together(self, *wanted: tuple[Source[Any, Any], list[Any]]) -> list[dict[Any, Any]]:
        """The same for several kinds in one round trip, as long as nothing is lacking. Each id at most once."""
        asked = [(source.kind, ids) for source, ids in wanted if ids]
        try:
            answers = await self.wire.ask(*(self.command(kind, ids) for kind, ids in asked)) if asked else []
        except (RedisError, OSError) as error:
            log.warning("cache.unavailable", kind=asked[0][0].name, error=str(error))
            return [dict(await source.load(ids)) if ids else {} for source, ids in wanted]
        left = iter(answers)
        return [await self.settle(source, ids, next(left)) if ids else {} for source, ids in wanted]

    def command(self, kind: Kind[Any], ids: Iterable[int | str]) -> Command:
        """The question whose answer `settle` takes, for a caller who asks more than that in one round trip."""
        start = self._start(kind)
        return ("MGET", *[f"{start}{each}" for each in ids])

    def shelf(self, kind: Kind[T]) -> Shelf[Any, T | None]:
        """What is near of this kind, None for what does not exist; `near.py` says who may take it from there."""
        return self.wire.near.shelf(self._start(kind), kind.read_id, kind.decoded_here)

    async def settle(
        self,
        source: Source[K, T],
        ids: Sequence[K],
        values: Sequence[bytes | None],
        bringing: Bringing | None = None,
    ) -> dict[K, T]:
        """The objects that exist: from what the cache answered, and what it lacks loaded and put there."""
        kind, found = source.kind, dict[K, T]()
        missing, free, absent = list[K](), list[K](), list[K]()
        shelf = self._shelf(kind)
        known = shelf.decoded.get
        for each, value in zip(ids, values, strict=True):
            decoded = known(each)
            if decoded is not None and decoded[0] == value:
                found[each] = decoded[1]
            elif value == ABSENT:
                absent.append(each)
            elif value is not None and value[:1] != LEASE_MARK:
                found[each] = _decode(kind, shelf, each, value)
            else:
                missing.append(each)
                if value is None:
                    free.append(each)
        shelf.hits.inc(len(found))
        if bringing is not None:
            near = self.shelf(kind)
            for each, made in found.items():
                bringing.keep(near, each, made)
            for each in absent:
                bringing.keep(near, each, None)
        if missing:
            shelf.misses.inc(len(missing))
            found |= await self._load(source, missing, free)
        return found

    async def find(
        self, kind: Kind[T], key: K, load: Callable[[list[K]], Awaitable[Mapping[K, T]]]
    ) -> T | None:
        """One object, if it exists."""
        return (await self.get_many(kind, [key], load)).get(key)

    async def forget(self, kind: Kind[Any], *ids: int | str) -> None:
        """Load these anew from now on. Call it after the commit that changed them."""
        if not ids:
            return
        try:
            await self._redis.delete(*(self._key(kind, each) for each in ids))
        except (RedisError, OSError) as error:
            log.warning("cache.unavailable", kind=kind.name, error=str(error))

    async def peek(self, kind: Kind[T], key: int | str) -> T | None:
        """What is cached, if anything is; nothing is loaded and nothing counted."""
        try:
            value = cast("bytes | None", await self._redis.get(self._key(kind, key)))
        except (RedisError, OSError):
            return None
        if value is None or value == ABSENT or value.startswith(LEASE_MARK):
            return None
        return msgspec.msgpack.decode(value, type=kind.type)

    async def renew(self, kind: Kind[T], key: int | str, value: T, *, is_newer: Callable[[T], bool]) -> None:
        """Put a committed value in the place of an older one, where one is cached.

        `is_newer` says of the cached one whether this is newer. A loader that is under way may have read before the
        commit: its lease is taken away, as `forget` would.
        """
        try:
            await self._renew(kind, self._key(kind, key), value, is_newer)
        except (RedisError, OSError) as error:
            log.warning("cache.unavailable", kind=kind.name, error=str(error))

    async def _renew(self, kind: Kind[T], name: str, value: T, is_newer: Callable[[T], bool]) -> None:
        encoded = msgspec.msgpack.encode(value)
        for _ in range(SWAP_TRIES):
            there = cast("bytes | None", await self._redis.get(name))
            if there is None:
                return
            is_lease = there == ABSENT or there.startswith(LEASE_MARK)
            if not is_lease and not is_newer(msgspec.msgpack.decode(there, type=kind.type)):
                return
            if await self._swap_script(
                keys=[name], args=[there, b"" if is_lease else encoded, kind.ttl_s * 1000]
            ):
                return
        await self._redis.delete(name)

    async def _load(self, source: Source[K, T], missing: list[K], free: list[K]) -> Mapping[K, T]:
        lease = LEASE_MARK + secrets.token_bytes(8)
        try:
            if free:
                start = self._start(source.kind)
                await self.wire.ask(
                    *(("SET", f"{start}{each}", lease, "NX", "PX", LEASE_MS) for each in free)
                )
        except (RedisError, OSError) as error:
            log.warning("cache.unavailable", kind=source.kind.name, error=str(error))
            return await source.load(missing)
        loaded = await source.load(missing)
        kind = source.kind
        values = {each: msgspec.msgpack.encode(value) for each, value in loaded.items()}
        await self._fill(kind, values, lease, kind.ttl_s)
        if kind.absent_s:
            await self._fill(
                kind,
                dict.fromkeys((each for each in free if each not in loaded), ABSENT),
                lease,
                kind.absent_s,
            )
        return loaded

    async def _fill(self, kind: Kind[T], values: Mapping[K, bytes], lease: bytes, ttl_s: int) -> None:
        if not values:
            return
        keys = [self._key(kind, each) for each in values]
        try:
            await self._fill_script(keys=keys, args=[lease, ttl_s * 1000, *values.values()])
        except (RedisError, OSError) as error:
            log.warning("cache.unavailable", kind=kind.name, error=str(error))

    def _key(self, kind: Kind[Any], each: int | str) -> str:
        return f"{self._start(kind)}{each}"

    def _start(self, kind: Kind[Any]) -> str:
        return f"{self._prefix}{kind.name}{kind.version}:"

    def _shelf(self, kind: Kind[Any]) -> _Shelf:
        shelf = self._shelves.get(kind.name)
        if shelf is None:
            hits, misses = (cache_reads.labels(kind.name, outcome) for outcome in ("hit", "miss"))
            shelf = self._shelves[kind.name] = _Shelf(hits, misses)
        return shelf


def _decode(kind: Kind[T], shelf: _Shelf, each: int | str, value: bytes) -> T:
    made = msgspec.msgpack.decode(value, type=kind.type)
    if kind.decoded_here:
        if each not in shelf.decoded and len(shelf.decoded) >= kind.decoded_here:
            del shelf.decoded[next(iter(shelf.decoded))]
        shelf.decoded[each] = (value, made)
    return made
