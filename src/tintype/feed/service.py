"""The feed as others use it: pages to read, and what keeps timelines up to date."""

import time
from collections.abc import AsyncIterator, Callable

from shardwright.running import Shards
from tintype.accounts import StatusChanged
from tintype.base.belongings import Record
from tintype.base.ids import AccountId
from tintype.base.jobs import Handler, on
from tintype.base.log import get_log
from tintype.base.outbox import Outbox
from tintype.base.wire import Wire
from tintype.feed.building import Building
from tintype.feed.cursors import Mode
from tintype.feed.events import FanOutDue, StarRisen
from tintype.feed.fanning import Fanning
from tintype.feed.lists import Lists
from tintype.feed.reading import FeedPage, Ranker, Reading
from tintype.feed.stars import StarBook, StarLists
from tintype.feed.timelines import REDIS_AWAY, Timelines
from tintype.feed.visible import Visible
from tintype.graph import FollowChanged, Graph
from tintype.posts import PostPublished, Posts

log = get_log("feed")
PARTS_AT_ONCE = 4
"""Parts of large fan-outs that one worker pushes at a time: enough to be quick, few enough to leave room."""
POSTS_AT_ONCE = 128
"""Posts that one worker has under way: whom they go to is asked together, so many cost little more than few."""
DAY_S = 86_400


class Feed:
    """The home feed."""

    def __init__(
        self,
        shards: Shards,
        outbox: Outbox,
        wire: Wire,
        *,
        graph: Graph,
        posts: Posts,
        visible: Visible,
        ranking: Ranker,
        namespace: str,
        idle_days: int,
        push_followers: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        building = Building(shards, graph)
        self._graph = graph
        self._lists = Lists(wire, f"{namespace}:timeline", keep_s=idle_days * DAY_S)
        self._stars = StarLists(
            wire, Lists(wire, f"{namespace}:star", keep_s=idle_days * DAY_S), building, clock=clock
        )
        self._book = StarBook(shards, outbox, rises_at=push_followers)
        self._fanning = Fanning(shards, outbox, graph, lists=self._lists, stars=self._stars, book=self._book)
        timelines = Timelines(wire, self._lists, self._stars, building)
        self._reading = Reading(wire, timelines, visible, ranking, clock=clock)
        posts.listen(self._show_own)
        graph.listen(self._show_followee)

    async def read(
        self, viewer: AccountId, *, mode: Mode = "ranked", cursor: str | None = None, limit: int = 20
    ) -> FeedPage:
        """A page of the feed. Unfollowing, muting, blocking and removing show at once."""
        return await self._reading.read(viewer, mode=mode, cursor=cursor, limit=limit)

    async def follow_changed(self, change: FollowChanged) -> None:
        """A new followee's posts show from the next read on; a star no longer followed is no longer read."""
        follower, followee = change.follower_id, change.followee_id
        if change.is_following:
            # What is pushed goes by the followee's side: until it knows, a new timeline would miss what is new.
            await self._graph.settle(change)
            await self._lists.drop(follower)
        elif not await self._graph.which_followed(follower, [followee]):
            await self._lists.drop_marked(follower, followee)

    async def status_changed(self, change: StatusChanged) -> None:
        """Nothing is kept ready for somebody who does not come."""
        if change.status != "active":
            await self._forget(change.account_id)

    def export(self, account_id: AccountId) -> AsyncIterator[Record]:
        """A feed is made of what others keep."""
        return _nothing(account_id)

    async def erase(self, account_id: AccountId) -> int:
        """Let go of timeline and stardom."""
        await self._forget(account_id)
        return await self._book.forget(account_id)

    async def count_left(self, account_id: AccountId) -> int:
        """What is kept of somebody for good."""
        return await self._book.count(account_id)

    def handlers(self) -> list[Handler]:
        """What the feed does when something has happened."""
        return [
            on(PostPublished, self._fanning.fan_out, name="feed-fan-out", concurrency=POSTS_AT_ONCE),
            on(FanOutDue, self._fanning.fan_out_part, name="feed-fan-out-part", concurrency=PARTS_AT_ONCE),
            on(StarRisen, self._fanning.tell_of_star, name="feed-star-risen", concurrency=PARTS_AT_ONCE),
            on(FollowChanged, self.follow_changed, name="feed-follow-changed"),
            on(StatusChanged, self.status_changed, name="feed-status-changed"),
        ]

    async def _forget(self, account_id: AccountId) -> None:
        await self._lists.drop(account_id)
        await self._stars.drop(account_id)

    async def _show_own(self, published: PostPublished) -> None:
        try:
            await self._fanning.push_own(published.post_id, published.author_id)
        except REDIS_AWAY as error:  # the event pushes it again
            log.warning("own_post.postponed", post_id=published.post_id, error=str(error))

    async def _show_followee(self, change: FollowChanged) -> None:
        try:
            await self._lists.drop(change.follower_id)
        except REDIS_AWAY as error:  # the event drops it again
            log.warning("followee.postponed", follower_id=change.follower_id, error=str(error))


async def _nothing(_account_id: AccountId) -> AsyncIterator[Record]:
    for record in ():
        yield record
