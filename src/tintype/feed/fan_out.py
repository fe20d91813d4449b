"""Fan-out on write: pushes a post to the timelines of the author's followers.

The job of a new post pushes to the first followers only; the rest is split into parts that are jobs of their own, in a
queue of their own. So a post with many followers is pushed by all workers at once, and never holds up a post with few.
Everything may be repeated: a post that is on a timeline twice is shown once.

Most authors have few followers, so the cost of a post besides pushing is what counts: followers are read for all
running jobs together, one query per server, and the pushes go to Redis in one round trip.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import asyncpg
from prometheus_client import Counter

from shardwright.routing import Shards
from tintype.base.batch_loader import BatchLoader
from tintype.base.ids import LARGEST_ID, AccountId, PostId, has_shard
from tintype.base.log import get_log
from tintype.base.outbox import Outbox
from tintype.feed.celebrities import CelebrityLists, CelebrityRegistry, CelebrityStatus
from tintype.feed.events import FanOutDue, StarRisen
from tintype.feed.post_lists import PostLists
from tintype.feed.store import QUERIES
from tintype.graph import Graph
from tintype.posts import PostPublished

log = get_log("feed")
PART_SIZE = 2_000
PAGE_SIZE = 2_000

entries = Counter("tintype_feed_entries", "Posts pushed to timelines: one for each timeline and post.")


@dataclass(frozen=True)
class FanOutTargets:
    """To whom the posts of an author are fanned out."""

    status: CelebrityStatus
    first_followers: list[AccountId]
    """The first followers in order of id; there are more if these are as many as a part has."""


class FanOut:
    """Pushes posts to timelines, and marks timelines with new celebrities."""

    def __init__(
        self,
        shards: Shards,
        outbox: Outbox,
        graph: Graph,
        *,
        timelines: PostLists,
        celebrity_lists: CelebrityLists,
        celebrities: CelebrityRegistry,
    ) -> None:
        self._shards, self._outbox, self._graph = shards, outbox, graph
        self._timelines, self._celebrity_lists, self._celebrities = timelines, celebrity_lists, celebrities
        self._targets = BatchLoader(self._load_targets)

    async def fan_out(self, published: PostPublished) -> None:
        """Push a post to its author's timeline and own list, and to the first followers; the rest are later parts."""
        post_id, author = published.post_id, published.author_id
        own_keys = [self._celebrity_lists.key(author), self._timelines.key(author)]
        targets = await self._find_targets(author)
        if targets is None or targets.status.is_settled:
            await self._timelines.push(post_id, (), extra_keys=own_keys)
            return
        if len(targets.first_followers) >= PART_SIZE:
            await self._enqueue_parts(post_id, author, after=targets.first_followers[-1])
        entries.inc(await self._timelines.push(post_id, targets.first_followers, extra_keys=own_keys))

    async def fan_out_part(self, part: FanOutDue) -> None:
        """Push a post to the followers of one part."""
        async for page in self._graph.pages_of_followers(
            part.author_id, size=PAGE_SIZE, after=part.after, until=part.until
        ):
            entries.inc(await self._timelines.push(part.post_id, page))

    async def mark_timelines(self, risen: StarRisen) -> None:
        """Mark every timeline that exists with a new celebrity; only then do posts of theirs stop being fanned out."""
        if not await self._celebrities.is_unsettled(risen):
            return
        marked = 0
        async for page in self._graph.pages_of_followers(risen.author_id, size=PAGE_SIZE):
            marked += await self._timelines.mark(risen.author_id, page)
        await self._celebrities.settle(risen)
        log.info("celebrity.added", author_id=risen.author_id, timelines=marked)

    async def push_own(self, post_id: PostId, author: AccountId) -> None:
        """Push a post to its author's own timeline, so that the author sees it at once."""
        await self._timelines.push(post_id, [author])

    async def _find_targets(self, author: AccountId) -> FanOutTargets | None:
        targets = await self._targets.load(author) if has_shard(self._shards, author) else None
        if targets is None:
            return None
        status = await self._celebrities.update_status(author, targets.status)
        if targets.status.is_settled and not status.is_settled:
            return await self._targets.load(author)  # no celebrity any more: their followers were not read
        return targets

    async def _enqueue_parts(self, post_id: PostId, author: AccountId, *, after: int) -> None:
        """Split the followers above this id into parts that are jobs of their own."""
        cuts = await self._graph.split_followers(author, size=PART_SIZE)
        starts = [after, *(each for each in cuts if each > after)]
        parts = [
            FanOutDue(post_id, author, *pair) for pair in zip(starts, [*starts[1:], LARGEST_ID], strict=True)
        ]
        async with self._shards.owner(author).begin() as tx:
            await self._outbox.add(tx, *parts)

    async def _load_targets(self, authors: Sequence[AccountId]) -> dict[AccountId, FanOutTargets | Exception]:
        gathered = await self._shards.gather(QUERIES.gather_fan_out_targets, authors, limit_each=PART_SIZE)
        found: dict[AccountId, FanOutTargets | Exception] = {
            row["author_id"]: _targets(row) for row in gathered
        }
        for author in authors if gathered.failed else ():
            failure = gathered.failed.get(self._shards.map.owners[self._shards.shard_of(author)])
            if failure is not None and author not in found:
                found[author] = failure
        return found


def _targets(row: asyncpg.Record) -> FanOutTargets:
    status = CelebrityStatus(row["follower_count"], row["change_id"], row["is_settled"])
    return FanOutTargets(status, row["followers"] or [])
