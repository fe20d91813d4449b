"""Per-viewer invalidation: tells every process that caches a viewer's state when that state has changed.

Follows, mutes, blocks, likes and saves lie on the viewer's own shard and belong to several rooms. Whoever changes such
a row calls `invalidate` after the commit and before the answer. That writes to one Redis key per viewer; a process
that caches something made of such rows has read the key on a tracked connection, so Redis invalidates it there
(`client_cache.py`).

Most changes are likes and saves, and change what is known of one post. Those append the change to the key's value, so
that a process which has read the value before needs to read nothing else anew (`changes_since`). A value without the
entry that was last read means that anything may have changed: the key has expired, or was overwritten.

A process that dies between its commit and the invalidation is covered by the handler of its event. A change without an
event, or one made by hand, is noticed when the cached value expires: nobody may use it for longer than `MAX_AGE_S`.
"""

import os
import struct
import time
from collections.abc import Iterable
from typing import Any, NamedTuple

from redis.exceptions import RedisError

from shardwright.routing import Transaction
from tintype.base.ids import AccountId, PostId
from tintype.base.log import get_log
from tintype.redis.client import Command, RedisClient
from tintype.redis.client_cache import Region
from tintype.redis.tracked_read import TrackedRead

log = get_log("viewer_invalidation")
MAX_AGE_S = 60.0
MARKER_TTL_MS = 100
"""Where anything may have changed the write itself is the signal, so its value may expire at once."""
CHANGES_TTL_S = 240
"""The changes in a key are forgotten at fixed times, so often, however many are added: its length stays bounded."""
ENTRY = struct.Struct(">8sqqb")
"""A random number, which makes each entry different from all others, and a `PostChange`."""
MAX_ENTRIES = 40
"""Of a viewer who has changed more since the last read, everything is read anew."""
UNKNOWN = -1


class PostChange(NamedTuple):
    """What has changed for a viewer about one post."""

    post_id: PostId
    change_id: int = 0
    """Of two changes of one like, the one with the larger id is the later one."""
    is_liked: bool | None = None
    """Whether the viewer likes the post after this change; None where it must be read again, after a save."""


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

    async def announce(self, changes: Iterable[tuple[AccountId, PostChange]]) -> None:
        """`invalidate` for these viewers, for whom nothing but this has changed."""
        commands = [each for viewer, change in changes for each in self.change_commands(viewer, change)]
        try:
            await self._redis_client.execute(*commands)
        except (RedisError, OSError) as error:
            log.warning("viewer_invalidation.failed", error=str(error))

    def commands(self, *viewers: AccountId) -> list[Command]:
        """The commands of `invalidate`, for a caller who sends others in the same round trip."""
        return [("SET", f"{self._prefix}{each}", b"", "PX", MARKER_TTL_MS) for each in viewers]

    def change_commands(self, viewer: AccountId, change: PostChange) -> list[Command]:
        """The commands of `announce`, for a caller who sends others in the same round trip."""
        key, phase = f"{self._prefix}{viewer}", viewer % CHANGES_TTL_S
        ends_at = (int(time.time() - phase) // CHANGES_TTL_S + 2) * CHANGES_TTL_S + phase
        is_liked = UNKNOWN if change.is_liked is None else change.is_liked
        entry = ENTRY.pack(os.urandom(8), change.post_id, change.change_id, is_liked)
        return [("APPEND", key, entry), ("EXPIREAT", key, ends_at)]

    def invalidate_after_commit(self, tx: Transaction, *viewers: AccountId) -> None:
        """Call `invalidate` for these viewers once this transaction has committed."""

        async def after_commit(_server: str) -> None:
            await self.invalidate(*viewers)

        tx.after_commit(after_commit)

    @property
    def is_tracking(self) -> bool:
        """Whether a connection announces changes."""
        return self._redis_client.client_cache.is_tracking

    @property
    def connection_number(self) -> int:
        """Which connection announces changes now; another number means that some may have been missed."""
        return self._redis_client.client_cache.connection_number

    def region(self, max_entries: int) -> Region[int, Any]:
        """The client-side cache for what is made of a viewer's rows, by viewer."""
        return self._redis_client.client_cache.region(self._prefix, int, max_entries)

    def track(self, viewer: AccountId, read: TrackedRead, region: Region[int, Any]) -> None:
        """Have changes of this viewer invalidate the region's entry, from this read on.

        The reply in `TrackedRead.group_replies` is what `changes_since` compares.
        """
        read.add_group(region, viewer, ("GETRANGE", f"{self._prefix}{viewer}", -MAX_ENTRIES * ENTRY.size, -1))


def last_entry(marker: bytes) -> bytes:
    """The entry that a later marker is compared by; empty where none names what changes."""
    return b"" if len(marker) % ENTRY.size else marker[-ENTRY.size :]


def changes_since(entry: bytes, marker: bytes) -> list[PostChange] | None:
    """What has changed for a viewer since this was the last entry; None where anything may have."""
    start, size = len(marker), ENTRY.size
    if not entry or start % size:
        return None
    while marker[start - size : start] != entry:
        start -= size
        if start <= 0:
            return None
    return [
        PostChange(PostId(post), change_id, None if is_liked == UNKNOWN else bool(is_liked))
        for _, post, change_id, is_liked in ENTRY.iter_unpack(marker[start:])
    ]
