"""Fanning a post out: pushing it to the timelines of everybody who follows its author.

The job of a new post does no more than the first followers; the rest is cut into parts that are jobs of their own,
with a queue of their own. So a post with many followers is pushed by all workers at once, and never stands in the way
of a post with few. Everything may be repeated: a post that is on a timeline twice is shown once.

Most authors have few followers, so what a post costs besides pushing is what counts: whom to push to is asked for all
jobs under way together, one question per server, and what is pushed goes to Redis in one trip.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import asyncpg
from prometheus_client import Counter

from shardwright.running import Shards
from tintype.base.ids import LARGEST_ID, AccountId, PostId, has_shard
from tintype.base.log import get_log
from tintype.base.outbox import Outbox
from tintype.base.together import Together
from tintype.feed.building import QUERIES
from tintype.feed.events import FanOutDue, StarRisen
from tintype.feed.lists import Lists
from tintype.feed.stars import Standing, StarBook, StarLists
from tintype.graph import Graph
from tintype.posts import PostPublished

log = get_log("feed")
PART = 2_000
PAGE = 2_000

entries = Counter("tintype_feed_entries", "Posts pushed to timelines: one for each timeline and post.")


@dataclass(frozen=True)
class Fans:
    """Where posts of an author go."""

    standing: Standing
    first: list[AccountId]
    """The first followers in order of id; there are more if these are as many as a part has."""


class Fanning:
    """Brings posts, and the news of stars, to timelines."""

    def __init__(
        self, shards: Shards, outbox: Outbox, graph: Graph, *, lists: Lists, stars: StarLists, book: StarBook
    ) -> None:
        self._shards, self._outbox, self._graph = shards, outbox, graph
        self._lists, self._stars, self._book = lists, stars, book
        self._fans = Together(self._gather_fans)

    async def fan_out(self, published: PostPublished) -> None:
        """Bring a post to its author, to the author's own list, and to the first followers; the rest comes later."""
        post_id, author = published.post_id, published.author_id
        own = [self._stars.key(author), self._lists.key(author)]
        fans = await self._find_fans(author)
        if fans is None or fans.standing.is_settled:
            await self._lists.push(post_id, (), before=own)
            return
        if len(fans.first) >= PART:
            await self._put_off(post_id, author, after=fans.first[-1])
        entries.inc(await self._lists.push(post_id, fans.first, before=own))

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

    async def _find_fans(self, author: AccountId) -> Fans | None:
        fans = await self._fans.find(author) if has_shard(self._shards, author) else None
        if fans is None:
            return None
        standing = await self._book.cross(author, fans.standing)
        if fans.standing.is_settled and not standing.is_settled:
            return await self._fans.find(author)  # a star that has just fallen, whose followers were not read
        return fans

    async def _put_off(self, post_id: PostId, author: AccountId, *, after: int) -> None:
        """The followers from here on are parts for later."""
        cuts = await self._graph.cut_followers(author, size=PART)
        starts = [after, *(each for each in cuts if each > after)]
        parts = [
            FanOutDue(post_id, author, *pair) for pair in zip(starts, [*starts[1:], LARGEST_ID], strict=True)
        ]
        async with self._shards.owner(author).begin() as tx:
            await self._outbox.add(tx, *parts)

    async def _gather_fans(self, authors: Sequence[AccountId]) -> dict[AccountId, Fans | Exception]:
        gathered = await self._shards.gather(QUERIES.gather_fans, authors, limit_each=PART)
        found: dict[AccountId, Fans | Exception] = {row["author_id"]: _fans(row) for row in gathered}
        for author in authors if gathered.failed else ():
            failure = gathered.failed.get(self._shards.map.owners[self._shards.shard_of(author)])
            if failure is not None and author not in found:
                found[author] = failure
        return found


def _fans(row: asyncpg.Record) -> Fans:
    standing = Standing(row["follower_count"], row["change_id"], row["is_settled"])
    return Fans(standing, row["followers"] or [])
