"""Pages of the feed, in both orders, of what the reader may see.

Somebody who looks again soon mostly sees the same page. It is kept together with what it was made of, and given again
while all of that is near and the very same (`base/near.py`); an order gets old by itself.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Protocol

from prometheus_client import Counter

from tintype.base.bringing import Bringing
from tintype.base.ids import AccountId, PostId
from tintype.base.log import get_log
from tintype.base.wire import Wire
from tintype.feed.cursors import START, Mode, Place, decode, encode
from tintype.feed.pages import Begun, FeedPage, Kept
from tintype.feed.sources import Sources
from tintype.feed.timelines import REDIS_AWAY, Timelines
from tintype.feed.visible import Visible
from tintype.ranking import Known

log = get_log("feed")
WINDOW = 100
"""How many of the newest are ranked against each other; what is older waits for its own window."""
FEWEST_AT_ONCE = 5
KEPT_S = 5.0
"""For how long an order is good: as long as what is known of posts is used without reading it again."""
MOST_KEPT = 2_000

pages = Counter("tintype_feed_pages", "Pages of the feed, made or given again.", ["given"])
_made, _given_again = pages.labels("anew"), pages.labels("again")


class Ranker(Protocol):
    """What is needed of ranking."""

    def ask(self, viewer: AccountId, bringing: Bringing) -> None:
        """Ask for what must be known of the viewer before ranking."""
        ...

    async def take(self, viewer: AccountId, bringing: Bringing) -> Known:
        """What came of it."""
        ...

    async def order(self, viewer: AccountId, candidates: Sequence[PostId], known: Known) -> list[PostId]:
        """The candidates, best first."""
        ...


class Reading:
    """Reads pages."""

    def __init__(
        self,
        wire: Wire,
        timelines: Timelines,
        visible: Visible,
        ranking: Ranker,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._wire, self._timelines, self._visible = wire, timelines, visible
        self._ranking, self._clock = ranking, clock
        self._kept: dict[AccountId, Kept] = {}

    async def read(self, viewer: AccountId, *, mode: Mode, cursor: str | None, limit: int) -> FeedPage:
        """A page of the feed. Whatever a timeline still holds, only what may be seen now is shown."""
        place = decode(viewer, mode, cursor)
        begun = await self._begin(viewer, mode, limit, is_first=place is START)
        kept = self._find_kept(begun) if place is START else None
        if kept is not None:
            _given_again.inc()
            return kept.page
        _made.inc()
        walk = self._ranked if mode == "ranked" else self._following
        following = await walk(begun, place)
        page = FeedPage(begun.entries[:limit], encode(viewer, mode, following) if following else None)
        if place is START and self._wire.near.is_live:
            self._keep(Kept(begun, page, self._clock() + KEPT_S))
        return page

    async def _begin(self, viewer: AccountId, mode: Mode, limit: int, *, is_first: bool) -> Begun:
        """One round trip for everything that is not near, and one even if there is nothing to ask."""
        # A ranked page leaves what it did not find to the next one, which reads everything between the same bounds.
        is_ranked, is_head = mode == "ranked", is_first and mode == "ranked"
        try:
            with closing(Bringing(self._wire)) as bringing:
                self._timelines.ask(viewer, bringing, is_head=is_head)
                self._visible.ask(viewer, bringing)
                if is_ranked:
                    self._ranking.ask(viewer, bringing)
                await bringing.ask()
                self._visible.take(viewer, bringing)
                known = await self._ranking.take(viewer, bringing) if is_ranked else None
                sources = await self._timelines.take(viewer, bringing, is_head=is_head)
                return Begun(viewer, mode, limit, sources, known)
        except REDIS_AWAY as error:
            return Begun(viewer, mode, limit, await self._timelines.read_shards(viewer, error))

    async def _following(self, begun: Begun, place: Place) -> Place | None:
        highest, sources = place.highest, begun.sources
        while begun.lacks > 0:
            batch = sources.newest(highest, max(FEWEST_AT_ONCE, begun.lacks))
            if not batch:
                return None
            begun.add(await self._visible.look(begun.viewer, batch))
            highest = batch[-1] - 1
        last = begun.entries[begun.limit - 1].id
        return Place(last - 1) if sources.has_older(last) else None

    async def _ranked(self, begun: Begun, place: Place) -> Place | None:
        sources = begun.sources
        while begun.lacks > 0:
            if sources.is_cut and place is not START:
                sources = await self._timelines.read(begun.viewer)
            place, left = _window(sources, place)
            if not place.lowest:
                return None
            order = await self._order(begun, left)
            while order and begun.lacks > 0:
                batch, order = order[: begun.lacks], order[begun.lacks :]
                begun.add(await self._visible.look(begun.viewer, batch))
                place = Place(place.highest, place.lowest, place.served.union(batch))
            if not order:
                place = Place(place.lowest - 1)
        has_more = place.lowest > 0 or sources.has_older(place.highest + 1)
        return place if has_more else None

    async def _order(self, begun: Begun, ids: Sequence[PostId]) -> list[PostId]:
        """Best first; newest first while Redis is away."""
        if begun.known is None or not ids:
            return list(ids)
        try:
            return await self._ranking.order(begun.viewer, ids, begun.known)
        except REDIS_AWAY as error:
            log.warning("ranking.unavailable", reader_id=begun.viewer, error=str(error))
            return list(ids)

    def _find_kept(self, begun: Begun) -> Kept | None:
        kept = self._kept.get(begun.viewer)
        if kept is None or not kept.fits(begun, self._clock()):
            return None
        return kept if all(map(self._visible.holds, kept.begun.looks)) else None

    def _keep(self, kept: Kept) -> None:
        viewer = kept.begun.viewer
        if viewer not in self._kept and len(self._kept) >= MOST_KEPT:
            del self._kept[next(iter(self._kept))]
        self._kept[viewer] = kept


def _window(sources: Sources, place: Place) -> tuple[Place, list[PostId]]:
    """The window a page begins in and what is left of it; a window still to be chosen takes the newest below."""
    if place.lowest:
        inside = sources.between(place.lowest, place.highest)
        return place, [each for each in inside if each not in place.served]
    inside = sources.newest(place.highest, WINDOW)
    # Its bounds are those of what is there now: what arrives above them later is not part of this scroll.
    return (Place(inside[0], inside[-1]) if inside else place), inside
