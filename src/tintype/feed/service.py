"""The home feed: pages to read, and the handlers that keep timelines up to date."""

import time
from collections.abc import Callable
from datetime import UTC, datetime

from shardwright.routing import Shards
from tintype.accounts import StatusChanged
from tintype.base.ids import AccountId
from tintype.base.jobs import Handler, on
from tintype.base.log import get_log
from tintype.base.outbox import Outbox
from tintype.base.personal_data import PersonalDataHolder
from tintype.feed.celebrities import CelebrityLists, CelebrityRegistry
from tintype.feed.cursors import Mode
from tintype.feed.events import FanOutDue, StarRisen, TagFollowChanged
from tintype.feed.fan_out import FanOut
from tintype.feed.followed_tags import FollowedTags
from tintype.feed.hydrate import Hydrator
from tintype.feed.page_reader import FeedRanker, PageReader
from tintype.feed.pages import FeedPage
from tintype.feed.personal_data import FeedPersonalData
from tintype.feed.post_lists import PostLists
from tintype.feed.timeline_builder import TimelineBuilder
from tintype.feed.timelines import REDIS_AWAY, Timelines
from tintype.graph import FollowChanged, Graph
from tintype.posts import PostEdited, PostPublished
from tintype.redis.client import Command, RedisClient

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
        tags: FollowedTags,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        ttl_s = idle_days * DAY_S
        builder = TimelineBuilder(shards, graph, tags)
        self._graph, self.tags = graph, tags
        self._timelines = PostLists(redis_client, f"{namespace}:timeline", ttl_s=ttl_s)
        self._celebrity_lists = CelebrityLists(
            redis_client,
            PostLists(redis_client, f"{namespace}:star", ttl_s=ttl_s),
            builder,
            clock=clock,
        )
        self._celebrities = CelebrityRegistry(shards, outbox, threshold=push_followers)
        self.personal_data: PersonalDataHolder = FeedPersonalData(
            self._timelines, self._celebrity_lists, self._celebrities, tags
        )
        self._fan_out = FanOut(
            shards,
            outbox,
            graph,
            timelines=self._timelines,
            celebrity_lists=self._celebrity_lists,
            celebrities=self._celebrities,
        )
        self.reached = self._fan_out.reached
        timelines = Timelines(redis_client, self._timelines, self._celebrity_lists, builder, tags)
        self._pages = PageReader(
            redis_client, timelines, hydrator, ranking, layout=shards.map.layout, clock=clock, now=now
        )

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

    def show_new_followee(self, change: FollowChanged) -> list[Command]:
        """Listener of `graph`: the follower's next read rebuilds the timeline, with the posts of the new followee.

        Where Redis is away, the event's handler deletes the timeline.
        """
        return [self._timelines.delete_command(change.follower_id)]

    async def follow_tag(self, viewer: AccountId, tag: str) -> None:
        """Have the newest public posts with a hashtag in one's feed."""
        await self.tags.follow(viewer, tag)
        await self._forget_timeline(viewer)

    async def unfollow_tag(self, viewer: AccountId, tag: str) -> None:
        """Only posts of those one follows, unless they carry another hashtag that one follows."""
        await self.tags.unfollow(viewer, tag)
        await self._forget_timeline(viewer)

    async def _forget_timeline(self, viewer: AccountId) -> None:
        """The viewer's next read builds the timeline again, marked with other hashtags."""
        try:
            await self._timelines.delete(viewer)
        except REDIS_AWAY as error:  # the event's handler deletes it again
            log.warning("tags.postponed", reader_id=viewer, error=str(error))

    async def handle_tag_changed(self, change: TagFollowChanged) -> None:
        """Rebuild the timeline of somebody who has followed or unfollowed a hashtag."""
        await self._timelines.delete(change.account_id)

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
            on(PostEdited, self._fan_out.handle_edited, name="feed-post-edited"),
            on(TagFollowChanged, self.handle_tag_changed, name="feed-tag-changed"),
            on(FollowChanged, self.handle_follow_changed, name="feed-follow-changed", many=True),
            on(StatusChanged, self.handle_status_changed, name="feed-status-changed"),
        ]
