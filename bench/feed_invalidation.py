"""Invalidates a reader's cached feed page, so that the next read has to build it again."""

from tintype.base.ids import LARGEST_ID, AccountId, PostId
from tintype.base.settings import Settings
from tintype.feed.post_lists import PostLists
from tintype.redis.client import RedisClient
from tintype.redis.viewer_invalidation import PostChange, ViewerInvalidation


class FeedInvalidator:
    """Sends the Redis writes of a new post, and of a like by the reader or of its end."""

    def __init__(self, redis: RedisClient, settings: Settings) -> None:
        self._redis, self._viewers = redis, ViewerInvalidation(redis, settings.namespace)
        self._lists = PostLists(
            redis, f"{settings.namespace}:timeline", ttl_s=settings.feed_idle_days * 86_400
        )
        self._newest: dict[AccountId, int] = {}
        self._likes = 0

    async def invalidate(self, reader: AccountId) -> None:
        """Write the timeline (its newest post is set to itself), and change the reader's like of that post."""
        if reader not in self._newest:
            found = await self._lists.read(reader)
            if found is None or not found.ids:
                return
            self._newest[reader] = found.ids[-1]
        newest = self._newest[reader]
        self._likes += 1
        change = PostChange(PostId(newest), LARGEST_ID // 2 + self._likes, self._likes % 2 == 1)
        await self._redis.execute(("LSET", self._lists.key(reader), 0, newest))
        await self._viewers.announce([(reader, change)])
