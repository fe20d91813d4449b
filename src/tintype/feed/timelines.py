"""A reader's timeline: from Redis, or built from the shards by one of the readers who want it."""

import asyncio
from contextlib import closing

from prometheus_client import Counter
from redis.exceptions import RedisError

from tintype.base.bounded_map import BoundedMap
from tintype.base.ids import AccountId
from tintype.base.log import get_log
from tintype.feed.celebrities import CelebrityLists
from tintype.feed.followed_tags import FollowedTags
from tintype.feed.merged_timeline import MergedTimeline
from tintype.feed.post_lists import PostList, PostLists
from tintype.feed.timeline_builder import BuiltTimeline, TimelineBuilder
from tintype.redis.client import RedisClient
from tintype.redis.tracked_read import TrackedRead

log = get_log("feed")
REDIS_AWAY = (RedisError, OSError)
WAIT_FOR_BUILD_S = 2.0
"""How long to wait while somebody else builds the same timeline, before building it for this request alone."""
FIRST_PAUSE_S = 0.01
MAX_REMEMBERED = 50_000

rebuilds = Counter("tintype_timeline_rebuilds", "Timelines built from the shards.", ["kept"])


class Timelines:
    """The timelines of one installation."""

    def __init__(
        self,
        redis_client: RedisClient,
        lists: PostLists,
        celebrity_lists: CelebrityLists,
        builder: TimelineBuilder,
        tags: FollowedTags,
    ) -> None:
        self._redis_client, self._lists, self._tags = redis_client, lists, tags
        self._celebrity_lists, self._builder = celebrity_lists, builder
        self._last_celebrities: BoundedMap[AccountId, tuple[AccountId, ...]] = BoundedMap(MAX_REMEMBERED)

    def add_to_read(self, viewer: AccountId, read: TrackedRead, *, only_head: bool = False) -> None:
        """Add the commands for a timeline and its celebrities' lists, as far as they are not cached in this process.

        With `only_head`, only the newest part of the timeline itself. Which celebrities it is marked with is known only
        after the read, so the lists of those it was marked with last time are read along.
        """
        self._lists.add_to_read(viewer, read, only_head=only_head)
        self._celebrity_lists.add_to_read(self._last_celebrities.get(viewer, ()), read)

    async def from_read(
        self, viewer: AccountId, read: TrackedRead, *, only_head: bool = False
    ) -> MergedTimeline:
        """The viewer's timeline merged with its celebrities' lists: no further round trip when all is warm."""
        found = await self._lists.from_read(viewer, read, only_head=only_head)
        if found is None or not found.is_ready or self._lists.is_extension_due(viewer):
            found = await self._get_ready(viewer, found)
        celebrities = found.celebrities
        if celebrities and min(celebrities) < 0:
            await self._tags.learn_names(viewer, celebrities)
        lists = await self._celebrity_lists.from_read(celebrities, read)
        if found.celebrities != self._last_celebrities.get(viewer, ()):
            self._last_celebrities[viewer] = found.celebrities
        tag_lists = [ids for each, ids in zip(celebrities, lists, strict=True) if each < 0]
        own_lists = (
            [ids for each, ids in zip(celebrities, lists, strict=True) if each > 0] if tag_lists else lists
        )
        return MergedTimeline([found.ids, *own_lists], is_head=found.is_head, tag_lists=tag_lists)

    async def read(self, viewer: AccountId) -> MergedTimeline:
        """The viewer's whole timeline; built from the shards while Redis is away."""
        try:
            with closing(TrackedRead(self._redis_client)) as read:
                self.add_to_read(viewer, read)
                await read.execute()
                return await self.from_read(viewer, read)
        except REDIS_AWAY as error:
            return await self.read_from_shards(viewer, error)

    async def read_from_shards(self, viewer: AccountId, error: Exception) -> MergedTimeline:
        """The viewer's timeline while Redis is away: built from the shards, and not stored."""
        log.warning("timeline.unavailable", reader_id=viewer, error=str(error))
        built = await self._builder.build_timeline(viewer)
        return MergedTimeline([built.ids[::-1]])

    async def _get_ready(self, viewer: AccountId, found: PostList | None) -> PostList:
        """The list once it is ready, whoever builds it."""
        waited_s, pause_s = 0.0, FIRST_PAUSE_S
        while waited_s < WAIT_FOR_BUILD_S:
            if found is not None and found.is_ready:
                await self._lists.extend(viewer)
                return found
            if found is None:
                token = (await self._lists.begin_build(viewer)).get(viewer)
                if token is not None:
                    return await self._build(viewer, token)
            await asyncio.sleep(pause_s)
            waited_s, pause_s = waited_s + pause_s, pause_s * 2
            found = await self._lists.read(viewer)
        rebuilds.labels("no").inc()
        return _as_list(await self._builder.build_timeline(viewer))

    async def _build(self, viewer: AccountId, token: str) -> PostList:
        try:
            built = await self._builder.build_timeline(viewer)
        except BaseException:
            await self._lists.abandon_build(viewer, token)
            raise
        is_stored = built.is_complete and await self._lists.fill(viewer, token, built.ids, built.celebrities)
        if not built.is_complete:
            await self._lists.abandon_build(viewer, token)
        rebuilds.labels("yes" if is_stored else "no").inc()
        log.info("timeline.rebuilt", reader_id=viewer, entries=len(built.ids), is_stored=is_stored)
        return _as_list(built)


def _as_list(built: BuiltTimeline) -> PostList:
    return PostList(list(built.ids[::-1]), built.celebrities)
