"""Fill leases: keep a cache from storing a value that was loaded before a change and arrives after it.

A plain "read, miss, load, store" can store what it loaded *before* a change *after* that change has been invalidated,
and so serve a stale value for its whole lifetime. Here a miss puts a lease where the value would be; what was loaded
is stored only where that very lease still stands, and invalidation deletes leases as well. So what is invalidated
after a commit is loaded again after that commit.
"""

import secrets
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from tintype.redis.client import RedisClient
from tintype.redis.scripts import Script, run

T = TypeVar("T")
LEASE_MS = 5_000
LEASE_MARK = b"?"
"""A stored value that begins with this is a lease; no encoded value may."""
KEYS_PER_CALL = 200
"""A script blocks every other client of Redis; this many keys take well under a millisecond."""

_ACQUIRE = Script.of("""
for _, key in ipairs(KEYS) do redis.call('SET', key, ARGV[1], 'NX', 'PX', ARGV[2]) end
return 0
""")
_FILL = Script.of("""
for i, key in ipairs(KEYS) do
  if redis.call('GET', key) == ARGV[1] then redis.call('SET', key, ARGV[i + 2], 'PX', ARGV[2]) end
end
return 0
""")


def is_lease(value: bytes) -> bool:
    """Whether a stored value is a lease: somebody is loading the real one."""
    return value[:1] == LEASE_MARK


async def acquire(redis_client: RedisClient, keys: Sequence[str]) -> bytes:
    """Put one lease on those of the keys that are empty, and return it for `fill`."""
    lease = LEASE_MARK + secrets.token_bytes(8)
    await run(redis_client, _ACQUIRE, *(_ACQUIRE.call(some, lease, LEASE_MS) for some in chunks(keys)))
    return lease


async def fill(redis_client: RedisClient, values: Mapping[str, bytes], lease: bytes, *, ttl_s: int) -> None:
    """Store the values of those keys on which this lease still stands."""
    calls = [
        _FILL.call(some, lease, ttl_s * 1000, *(values[key] for key in some)) for some in chunks(list(values))
    ]
    await run(redis_client, _FILL, *calls)


def chunks(items: Sequence[T], size: int = KEYS_PER_CALL) -> Iterator[Sequence[T]]:
    """The items in order, cut into parts of at most this size."""
    return (items[start : start + size] for start in range(0, len(items), size))
