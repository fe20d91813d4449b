"""Read-through cache in Redis for objects that many read and few change.

A miss is filled under a lease (`fill_lease.py`), so a loader that is overtaken by a change cannot store a stale
object. Whoever changes an object invalidates it after the commit; a process that dies in between is covered by the
event it put into the outbox, whose handler invalidates again. Redis may be empty or away at any time: then everything
is loaded.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import closing
from functools import partial
from typing import Any

import msgspec
from redis.asyncio import Redis
from redis.exceptions import RedisError

from tintype.base.log import get_log
from tintype.redis import fill_lease
from tintype.redis.cache_kinds import CacheKind, CacheSource, DecodedObjects, K, T, Wanted, decode
from tintype.redis.client import Command, PipelinedRedisClient, RedisClient
from tintype.redis.client_cache import Region
from tintype.redis.fill_lease import is_lease
from tintype.redis.scripts import Script, run
from tintype.redis.tracked_read import PING, TrackedRead

__all__ = ["CacheKind", "CacheSource", "K", "LeasedCache", "T"]
log = get_log("cache")
ABSENT = b"-"
"""Stored instead of a value: there is no such object. No encoded object begins like it or like a lease."""

_COMPARE_AND_SWAP = Script.of("""
local current = redis.call('GET', KEYS[1])
if not current or current ~= ARGV[1] then return current end
if ARGV[2] == '' then redis.call('DEL', KEYS[1]) else redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) end
return 1
""")
"""Returns the value that is there instead of the expected one, nil where there is none, 1 where it was swapped."""
SWAP_TRIES = 6


class LeasedCache:
    """The cached objects of one installation."""

    def __init__(self, redis: Redis, namespace: str, redis_client: RedisClient | None = None) -> None:
        self._prefix = f"{namespace}:cache:"
        self.redis_client: RedisClient = redis_client or PipelinedRedisClient(redis)
        self._decoded: dict[str, DecodedObjects] = {}

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
        """`get_many` for several kinds in one round trip, as long as nothing is missing. Each id at most once.

        No round trip where the request may read the client-side cache and all is in it.
        """
        if self.redis_client.client_cache.may_be_read:
            return await self._get_cached(wanted)
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

    async def get_current(self, *wanted: tuple[CacheSource[Any, Any], list[Any]]) -> list[dict[Any, Any]]:
        """`get_several_kinds`, after at least one reply from Redis: afterwards the client-side cache may be read."""
        if not self.redis_client.client_cache.is_tracking:
            return await self.get_several_kinds(*wanted)
        are_cached = all(
            each in self._decoded_of(source.kind).region.values for source, ids in wanted for each in ids
        )
        if not are_cached:
            return await self._read_tracked(wanted)
        try:
            await self.redis_client.execute(PING)
        except (RedisError, OSError) as error:
            log.warning("cache.unavailable", error=str(error))
            return [dict(await source.load(ids)) for source, ids in wanted]
        return await self._get_cached(wanted)

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
                found[each] = decode(kind, decoded, each, value)
            else:
                missing.append(each)
                if value is None:
                    empty.append(each)
        decoded.hits.inc(len(found))
        if read is not None:
            region = decoded.region
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

    async def invalidate(self, kind: CacheKind[Any], *ids: int | str, along: Sequence[Command] = ()) -> None:
        """Drop these objects and the leases on them. Call it after the commit that changed them.

        The commands `along` go out in the same round trip, before.
        """
        if not ids:
            return
        try:
            await self.redis_client.execute(*along, ("DEL", *(self._key(kind, each) for each in ids)))
        except (RedisError, OSError) as error:
            log.warning("cache.unavailable", kind=kind.name, error=str(error))
        self._decoded_of(kind).region.drop(ids)

    async def find_outdated(
        self, kind: CacheKind[T], ids: Sequence[K], *, is_current: Callable[[K, T], bool]
    ) -> list[K]:
        """Those of the ids whose cached objects are not current, or are being loaded and may turn out not to be.

        For repairs after a change whose process may have died before it invalidated: misses are neither loaded nor
        counted, and what is current stays cached.
        """
        if not ids:
            return []
        try:
            [values] = await self.redis_client.execute(self.read_command(kind, ids))
        except (RedisError, OSError):
            return []
        decode_value = partial(msgspec.msgpack.decode, type=kind.type)
        return [
            each
            for each, value in zip(ids, values, strict=True)
            if value is not None
            and (value == ABSENT or is_lease(value) or not is_current(each, decode_value(value)))
        ]

    async def replace_if_newer(
        self,
        kind: CacheKind[T],
        key: int | str,
        value: T,
        *,
        is_newer: Callable[[T], bool],
        along: Sequence[Command] = (),
    ) -> None:
        """Replace a cached object by a committed one where the cached one is older; cache nothing where none is.

        `is_newer` compares the new object with the cached one. A loader that is under way may have read before the
        commit: its lease is deleted, as `invalidate` would. The commands `along` go out in the same round trip.
        """
        try:
            await self._replace_if_newer(kind, key, value, is_newer, along)
        except (RedisError, OSError) as error:
            log.warning("cache.unavailable", kind=kind.name, error=str(error))
        self._decoded_of(kind).region.drop([key])

    async def _replace_if_newer(
        self,
        kind: CacheKind[T],
        key: int | str,
        value: T,
        is_newer: Callable[[T], bool],
        along: Sequence[Command],
    ) -> None:
        """Swap, beginning with the value that this process has decoded last: mostly it is the one in Redis."""
        name, encoded, decoded = self._key(kind, key), msgspec.msgpack.encode(value), self._decoded_of(kind)
        known = decoded.by_id.get(key)
        expected, replacement = known[0] if known and is_newer(known[1]) else b"", encoded
        for _ in range(SWAP_TRIES):
            call = _COMPARE_AND_SWAP.call([name], expected, replacement, kind.ttl_s * 1000)
            found, *_ = await run(self.redis_client, _COMPARE_AND_SWAP, call, *along)
            along = ()
            if not isinstance(found, bytes):
                if found is not None and replacement and kind.max_decoded:
                    decoded.by_id[key] = (encoded, value)
                return
            must_delete = found == ABSENT or is_lease(found)
            if not must_delete and not is_newer(msgspec.msgpack.decode(found, type=kind.type)):
                return
            expected, replacement = found, b"" if must_delete else encoded
        await self.redis_client.execute(("DEL", name))

    async def _get_cached(self, wanted: Wanted) -> list[dict[Any, Any]]:
        """What is in the client-side cache as it is there, the rest in one round trip that caches it."""
        found, unread = list[dict[Any, Any]](), list[tuple[CacheSource[Any, Any], list[Any]]]()
        for source, ids in wanted:
            decoded = self._decoded_of(source.kind)
            values = decoded.region.values
            known = {each: value for each in ids if (value := values.get(each)) is not None}
            found.append(known)
            decoded.hits.inc(len(known))
            is_whole = len(known) == len(ids)
            unread.append((source, [] if is_whole else [each for each in ids if each not in values]))
        if any(ids for _, ids in unread):
            for known, read in zip(found, await self._read_tracked(unread), strict=True):
                known.update(read)
        return found

    async def _read_tracked(self, wanted: Wanted) -> list[dict[Any, Any]]:
        """Objects as they are in Redis, which go into the client-side cache; misses are loaded."""
        with closing(TrackedRead(self.redis_client)) as read:
            for source, ids in wanted:
                if ids:
                    read.add(self.read_command(source.kind, ids), self.region(source.kind), ids)
            try:
                replies = iter(await read.execute())
            except (RedisError, OSError) as error:
                log.warning("cache.unavailable", error=str(error))
                return [dict(await source.load(ids)) if ids else {} for source, ids in wanted]
            return [
                await self.resolve(source, ids, next(replies), read) if ids else {} for source, ids in wanted
            ]

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

    def _decoded_of(self, kind: CacheKind[Any]) -> DecodedObjects:
        decoded = self._decoded.get(kind.name)
        if decoded is None:
            decoded = self._decoded[kind.name] = DecodedObjects(kind, self.region(kind))
        return decoded
