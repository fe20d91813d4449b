"""Reads pages of the feed, ranked or newest first.

Whoever reads the feed again soon mostly gets the same page. So a first page is cached with the objects it was built
from, and returned again while all of those are in the client-side cache and the very same (`redis/client_cache.py`). A
ranked order expires by itself.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Protocol

from prometheus_client import Counter

from tintype.base.bounded_map import BoundedMap
from tintype.base.ids import AccountId, PostId
from tintype.base.log import get_log
from tintype.feed.cursors import START, FeedCursor, Mode, decode, encode
from tintype.feed.hydrate import Hydrator
from tintype.feed.merged_timeline import MergedTimeline
from tintype.feed.pages import CachedPage, FeedPage, PageBuilder
from tintype.feed.timelines import REDIS_AWAY, Timelines
from tintype.ranking import ViewerFeatures
from tintype.redis.client import RedisClient
from tintype.redis.tracked_read import TrackedRead

log = get_log("feed")
WINDOW = 100
"""How many of the newest posts are ranked against each other; older ones wait for their own window."""
MIN_BATCH = 5
PAGE_TTL_S = 5.0
"""For how long an order is good: as long as ranking uses post features without reading them again."""
MAX_CACHED_PAGES = 2_000

pages = Counter("tintype_feed_pages", "Pages of the feed, built (anew) or from the cache (again).", ["given"])
_pages_built, _pages_from_cache = pages.labels("anew"), pages.labels("again")


class FeedRanker(Protocol):
    """What the feed needs of ranking."""

    def add_to_read(self, viewer: AccountId, read: TrackedRead) -> None:
        """Add the commands for the viewer's features."""
        ...

    async def from_read(self, viewer: AccountId, read: TrackedRead) -> ViewerFeatures:
        """The viewer's features, after the read."""
        ...

    async def order(
        self, viewer: AccountId, candidates: Sequence[PostId], features: ViewerFeatures
    ) -> list[PostId]:
        """The candidates, best first."""
        ...


class PageReader:
    """Reads pages, and caches first pages in this process."""

    def __init__(
        self,
        redis_client: RedisClient,
        timelines: Timelines,
        hydrator: Hydrator,
        ranking: FeedRanker,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._redis_client, self._timelines, self._hydrator = redis_client, timelines, hydrator
        self._ranking, self._clock = ranking, clock
        self._cached_pages: BoundedMap[AccountId, CachedPage] = BoundedMap(MAX_CACHED_PAGES)

    async def read(self, viewer: AccountId, *, mode: Mode, cursor: str | None, limit: int) -> FeedPage:
        """A page of the feed, of what the viewer may see now, whatever the timeline still holds."""
        start = decode(viewer, mode, cursor)
        builder = await self._begin(viewer, mode, limit, is_first=start is START)
        cached = self._find_cached(builder) if start is START else None
        if cached is not None:
            _pages_from_cache.inc()
            return cached.page
        _pages_built.inc()
        fill = self._fill_ranked if mode == "ranked" else self._fill_following
        following = await fill(builder, start)
        page = FeedPage(builder.entries[:limit], encode(viewer, mode, following) if following else None)
        if start is START and self._redis_client.client_cache.is_tracking:
            self._cached_pages[viewer] = CachedPage(builder, page, self._clock() + PAGE_TTL_S)
        return page

    async def _begin(self, viewer: AccountId, mode: Mode, limit: int, *, is_first: bool) -> PageBuilder:
        """Read what a page is built from: one round trip, even where everything is in the client-side cache."""
        # A ranked page leaves what it did not find to the next one, which reads everything between the same bounds.
        is_ranked, only_head = mode == "ranked", is_first and mode == "ranked"
        try:
            with closing(TrackedRead(self._redis_client)) as read:
                self._timelines.add_to_read(viewer, read, only_head=only_head)
                self._hydrator.add_to_read(viewer, read)
                if is_ranked:
                    self._ranking.add_to_read(viewer, read)
                await read.execute()
                self._hydrator.from_read(viewer, read)
                features = await self._ranking.from_read(viewer, read) if is_ranked else None
                timeline = await self._timelines.from_read(viewer, read, only_head=only_head)
                return PageBuilder(viewer, mode, limit, timeline, features)
        except REDIS_AWAY as error:
            return PageBuilder(viewer, mode, limit, await self._timelines.read_from_shards(viewer, error))

    async def _fill_following(self, builder: PageBuilder, cursor: FeedCursor) -> FeedCursor | None:
        """Fill the page newest first; returns where the next page begins, None at the end."""
        highest, timeline = cursor.highest, builder.timeline
        while builder.room_left > 0:
            batch = timeline.newest(highest, max(MIN_BATCH, builder.room_left))
            if not batch:
                return None
            builder.add(await self._hydrator.hydrate(builder.viewer, batch))
            highest = batch[-1] - 1
        last = builder.entries[builder.limit - 1].id
        return FeedCursor(last - 1) if timeline.has_older(last) else None

    async def _fill_ranked(self, builder: PageBuilder, cursor: FeedCursor) -> FeedCursor | None:
        """Fill the page window by window, best first in each; returns where the next page begins, None at the end."""
        timeline = builder.timeline
        while builder.room_left > 0:
            if timeline.is_head and cursor is not START:
                timeline = await self._timelines.read(builder.viewer)
            cursor, unserved = _window(timeline, cursor)
            if not cursor.lowest:
                return None
            order = await self._order(builder, unserved)
            while order and builder.room_left > 0:
                batch, order = order[: builder.room_left], order[builder.room_left :]
                builder.add(await self._hydrator.hydrate(builder.viewer, batch))
                cursor = FeedCursor(cursor.highest, cursor.lowest, cursor.served.union(batch))
            if not order:
                cursor = FeedCursor(cursor.lowest - 1)
        has_more = cursor.lowest > 0 or timeline.has_older(cursor.highest + 1)
        return cursor if has_more else None

    async def _order(self, builder: PageBuilder, ids: Sequence[PostId]) -> list[PostId]:
        """Best first; newest first while Redis is away."""
        if builder.features is None or not ids:
            return list(ids)
        try:
            return await self._ranking.order(builder.viewer, ids, builder.features)
        except REDIS_AWAY as error:
            log.warning("ranking.unavailable", reader_id=builder.viewer, error=str(error))
            return list(ids)

    def _find_cached(self, builder: PageBuilder) -> CachedPage | None:
        cached = self._cached_pages.get(builder.viewer)
        if cached is None or not cached.is_usable(builder, self._clock()):
            return None
        return cached if all(map(self._hydrator.is_current, cached.builder.hydrated)) else None


def _window(timeline: MergedTimeline, cursor: FeedCursor) -> tuple[FeedCursor, list[PostId]]:
    """The window a page begins in, and which of its ids are unserved; one still to be chosen takes the newest below."""
    if cursor.lowest:
        inside = timeline.between(cursor.lowest, cursor.highest)
        return cursor, [each for each in inside if each not in cursor.served]
    inside = timeline.newest(cursor.highest, WINDOW)
    # Its bounds are those of what is there now: what arrives above them later is not part of this scroll.
    return (FeedCursor(inside[0], inside[-1]) if inside else cursor), inside
