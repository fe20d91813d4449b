"""Kinds of cached objects: their type and lifetime, how they are loaded, and what a process keeps of them decoded."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import msgspec
from prometheus_client import Counter

from tintype.base.bounded_map import BoundedMap
from tintype.redis.client_cache import Region

T = TypeVar("T")
K = TypeVar("K", bound=int | str)

cache_reads = Counter(
    "tintype_cache_reads", "Objects read through the cache, by kind and outcome.", ["kind", "outcome"]
)


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


Wanted = Sequence[tuple[CacheSource[Any, Any], list[Any]]]


class DecodedObjects:
    """Decoded objects of one kind in this process with the bytes they were decoded from, and the kind's metrics."""

    def __init__(self, kind: CacheKind[Any], region: Region[Any, Any]) -> None:
        self.region = region
        self.hits, self.misses = (cache_reads.labels(kind.name, outcome) for outcome in ("hit", "miss"))
        self.by_id: BoundedMap[Any, tuple[bytes, Any]] = BoundedMap(kind.max_decoded)


def decode(kind: CacheKind[T], decoded: DecodedObjects, each: int | str, value: bytes) -> T:
    """An object from its bytes, which are remembered with it."""
    made = msgspec.msgpack.decode(value, type=kind.type)
    if kind.max_decoded:
        decoded.by_id[each] = (value, made)
    return made
