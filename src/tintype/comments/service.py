"""What people say under posts."""

from pathlib import Path

from shardwright.running import Queries, Shards
from tintype.base.cache import Cache
from tintype.base.jobs import Handler, Schedule
from tintype.base.limits import Limiter
from tintype.base.outbox import Outbox
from tintype.graph import Sight
from tintype.posts import Posts

QUERIES = Queries.load(Path(__file__).with_name("queries.sql"))


class Comments:
    """What people say under posts."""

    def __init__(
        self, shards: Shards, outbox: Outbox, sight: Sight, posts: Posts, *, limiter: Limiter, cache: Cache
    ) -> None:
        self._shards, self._outbox, self._sight, self._posts, self._limiter, self._cache = (
            shards,
            outbox,
            sight,
            posts,
            limiter,
            cache,
        )

    def handlers(self) -> list[Handler]:
        """What this room does when something has happened."""
        return []

    def schedules(self) -> list[Schedule]:
        """What this room repeats by the clock."""
        return []
