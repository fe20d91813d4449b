"""Fan-out on write: pushes a post to the timelines of the author's followers.

The job of a new post pushes to the first followers only; the rest is split into parts that are jobs of their own, in a
queue of their own. So a post with many followers is pushed by all workers at once, and never holds up a post with few.
Everything may be repeated: a post that is on a timeline twice is shown once.

Most authors have few followers, so the cost of a post besides pushing is what counts: followers are read for all
running jobs together, one query per shard, and the pushes go to Redis in one round trip.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import asyncpg
from prometheus_client import Counter

from shardwright.routing import Shard, Shards
from tintype.base.batch_loader import BatchLoader
from tintype.base.ids import LARGEST_ID, AccountId, PostId, has_shard
from tintype.base.listeners import Listeners
from tintype.base.log import get_log
from tintype.base.outbox import Outbox
from tintype.base.shard_groups import run_by_shard
from tintype.feed.celebrities import CelebrityLists, CelebrityRegistry, CelebrityStatus
from tintype.feed.events import FanOutDue, StarRisen
from tintype.feed.followed_tags import tag_list_id
from tintype.feed.post_lists import PostLists
from tintype.feed.store import QUERIES
from tintype.graph import Graph
from tintype.posts import PostEdited, PostPublished

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
    is_private: bool = False


@dataclass(frozen=True)
class TimelinesReached:
    """A post was pushed to the timelines of these followers, as far as those exist."""

    post_id: PostId
    followers: Sequence[AccountId]


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
        self.reached: Listeners[TimelinesReached] = Listeners()

    async def fan_out(self, published: PostPublished) -> None:
        """Push a post to its author's timeline and own list, and to the first followers; the rest are later parts."""
        post_id, author = published.post_id, published.author_id
        own_keys = [self._celebrity_lists.key(author), self._timelines.key(author)]
        targets = await self._find_targets(author)
        if published.hashtags and targets is not None and not targets.is_private:
            await self._push_to_tags(post_id, published.hashtags)
        if targets is None or targets.status.is_settled:
            await self._timelines.push(post_id, (), extra_keys=own_keys)
            return
        if len(targets.first_followers) >= PART_SIZE:
            await self._enqueue_parts(post_id, author, after=targets.first_followers[-1])
        entries.inc(await self._timelines.push(post_id, targets.first_followers, extra_keys=own_keys))
        await self.reached.notify(TimelinesReached(post_id, targets.first_followers))

    async def handle_edited(self, edited: PostEdited) -> None:
        """A caption may have new hashtags; of those it has lost, hydration drops the post."""
        targets = await self._find_targets(edited.author_id) if edited.hashtags else None
        if targets is not None and not targets.is_private:
            await self._push_to_tags(edited.post_id, edited.hashtags)

    async def _push_to_tags(self, post_id: PostId, hashtags: Sequence[str]) -> None:
        """Push a post to the lists of its hashtags; one that nobody who reads follows has none."""
        await self._celebrity_lists.push(post_id, [tag_list_id(each) for each in hashtags])

    async def fan_out_part(self, part: FanOutDue) -> None:
        """Push a post to the followers of one part."""
        async for page in self._graph.pages_of_followers(
            part.author_id, size=PAGE_SIZE, after=part.after, until=part.until
        ):
            entries.inc(await self._timelines.push(part.post_id, page))
            await self.reached.notify(TimelinesReached(part.post_id, page))

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
        found: dict[AccountId, FanOutTargets | Exception] = {}

        async def load(shard: Shard, own: list[AccountId]) -> None:
            try:
                rows = await shard.fetch(QUERIES.gather_fan_out_targets, ids=own, limit_each=PART_SIZE)
            except Exception as error:  # noqa: BLE001 - raised for the authors of this shard, and for no others
                found.update(dict.fromkeys(own, error))
            else:
                found.update({row["author_id"]: _targets(row) for row in rows})

        await run_by_shard(self._shards, authors, int, load)
        return found


def _targets(row: asyncpg.Record) -> FanOutTargets:
    status = CelebrityStatus(row["follower_count"], row["change_id"], row["is_settled"])
    return FanOutTargets(status, row["followers"] or [], row["is_private"])
