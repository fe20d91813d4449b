"""Objects that many read and few change, kept in Redis and forgotten the moment they change.

A plain "read, miss, load, store" can store what it loaded *before* a change *after* the change has been forgotten, and
so keep a lie for a whole lifetime. Here a miss leaves a lease in the place of the value; what was loaded is stored only
where that very lease still stands, and forgetting removes leases as well. What is forgotten after a commit is
therefore loaded anew after that commit.

Redis may be empty or away at any time: then everything is loaded. Who changes an object forgets it after the commit;
a process that dies in between is covered by the event it put into the outbox, whose handler forgets again.
"""

import secrets
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

import msgspec
from prometheus_client import Counter
from redis.asyncio import Redis
from redis.exceptions import RedisError

from tintype.base.log import get_log

log = get_log("cache")
T = TypeVar("T")
K = TypeVar("K", bound=int | str)
LEASE_MS = 5_000
LEASE_MARK = b"?"

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


class Cache:
    """The cached objects of one installation."""

    def __init__(self, redis: Redis, namespace: str) -> None:
        self._redis, self._prefix = redis, f"{namespace}:cache:"
        self._fill_script = redis.register_script(_FILL)
        self._swap_script = redis.register_script(_SWAP)

    async def get_many(
        self, kind: Kind[T], ids: Iterable[K], load: Callable[[list[K]], Awaitable[Mapping[K, T]]]
    ) -> dict[K, T]:
        """The objects that exist: from the cache, and what it lacks from `load`, in one call."""
        wanted = list(dict.fromkeys(ids))
        if not wanted:
            return {}
        try:
            found, lease = await self._read(kind, wanted)
        except (RedisError, OSError) as error:
            log.warning("cache.unavailable", kind=kind.name, error=str(error))
            return dict(await load(wanted))
        missing = [each for each in wanted if each not in found]
        cache_reads.labels(kind.name, "hit").inc(len(found))
        if missing:
            cache_reads.labels(kind.name, "miss").inc(len(missing))
            loaded = await load(missing)
            await self._fill(kind, loaded, lease)
            found |= loaded
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
        if value is None or value.startswith(LEASE_MARK):
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
            is_lease = there.startswith(LEASE_MARK)
            if not is_lease and not is_newer(msgspec.msgpack.decode(there, type=kind.type)):
                return
            if await self._swap_script(
                keys=[name], args=[there, b"" if is_lease else encoded, kind.ttl_s * 1000]
            ):
                return
        await self._redis.delete(name)

    async def _read(self, kind: Kind[T], wanted: list[K]) -> tuple[dict[K, T], bytes]:
        keys = [self._key(kind, each) for each in wanted]
        values = cast("list[bytes | None]", await self._redis.mget(keys))
        lease = LEASE_MARK + secrets.token_bytes(8)
        free = [key for key, value in zip(keys, values, strict=True) if value is None]
        if free:
            async with self._redis.pipeline(transaction=False) as pipe:
                for key in free:
                    pipe.set(key, lease, nx=True, px=LEASE_MS)
                await pipe.execute()
        found = {
            each: msgspec.msgpack.decode(value, type=kind.type)
            for each, value in zip(wanted, values, strict=True)
            if value is not None and not value.startswith(LEASE_MARK)
        }
        return found, lease

    async def _fill(self, kind: Kind[T], loaded: Mapping[K, T], lease: bytes) -> None:
        if not loaded:
            return
        keys = [self._key(kind, each) for each in loaded]
        values = [msgspec.msgpack.encode(value) for value in loaded.values()]
        try:
            await self._fill_script(keys=keys, args=[lease, kind.ttl_s * 1000, *values])
        except (RedisError, OSError) as error:
            log.warning("cache.unavailable", kind=kind.name, error=str(error))

    def _key(self, kind: Kind[Any], each: int | str) -> str:
        return f"{self._prefix}{kind.name}{kind.version}:{each}"
