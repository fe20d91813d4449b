"""Popular posts: one sorted set in Redis that every interaction updates (see record_interaction.lua).

A post's score is the logarithm of its popularity plus its time in half-lives: so it decays relative to newer posts and
need never be rewritten. If Redis loses the set, it is refilled from the shards.
"""

import asyncio
import math

from shardwright.ids.layout import Layout
from tintype.base.ids import PostId
from tintype.base.log import get_log
from tintype.posts import Posts
from tintype.ranking.keys import MAX_POPULAR, Keys
from tintype.redis.client import Command, RedisClient

log = get_log("ranking")
RECENT_DAYS = 7
REFILL_PER_SHARD = 200
"""Posts of each shard that a refill reads."""
FILLED_TTL_S = 6 * 3_600
FILL_LEASE_S = 20
WAIT_S, WAITS = 0.1, 20
NO_REACTIONS = 0.5
"""The popularity of a post that nobody has reacted to, so that a young community has something to explore, too."""


class PopularPosts:
    """The sorted set of popular posts."""

    def __init__(
        self, redis_client: RedisClient, keys: Keys, posts: Posts, *, layout: Layout, half_life_s: float
    ) -> None:
        self._redis_client, self._keys, self._posts = redis_client, keys, posts
        self._layout, self._half_life_s = layout, half_life_s

    async def read(self, limit: int) -> list[PostId]:
        """The most popular posts first; if the set was lost, one caller refills it while the others wait."""
        for _ in range(WAITS):
            found, is_filled = await self._redis_client.execute(
                ("ZRANGE", self._keys.hot, 0, limit - 1, "REV"), ("EXISTS", self._keys.hot_filled)
            )
            if is_filled or not await self._acquire_fill_lease():
                if is_filled or found:
                    return [PostId(int(each)) for each in found]
                await asyncio.sleep(WAIT_S)
            else:
                await self.refill()
        return []

    async def add(self, *posts: PostId) -> None:
        """Add new posts, before anybody has reacted to them; the least popular posts are evicted."""
        await self._redis_client.execute(
            *(("ZADD", self._keys.hot, "NX", repr(self._score(each, NO_REACTIONS)), each) for each in posts),
            ("ZREMRANGEBYRANK", self._keys.hot, 0, -(MAX_POPULAR + MAX_POPULAR // 8) - 1),
        )

    async def refill(self) -> None:
        """Add the popular posts of the last days from the shards; those in the set keep their scores."""
        found = await self._posts.list_popular(days=RECENT_DAYS, limit_each=REFILL_PER_SHARD)
        commands: list[Command] = []
        for post_id, reactions in found:
            score = self._score(post_id, max(reactions, NO_REACTIONS))
            commands.append(("ZADD", self._keys.hot, "NX", repr(score), post_id))
        commands.append(("SET", self._keys.hot_filled, 1, "EX", FILLED_TTL_S))
        await self._redis_client.execute(*commands)
        log.info("popular.refilled", posts=len(found))

    def _score(self, post_id: PostId, reactions: float) -> float:
        """The score that record_interaction.lua would give if all reactions had come when the post was published."""
        return math.log2(reactions) + self._layout.id_time(post_id).timestamp() / self._half_life_s

    async def _acquire_fill_lease(self) -> bool:
        [is_acquired] = await self._redis_client.execute(
            ("SET", f"{self._keys.hot_filled}:lease", 1, "NX", "EX", FILL_LEASE_S)
        )
        return bool(is_acquired)
