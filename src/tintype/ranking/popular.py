"""The posts that many react to just now, in one sorted set that every reaction moves (see note.lua).

A post's score is the logarithm of what is going on around it plus its time in half-lives: so it fades by itself and
need never be rewritten. What is lost is found again on the shards.
"""

import asyncio
import math

from shardwright.ids.layout import Layout
from tintype.base.ids import PostId
from tintype.base.log import get_log
from tintype.base.wire import Command, Wire
from tintype.posts import Posts
from tintype.ranking.keys import MOST_HOT, Keys

log = get_log("ranking")
RECENT_DAYS = 7
FOUND_EACH = 200
"""Posts of each shard that are put back."""
KEEP_FILLED_S = 6 * 3_600
FILL_PATIENCE_S = 20
WAIT_S, WAITS = 0.1, 20
QUIET = 0.5
"""What a post is worth that nobody has reacted to: a young community has something to explore, too."""


class Popular:
    """The sorted set."""

    def __init__(self, wire: Wire, keys: Keys, posts: Posts, *, layout: Layout, half_life_s: float) -> None:
        self._wire, self._keys, self._posts = wire, keys, posts
        self._layout, self._half_life_s = layout, half_life_s

    async def read(self, limit: int) -> list[PostId]:
        """The most popular first; found again first, by one reader, where they were lost."""
        for _ in range(WAITS):
            found, is_filled = await self._wire.ask(
                ("ZRANGE", self._keys.hot, 0, limit - 1, "REV"), ("EXISTS", self._keys.hot_filled)
            )
            if is_filled or not await self._may_fill():
                if is_filled or found:
                    return [PostId(int(each)) for each in found]
                await asyncio.sleep(WAIT_S)
            else:
                await self.refill()
        return []

    async def add(self, post_id: PostId) -> None:
        """A new post can be found before anybody has reacted to it; the least popular make room."""
        await self._wire.ask(
            ("ZADD", self._keys.hot, "NX", repr(self._score(post_id, QUIET)), post_id),
            ("ZREMRANGEBYRANK", self._keys.hot, 0, -(MOST_HOT + MOST_HOT // 8) - 1),
        )

    async def refill(self) -> None:
        """Put the popular posts of the last days back where nobody knows them; what is known stays."""
        found = await self._posts.popular(days=RECENT_DAYS, limit_each=FOUND_EACH)
        commands: list[Command] = []
        for post_id, reactions in found:
            score = self._score(post_id, max(reactions, QUIET))
            commands.append(("ZADD", self._keys.hot, "NX", repr(score), post_id))
        commands.append(("SET", self._keys.hot_filled, 1, "EX", KEEP_FILLED_S))
        await self._wire.ask(*commands)
        log.info("popular.refilled", posts=len(found))

    def _score(self, post_id: PostId, reactions: float) -> float:
        """As note.lua has it, if all reactions came when the post was made."""
        return math.log2(reactions) + self._layout.id_time(post_id).timestamp() / self._half_life_s

    async def _may_fill(self) -> bool:
        [taken] = await self._wire.ask(
            ("SET", f"{self._keys.hot_filled}:lease", 1, "NX", "EX", FILL_PATIENCE_S)
        )
        return bool(taken)
