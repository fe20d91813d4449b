"""Fanning a post out: pushing it to the timelines of everybody who follows its author.

The job of a new post does no more than the first followers; the rest is cut into parts that are jobs of their own,
with a queue of their own. So a post with many followers is pushed by all workers at once, and never stands in the way
of a post with few. Everything may be repeated: a post that is on a timeline twice is shown once.
"""

from prometheus_client import Counter

from shardwright.running import Shards
from tintype.base.ids import LARGEST_ID, AccountId, PostId
from tintype.base.log import get_log
from tintype.base.outbox import Outbox
from tintype.feed.events import FanOutDue, StarRisen
from tintype.feed.lists import Lists
from tintype.feed.stars import StarBook, StarLists
from tintype.graph import Graph
from tintype.posts import PostPublished

log = get_log("feed")
PART = 2_000
PAGE = 1_000

entries = Counter("tintype_feed_entries", "Posts pushed to timelines: one for each timeline and post.")


class Fanning:
    """Brings posts, and the news of stars, to timelines."""

    def __init__(
        self, shards: Shards, outbox: Outbox, graph: Graph, *, lists: Lists, stars: StarLists, book: StarBook
    ) -> None:
        self._shards, self._outbox, self._graph = shards, outbox, graph
        self._lists, self._stars, self._book = lists, stars, book

    async def fan_out(self, published: PostPublished) -> None:
        """Bring a post to its author, to the author's own list, and to the first followers; the rest comes later."""
        post_id, author = published.post_id, published.author_id
        await self._lists.push(post_id, [author])
        await self._stars.push(post_id, author)
        standing = await self._book.find(author)
        if standing is None or standing.is_settled:
            return
        cuts = await self._graph.cut_followers(author, size=PART) if standing.follower_count > PART else []
        if cuts:
            ends = [*cuts[1:], LARGEST_ID]
            parts = [FanOutDue(post_id, author, *pair) for pair in zip(cuts, ends, strict=True)]
            async with self._shards.owner(author).begin() as tx:
                await self._outbox.add(tx, *parts)
        await self.fan_out_part(FanOutDue(post_id, author, 0, cuts[0] if cuts else LARGEST_ID))

    async def fan_out_part(self, part: FanOutDue) -> None:
        """Bring a post to some of the followers."""
        async for page in self._graph.pages_of_followers(
            part.author_id, size=PAGE, after=part.after, until=part.until
        ):
            entries.inc(await self._lists.push(part.post_id, page))

    async def tell_of_star(self, risen: StarRisen) -> None:
        """Every timeline that exists knows of the star; only then are the star's posts held back."""
        if not await self._book.is_rising(risen):
            return
        marked = 0
        async for page in self._graph.pages_of_followers(risen.author_id, size=PAGE):
            marked += await self._lists.mark(risen.author_id, page)
        await self._book.settle(risen)
        log.info("star.risen", author_id=risen.author_id, timelines=marked)

    async def push_own(self, post_id: PostId, author: AccountId) -> None:
        """An author sees their own post at once."""
        await self._lists.push(post_id, [author])
