"""Client-side cache: values read from Redis, kept in this process until Redis invalidates them.

Redis pushes an invalidation when a key that was read on a tracked connection changes (CLIENT TRACKING, RESP3).
Invalidations and replies share one connection and keep their order: when a reply has arrived, so has the invalidation
of every change that was made before it. Hence the rule of this cache:

    a request that has awaited any reply from Redis since it began may read this cache without a further round trip.

It cannot see a state older than its own start. A reply is cached only if no invalidation overtook it, and everything
is dropped when the connection is lost.

The feed keeps to the rule by its own order of steps. Requests that were authenticated have awaited a reply as well:
they say so (`allow_reads`), and whatever they read through `LeasedCache` afterwards may come from here.
"""

from collections.abc import Callable, Iterable
from contextvars import ContextVar
from typing import Any, Generic, TypeVar

from tintype.base.bounded_map import BoundedMap

K = TypeVar("K", bound=int | str)
T = TypeVar("T")


class Region(Generic[K, T]):
    """Cached values of one kind, by the id after the last colon of their key."""

    def __init__(self, parse_id: Callable[[str], K], max_entries: int) -> None:
        self.values: BoundedMap[K, T] = BoundedMap(max_entries)
        """Read it by the rule of this module; never write to it."""
        self._reads: dict[K, object] = {}
        """The read in flight whose reply may be stored, by id."""
        self._parse_id = parse_id

    def begin_read(self, ids: Iterable[K], read: object) -> None:
        """Let `store` accept the reply of this read for these ids, unless they are invalidated first."""
        for each in ids:
            self._reads[each] = read

    def store(self, each: K, value: T, read: object) -> None:
        """Cache a reply, unless its id was invalidated or read again since this read began."""
        if self._reads.get(each) is not read:
            return
        del self._reads[each]
        self.values[each] = value

    def abandon(self, ids: Iterable[K], read: object) -> None:
        """End this read: `store` no longer accepts its replies."""
        for each in ids:
            if self._reads.get(each) is read:
                del self._reads[each]

    def invalidate(self, id_text: str) -> None:
        """Drop the value, and ignore the reply of any read of it that is still in flight."""
        each = self._parse_id(id_text)
        self.values.pop(each, None)
        self._reads.pop(each, None)

    def drop(self, ids: Iterable[K]) -> None:
        """Drop the values that this process itself has just changed in Redis: their invalidation may follow later."""
        for each in ids:
            self.values.pop(each, None)
            self._reads.pop(each, None)

    def clear(self) -> None:
        """Drop every value, and ignore the replies of all reads in flight."""
        self.values.clear()
        self._reads.clear()


_readable: ContextVar["ClientCache | None"] = ContextVar("tintype_readable_client_cache", default=None)


def forbid_reads() -> None:
    """A request begins or ends: no reply has been awaited for what follows."""
    _readable.set(None)


class ClientCache:
    """The regions of one connection to Redis, by key prefix."""

    def __init__(self) -> None:
        self._regions: dict[bytes, Region[Any, Any]] = {}
        self.is_tracking = False
        """Whether a connection delivers invalidations; without one nothing may be cached."""
        self.connection_number = 0
        """How many connections have delivered invalidations, this one included."""

    @property
    def may_be_read(self) -> bool:
        """Whether the current request has awaited a reply on this connection, and so may read what is cached."""
        return _readable.get() is self and self.is_tracking

    def allow_reads(self) -> None:
        """The current request has awaited a reply: until `forbid_reads` it may read what is cached."""
        _readable.set(self)

    def region(
        self, prefix: str, parse_id: Callable[[str], K], max_entries: int, *more_prefixes: str
    ) -> Region[K, Any]:
        """The region for keys with this prefix, which ends with the last colon of the key.

        A value that is made of several keys with the same id names the other prefixes too.
        """
        region = self._regions.get(prefix.encode())
        if region is None:
            region = Region[K, Any](parse_id, max_entries)
            self._regions |= dict.fromkeys((each.encode() for each in (prefix, *more_prefixes)), region)
        return region

    def connection_opened(self) -> None:
        """A connection with tracking is open: values may be cached from now on."""
        self.is_tracking = True
        self.connection_number += 1

    def connection_lost(self) -> None:
        """Drop every cached value: the connection that announced changes is gone."""
        self.is_tracking = False
        self._clear()

    def invalidate(self, keys: list[bytes] | None) -> None:
        """Drop the values of these keys; of all keys for None, which Redis sends when it was flushed."""
        if keys is None:
            self._clear()
            return
        for key in keys:
            cut = key.rfind(b":") + 1
            region = self._regions.get(key[:cut])
            if region is not None:
                region.invalidate(key[cut:].decode())

    def _clear(self) -> None:
        for region in set(self._regions.values()):  # one region may have hundreds of prefixes
            region.clear()
