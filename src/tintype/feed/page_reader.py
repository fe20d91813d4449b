"""Reads pages of the feed, ranked or newest first.

Whoever reads the feed again soon mostly gets the same page. So a first page is cached with the objects it was built
from, and returned again while all of those are in the client-side cache and the very same (`redis/client_cache.py`). A
ranked order expires by itself. Until then it is used again where something else about the page has changed.

Above the ranked posts are new ones that the reader has not seen (`new_posts.py`).
"""

import time
from bisect import bisect_right
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import UTC, datetime
from operator import neg
from typing import Protocol

from prometheus_client import Counter

from shardwright.ids import Layout
from tintype.base.bounded_map import BoundedMap
from tintype.base.ids import AccountId, PostId
from tintype.base.log import get_log
from tintype.feed.cursors import START, FeedCursor, Mode, decode, encode
from tintype.feed.hydrate import Hydrator
from tintype.feed.hydrated import Hydrated
from tintype.feed.merged_timeline import MergedTimeline
from tintype.feed.new_posts import new_from
from tintype.feed.pages import CachedPage, FeedPage, PageBuilder, RankedWindow
from tintype.feed.timelines import REDIS_AWAY, Timelines
from tintype.ranking import ViewerFeatures
from tintype.redis.client import RedisClient
from tintype.redis.tracked_read import TrackedRead

log = get_log("feed")
WINDOW = 100
"""How many of the newest posts are ranked against each other; older ones wait for their own window."""
MAX_WINDOW = 2 * WINDOW
"""How far a window grows where one author has most of it: a cursor holds the ids that were served of it."""
MIN_BATCH = 5
MAX_WAITING = 5
"""When so many posts were put aside, and as many as the page has room for, no more of their author's are tried."""
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
        """The candidates that are not the viewer's own, best first."""
        ...

    async def find_authors(self, ids: Sequence[PostId]) -> list[AccountId]:
        """Who published each of these posts; 0 where that is not known."""
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
        layout: Layout,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._redis_client, self._timelines, self._hydrator = redis_client, timelines, hydrator
        self._ranking, self._layout, self._clock, self._now = ranking, layout, clock, now
        self._cached_pages: BoundedMap[AccountId, CachedPage] = BoundedMap(MAX_CACHED_PAGES)
        self._windows: BoundedMap[AccountId, RankedWindow] = BoundedMap(MAX_CACHED_PAGES)

    async def read(self, viewer: AccountId, *, mode: Mode, cursor: str | None, limit: int) -> FeedPage:
        """A page of the feed, of what the viewer may see now, whatever the timeline still holds."""
        start = decode(viewer, mode, cursor)
        builder = await self._begin(viewer, mode, limit, is_first=start is START)
        cached = self._find_cached(builder) if start is START else None
        if cached is not None:
            _pages_from_cache.inc()
            return cached.page
        _pages_built.inc()
        builder.new_from, builder.is_first = new_from(self._layout, self._now()), start is START
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
                state = self._hydrator.from_read(viewer, read)
                features = await self._ranking.from_read(viewer, read) if is_ranked else None
                timeline = await self._timelines.from_read(viewer, read, only_head=only_head)
                return PageBuilder(viewer, mode, limit, timeline, features, state)
        except REDIS_AWAY as error:
            return PageBuilder(viewer, mode, limit, await self._timelines.read_from_shards(viewer, error))

    async def _hydrate(self, builder: PageBuilder, batch: Sequence[PostId]) -> Hydrated:
        cached = self._cached_pages.get(builder.viewer)
        last = cached.builder.hydrated if cached is not None else ()
        return await self._hydrator.hydrate(
            builder.viewer, batch, has_tags=builder.timeline.has_tags, state=builder.viewer_state, last=last
        )

    async def _fill_following(self, builder: PageBuilder, cursor: FeedCursor) -> FeedCursor | None:
        """Fill the page newest first; returns where the next page begins, None at the end."""
        highest, timeline = cursor.highest, builder.timeline
        while builder.room_left > 0:
            batch = timeline.newest(highest, max(MIN_BATCH, builder.room_left))
            if not batch:
                return None
            builder.add(await self._hydrate(builder, batch))
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
            is_exhausted, tried = await self._arrange(builder, unserved)
            lowest = cursor.lowest
            if builder.waiting and builder.room_left > 0:
                # Mostly one author's posts are left of the window: older ones of others are to stand between them.
                if timeline.is_head:
                    timeline = await self._timelines.read(builder.viewer)
                lowest = _widen(timeline, cursor)
                if lowest == cursor.lowest:
                    builder.arrange_waiting()
            if is_exhausted and not builder.waiting:
                cursor = FeedCursor(cursor.lowest - 1)
            else:
                served = cursor.served.union(tried).difference([each.id for each in builder.waiting])
                cursor = FeedCursor(cursor.highest, lowest, served)
                builder.waiting.clear()
        has_more = cursor.lowest > 0 or timeline.has_older(cursor.highest + 1)
        return cursor if has_more else None

    async def _arrange(self, builder: PageBuilder, unserved: Sequence[PostId]) -> tuple[bool, list[PostId]]:
        """Fill the page with posts of a window; returns whether all have been tried, and which."""
        order = remaining = await self._order(builder, unserved)
        tried: list[PostId] = []
        while remaining and builder.room_left > 0:
            end = max(MIN_BATCH if tried else 1, builder.room_left)
            builder.arrange(await self._hydrate(builder, remaining[:end]))
            tried += remaining[:end]
            remaining = remaining[end:]
            if builder.room_left > 0 and len(builder.waiting) >= max(MAX_WAITING, builder.room_left):
                remaining = await self._without_waiting_author(builder, remaining)
        return len(tried) == len(order), tried

    async def _without_waiting_author(self, builder: PageBuilder, ids: Sequence[PostId]) -> list[PostId]:
        """The posts without those of the author whose posts are put aside: more of them would be put aside, too."""
        waiting = builder.waiting[0].cached_post.author_id
        authors = await self._ranking.find_authors(ids)
        return [each for each, author in zip(ids, authors, strict=True) if author != waiting]

    async def _order(self, builder: PageBuilder, ids: Sequence[PostId]) -> list[PostId]:
        """Posts that are new and unseen, then the others best first; newest first while Redis is away."""
        features = builder.features
        if features is None or not ids:
            return list(ids)
        if ids[0] < builder.new_from:
            return await self._rank(builder.viewer, features, ids)
        unseen = features.unseen(ids[: bisect_right(ids, -builder.new_from, key=neg)])
        others = sorted(set(ids).difference(unseen), reverse=True)
        return [*unseen, *await self._rank(builder.viewer, features, others)]

    async def _rank(self, viewer: AccountId, features: ViewerFeatures, ids: Sequence[PostId]) -> list[PostId]:
        """Best first, in the last order while it is good for the same posts."""
        now, last = self._clock(), self._windows.get(viewer)
        if last and last.expires_at > now and last.features is features and last.candidates == ids:
            return list(last.order)
        try:
            order = await self._ranking.order(viewer, ids, features)
        except REDIS_AWAY as error:
            log.warning("ranking.unavailable", reader_id=viewer, error=str(error))
            return list(ids)
        self._windows[viewer] = RankedWindow(ids, features, order, now + PAGE_TTL_S)
        return list(order)

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


def _widen(timeline: MergedTimeline, cursor: FeedCursor) -> int:
    """The lower bound of the window with older posts in it; unchanged if there are none or it is wide enough."""
    older = timeline.newest(cursor.lowest - 1, WINDOW)
    if not older or len(timeline.between(older[-1], cursor.highest)) > MAX_WINDOW:
        return cursor.lowest
    return older[-1]
