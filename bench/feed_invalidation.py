"""Invalidates a reader's cached feed page, so that the next read has to build it again."""

from tintype.base.ids import AccountId
from tintype.base.settings import Settings
from tintype.feed.post_lists import PostLists
from tintype.redis.client import RedisClient
from tintype.redis.viewer_invalidation import ViewerInvalidation


class FeedInvalidator:
    """Sends the Redis writes of a new post and of a like by the reader, without changing the content of the page."""

    def __init__(self, redis: RedisClient, settings: Settings) -> None:
        self._redis, self._viewers = redis, ViewerInvalidation(redis, settings.namespace)
        self._lists = PostLists(
            redis, f"{settings.namespace}:timeline", ttl_s=settings.feed_idle_days * 86_400
        )
        self._newest: dict[AccountId, int] = {}

    async def invalidate(self, reader: AccountId) -> None:
        """Write the timeline (its newest post is set to itself) and invalidate the viewer's state."""
        if reader not in self._newest:
            found = await self._lists.read(reader)
            if found is None:
                return
            self._newest[reader] = found.ids[-1]
        await self._redis.execute(("LSET", self._lists.key(reader), 0, self._newest[reader]))
        await self._viewers.invalidate(reader)
