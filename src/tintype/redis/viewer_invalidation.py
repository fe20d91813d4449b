"""Per-viewer invalidation: tells every process that caches a viewer's state when that state has changed.

Follows, mutes, blocks, likes and saves lie on the viewer's own shard and belong to several rooms. Whoever changes such
a row calls `invalidate` after the commit and before the answer. That writes to one Redis key per viewer; a process
that caches something made of such rows has read the key on a tracked connection, so Redis invalidates it there
(`client_cache.py`).

A process that dies between its commit and the invalidation is covered by the handler of its event. A change without an
event, or one made by hand, is noticed when the cached value expires: nobody may use it for longer than `MAX_AGE_S`.
"""

from typing import Any

from redis.exceptions import RedisError

from shardwright.routing import Transaction
from tintype.base.ids import AccountId
from tintype.base.log import get_log
from tintype.redis.client import Command, RedisClient
from tintype.redis.client_cache import Region
from tintype.redis.tracked_read import TrackedRead

log = get_log("viewer_invalidation")
MAX_AGE_S = 60.0
MARKER_TTL_MS = 100
"""The write itself is the signal; its value is never read, so it may expire at once."""


class ViewerInvalidation:
    """Announces that the follows, mutes, blocks, likes or saves of a viewer have changed, and tracks such changes."""

    def __init__(self, redis_client: RedisClient, namespace: str) -> None:
        self._redis_client, self._prefix = redis_client, f"{namespace}:ties:"

    async def invalidate(self, *viewers: AccountId) -> None:
        """Make every process drop what it has cached of these viewers. Call it after the commit."""
        try:
            await self._redis_client.execute(*self.commands(*viewers))
        except (RedisError, OSError) as error:
            log.warning("viewer_invalidation.failed", viewers=viewers, error=str(error))

    def commands(self, *viewers: AccountId) -> list[Command]:
        """The commands of `invalidate`, for a caller who sends others in the same round trip."""
        return [("SET", f"{self._prefix}{each}", b"", "PX", MARKER_TTL_MS) for each in viewers]

    def invalidate_after_commit(self, tx: Transaction, *viewers: AccountId) -> None:
        """Call `invalidate` for these viewers once this transaction has committed."""

        async def after_commit(_server: str) -> None:
            await self.invalidate(*viewers)

        tx.after_commit(after_commit)

    def region(self, max_entries: int) -> Region[int, Any]:
        """The client-side cache for what is made of a viewer's rows, by viewer."""
        return self._redis_client.client_cache.region(self._prefix, int, max_entries)

    def track(self, viewer: AccountId, read: TrackedRead, region: Region[int, Any]) -> None:
        """Have changes of this viewer invalidate the region's entry, from this read on."""
        read.add(("EXISTS", f"{self._prefix}{viewer}"), region, [viewer])
