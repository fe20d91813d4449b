"""Read-through cache in Redis for objects that many read and few change.

A miss is filled under a lease (`fill_lease.py`), so a loader that is overtaken by a change cannot store a stale
object. Whoever changes an object invalidates it after the commit; a process that dies in between is covered by the
event it put into the outbox, whose handler invalidates again. Redis may be empty or away at any time: then everything
is loaded.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

import msgspec
from prometheus_client import Counter
from redis.asyncio import Redis
from redis.exceptions import RedisError

from tintype.base.bounded_map import BoundedMap
from tintype.base.log import get_log
from tintype.redis import fill_lease
from tintype.redis.client import Command, PipelinedRedisClient, RedisClient
from tintype.redis.client_cache import Region
from tintype.redis.fill_lease import is_lease
from tintype.redis.tracked_read import TrackedRead

log = get_log("cache")
T = TypeVar("T")
K = TypeVar("K", bound=int | str)
ABSENT = b"-"
"""Stored instead of a value: there is no such object. No encoded object begins like it or like a lease."""

cache_reads = Counter(
    "tintype_cache_reads", "Objects read through the cache, by kind and outcome.", ["kind", "outcome"]
)

_COMPARE_AND_SWAP = """
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[2] == '' then redis.call('DEL', KEYS[1]) else redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) end
return 1
"""
SWAP_TRIES = 5


@dataclass(frozen=True)
class CacheKind(Generic[T]):
    """One kind of cached object. Raise `version` whenever its type changes: releases then never read each other's."""

    name: str
    type: type[T]
    ttl_s: int
    version: int = 1
    max_decoded: int = 0
    """How many are kept decoded in this process. The bytes are still read each time; equal bytes are decoded once."""
    parse_id: Callable[[str], int | str] = int
    """The id from the end of a key."""
    absent_ttl_s: int = 0
    """For how long it is cached that there is no such object; for ids that people cannot make up."""


@dataclass(frozen=True)
class CacheSource(Generic[K, T]):
    """A kind of cached object, and how to load misses from the database, in one call."""

    kind: CacheKind[T]
    load: Callable[[list[K]], Awaitable[Mapping[K, T]]]


class _DecodedObjects:
    """Decoded objects of one kind in this process with the bytes they were decoded from, and the kind's metrics."""

    def __init__(self, kind: CacheKind[Any]) -> None:
        self.hits, self.misses = (cache_reads.labels(kind.name, outcome) for outcome in ("hit", "miss"))
        self.by_id: BoundedMap[Any, tuple[bytes, Any]] = BoundedMap(kind.max_decoded)


class LeasedCache:
    """The cached objects of one installation."""

    def __init__(self, redis: Redis, namespace: str, redis_client: RedisClient | None = None) -> None:
        self._redis, self._prefix = redis, f"{namespace}:cache:"
        self.redis_client: RedisClient = redis_client or PipelinedRedisClient(redis)
        self._decoded: dict[str, _DecodedObjects] = {}
        self._compare_and_swap = redis.register_script(_COMPARE_AND_SWAP)

    async def get_many(
        self, kind: CacheKind[T], ids: Iterable[K], load: Callable[[list[K]], Awaitable[Mapping[K, T]]]
    ) -> dict[K, T]:
        """The objects that exist, by id: cached ones from the cache, all others from one call of `load`."""
        source = CacheSource(kind, load)
        [found] = await self.get_several_kinds((source, list(dict.fromkeys(ids))))
        return found

    async def get_several_kinds(
        self, *wanted: tuple[CacheSource[Any, Any], list[Any]]
    ) -> list[dict[Any, Any]]:
        """`get_many` for several kinds in one round trip, as long as nothing is missing. Each id at most once."""
        reads = [(source.kind, ids) for source, ids in wanted if ids]
        try:
            replies = (
                await self.redis_client.execute(*(self.read_command(kind, ids) for kind, ids in reads))
                if reads
                else []
            )
        except (RedisError, OSError) as error:
            log.warning("cache.unavailable", kind=reads[0][0].name, error=str(error))
            return [dict(await source.load(ids)) if ids else {} for source, ids in wanted]
        remaining = iter(replies)
        return [await self.resolve(source, ids, next(remaining)) if ids else {} for source, ids in wanted]

    def read_command(self, kind: CacheKind[Any], ids: Iterable[int | str]) -> Command:
        """The command whose reply `resolve` takes, for callers that read other things in the same round trip."""
        prefix = self._kind_prefix(kind)
        return ("MGET", *[f"{prefix}{each}" for each in ids])

    def region(self, kind: CacheKind[T]) -> Region[Any, T | None]:
        """The client-side cache of this kind, None for objects that do not exist; see `client_cache.py`."""
        return self.redis_client.client_cache.region(self._kind_prefix(kind), kind.parse_id, kind.max_decoded)

    async def resolve(
        self,
        source: CacheSource[K, T],
        ids: Sequence[K],
        values: Sequence[bytes | None],
        read: TrackedRead | None = None,
    ) -> dict[K, T]:
        """The objects that exist: decoded from the reply to `read_command`, and misses loaded and cached.

        With the tracked `read` the reply came from, what was found goes into the client-side cache too.
        """
        kind, found = source.kind, dict[K, T]()
        missing, empty, absent = list[K](), list[K](), list[K]()
        decoded = self._decoded_of(kind)
        decoded_of = decoded.by_id.get
        for each, value in zip(ids, values, strict=True):
            known = decoded_of(each)
            if known is not None and known[0] == value:
                found[each] = known[1]
            elif value == ABSENT:
                absent.append(each)
            elif value is not None and not is_lease(value):
                found[each] = _decode(kind, decoded, each, value)
            else:
                missing.append(each)
                if value is None:
                    empty.append(each)
        decoded.hits.inc(len(found))
        if read is not None:
            region = self.region(kind)
            for each, made in found.items():
                read.store(region, each, made)
            for each in absent:
                read.store(region, each, None)
        if missing:
            decoded.misses.inc(len(missing))
            found |= await self._load(source, missing, empty)
        return found

    async def find(
        self, kind: CacheKind[T], key: K, load: Callable[[list[K]], Awaitable[Mapping[K, T]]]
    ) -> T | None:
        """One object, if it exists."""
        return (await self.get_many(kind, [key], load)).get(key)

    async def invalidate(self, kind: CacheKind[Any], *ids: int | str) -> None:
        """Drop these objects and the leases on them. Call it after the commit that changed them."""
        if not ids:
            return
        try:
            await self._redis.delete(*(self._key(kind, each) for each in ids))
        except (RedisError, OSError) as error:
            log.warning("cache.unavailable", kind=kind.name, error=str(error))

    async def peek(self, kind: CacheKind[T], key: int | str) -> T | None:
        """The cached object, if there is one; a miss is neither loaded nor counted."""
        try:
            value = cast("bytes | None", await self._redis.get(self._key(kind, key)))
        except (RedisError, OSError):
            return None
        if value is None or value == ABSENT or is_lease(value):
            return None
        return msgspec.msgpack.decode(value, type=kind.type)

    async def replace_if_newer(
        self, kind: CacheKind[T], key: int | str, value: T, *, is_newer: Callable[[T], bool]
    ) -> None:
        """Replace a cached object by a committed one where the cached one is older; cache nothing where none is.

        `is_newer` compares the new object with the cached one. A loader that is under way may have read before the
        commit: its lease is deleted, as `invalidate` would.
        """
        try:
            await self._replace_if_newer(kind, self._key(kind, key), value, is_newer)
        except (RedisError, OSError) as error:
            log.warning("cache.unavailable", kind=kind.name, error=str(error))

    async def _replace_if_newer(
        self, kind: CacheKind[T], key: str, value: T, is_newer: Callable[[T], bool]
    ) -> None:
        encoded = msgspec.msgpack.encode(value)
        for _ in range(SWAP_TRIES):
            current = cast("bytes | None", await self._redis.get(key))
            if current is None:
                return
            must_delete = current == ABSENT or is_lease(current)
            if not must_delete and not is_newer(msgspec.msgpack.decode(current, type=kind.type)):
                return
            if await self._compare_and_swap(
                keys=[key], args=[current, b"" if must_delete else encoded, kind.ttl_s * 1000]
            ):
                return
        await self._redis.delete(key)

    async def _load(self, source: CacheSource[K, T], missing: list[K], empty: list[K]) -> Mapping[K, T]:
        """Load what is missing, and cache it where the key was empty: on the others somebody else holds a lease."""
        kind = source.kind
        try:
            lease = await fill_lease.acquire(self.redis_client, [self._key(kind, each) for each in empty])
        except (RedisError, OSError) as error:
            log.warning("cache.unavailable", kind=kind.name, error=str(error))
            return await source.load(missing)
        loaded = await source.load(missing)
        encoded = {each: msgspec.msgpack.encode(value) for each, value in loaded.items()}
        await self._fill(kind, encoded, lease, kind.ttl_s)
        if kind.absent_ttl_s:
            absent = dict.fromkeys((each for each in empty if each not in loaded), ABSENT)
            await self._fill(kind, absent, lease, kind.absent_ttl_s)
        return loaded

    async def _fill(self, kind: CacheKind[T], values: Mapping[K, bytes], lease: bytes, ttl_s: int) -> None:
        by_key = {self._key(kind, each): value for each, value in values.items()}
        try:
            await fill_lease.fill(self.redis_client, by_key, lease, ttl_s=ttl_s)
        except (RedisError, OSError) as error:
            log.warning("cache.unavailable", kind=kind.name, error=str(error))

    def _key(self, kind: CacheKind[Any], each: int | str) -> str:
        return f"{self._kind_prefix(kind)}{each}"

    def _kind_prefix(self, kind: CacheKind[Any]) -> str:
        return f"{self._prefix}{kind.name}{kind.version}:"

    def _decoded_of(self, kind: CacheKind[Any]) -> _DecodedObjects:
        decoded = self._decoded.get(kind.name)
        if decoded is None:
            decoded = self._decoded[kind.name] = _DecodedObjects(kind)
        return decoded


def _decode(kind: CacheKind[T], decoded: _DecodedObjects, each: int | str, value: bytes) -> T:
    made = msgspec.msgpack.decode(value, type=kind.type)
    if kind.max_decoded:
        decoded.by_id[each] = (value, made)
    return made
