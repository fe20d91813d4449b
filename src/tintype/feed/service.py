"""The home feed: pages to read, and the handlers that keep timelines up to date."""

import time
from collections.abc import Callable

from shardwright.routing import Shards
from tintype.accounts import StatusChanged
from tintype.base.ids import AccountId
from tintype.base.jobs import Handler, on
from tintype.base.log import get_log
from tintype.base.outbox import Outbox
from tintype.base.personal_data import PersonalDataHolder
from tintype.feed.celebrities import CelebrityLists, CelebrityRegistry
from tintype.feed.cursors import Mode
from tintype.feed.events import FanOutDue, StarRisen
from tintype.feed.fan_out import FanOut
from tintype.feed.hydrate import Hydrator
from tintype.feed.page_reader import FeedRanker, PageReader
from tintype.feed.pages import FeedPage
from tintype.feed.personal_data import FeedPersonalData
from tintype.feed.post_lists import PostLists
from tintype.feed.timeline_builder import TimelineBuilder
from tintype.feed.timelines import REDIS_AWAY, Timelines
from tintype.graph import FollowChanged, Graph
from tintype.posts import PostPublished
from tintype.redis.client import RedisClient

log = get_log("feed")
PARTS_AT_ONCE = 4
"""Parts of large fan-outs that one worker pushes at a time: enough to be quick, few enough to leave room."""
POSTS_AT_ONCE = 128
"""Posts that one worker fans out at a time: their followers are read together, so many cost little more than few."""
DAY_S = 86_400


class Feed:
    """The home feed."""

    def __init__(
        self,
        shards: Shards,
        outbox: Outbox,
        redis_client: RedisClient,
        *,
        graph: Graph,
        hydrator: Hydrator,
        ranking: FeedRanker,
        namespace: str,
        idle_days: int,
        push_followers: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        ttl_s = idle_days * DAY_S
        builder = TimelineBuilder(shards, graph)
        self._graph = graph
        self._timelines = PostLists(redis_client, f"{namespace}:timeline", ttl_s=ttl_s)
        self._celebrity_lists = CelebrityLists(
            redis_client,
            PostLists(redis_client, f"{namespace}:star", ttl_s=ttl_s),
            builder,
            clock=clock,
        )
        self._celebrities = CelebrityRegistry(shards, outbox, threshold=push_followers)
        self.personal_data: PersonalDataHolder = FeedPersonalData(
            self._timelines, self._celebrity_lists, self._celebrities
        )
        self._fan_out = FanOut(
            shards,
            outbox,
            graph,
            timelines=self._timelines,
            celebrity_lists=self._celebrity_lists,
            celebrities=self._celebrities,
        )
        timelines = Timelines(redis_client, self._timelines, self._celebrity_lists, builder)
        self._pages = PageReader(redis_client, timelines, hydrator, ranking, clock=clock)

    async def read(
        self, viewer: AccountId, *, mode: Mode = "ranked", cursor: str | None = None, limit: int = 20
    ) -> FeedPage:
        """A page of the feed. Unfollowing, muting, blocking and deleting take effect at once."""
        return await self._pages.read(viewer, mode=mode, cursor=cursor, limit=limit)

    async def show_own_post(self, published: PostPublished) -> None:
        """Listener of `posts`: the author's own timeline has the post before the author gets an answer."""
        try:
            await self._fan_out.push_own(published.post_id, published.author_id)
        except REDIS_AWAY as error:  # the event's handler pushes it again
            log.warning("own_post.postponed", post_id=published.post_id, error=str(error))

    async def show_new_followee(self, change: FollowChanged) -> None:
        """Listener of `graph`: the follower's next read rebuilds the timeline, with the posts of the new followee."""
        try:
            await self._timelines.delete(change.follower_id)
        except REDIS_AWAY as error:  # the event's handler deletes it again
            log.warning("followee.postponed", follower_id=change.follower_id, error=str(error))

    async def handle_follow_changed(self, changes: list[FollowChanged]) -> None:
        """Rebuild timelines after follows; after an unfollow only if it is marked with that celebrity."""
        begun = [each for each in changes if each.is_following]
        if begun:
            # Fan-out goes by the followee's side: until that has the follow, a new timeline would miss new posts.
            await self._graph.ensure_mirrored(begun)
            await self._timelines.delete(*{each.follower_id for each in begun})
        for each in changes:
            is_ended = not each.is_following
            if is_ended and not await self._graph.which_followed(each.follower_id, [each.followee_id]):
                await self._timelines.delete_marked(each.follower_id, each.followee_id)

    async def handle_status_changed(self, change: StatusChanged) -> None:
        """Delete the lists of an account that is no longer active."""
        if change.status != "active":
            await self._timelines.delete(change.account_id)
            await self._celebrity_lists.delete(change.account_id)

    def handlers(self) -> list[Handler]:
        """The feed's event handlers."""
        return [
            on(PostPublished, self._fan_out.fan_out, name="feed-fan-out", concurrency=POSTS_AT_ONCE),
            on(FanOutDue, self._fan_out.fan_out_part, name="feed-fan-out-part", concurrency=PARTS_AT_ONCE),
            on(StarRisen, self._fan_out.mark_timelines, name="feed-star-risen", concurrency=PARTS_AT_ONCE),
            on(FollowChanged, self.handle_follow_changed, name="feed-follow-changed", many=True),
            on(StatusChanged, self.handle_status_changed, name="feed-status-changed"),
        ]
