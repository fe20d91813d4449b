"""Pages of the feed, in both orders, of what the reader may see."""

from collections.abc import Sequence
from typing import Any, Protocol

import msgspec

from tintype.base.ids import AccountId, PostId
from tintype.base.log import get_log
from tintype.base.wire import Command
from tintype.feed.cursors import START, Mode, Place, decode, encode
from tintype.feed.timelines import REDIS_AWAY, Timeline, Timelines
from tintype.feed.visible import Entry, Visible

log = get_log("feed")
WINDOW = 100
"""How many of the newest are ranked against each other; what is older waits for its own window."""
FEWEST_AT_ONCE = 5


class Ranker(Protocol):
    """What is needed of ranking."""

    def ask(self, viewer: AccountId) -> list[Command]:
        """What must be read of the viewer before ranking."""
        ...

    async def order(
        self, viewer: AccountId, candidates: Sequence[PostId], replies: Sequence[Any]
    ) -> list[PostId]:
        """The candidates, best first; `replies` are the answers to what `ask` named."""
        ...


class FeedPage(msgspec.Struct, frozen=True):
    """Posts in the order to show them, and where the next page begins."""

    entries: list[Entry]
    next_cursor: str | None


class Reading:
    """Reads pages."""

    def __init__(self, timelines: Timelines, visible: Visible, ranking: Ranker) -> None:
        self._timelines, self._visible, self._ranking = timelines, visible, ranking

    async def read(self, viewer: AccountId, *, mode: Mode, cursor: str | None, limit: int) -> FeedPage:
        """A page of the feed. Whatever a timeline still holds, only what may be seen now is shown."""
        place = decode(viewer, mode, cursor)
        along = self._ranking.ask(viewer) if mode == "ranked" else ()
        # A ranked page leaves what it did not find to the next one, which reads everything between the same bounds.
        is_head = mode == "ranked" and place is START
        timeline = await self._timelines.read(viewer, along, is_head=is_head)
        walk = self._ranked if mode == "ranked" else self._following
        entries, following = await walk(viewer, timeline, place, limit)
        return FeedPage(entries, encode(viewer, mode, following) if following else None)

    async def _following(
        self, viewer: AccountId, timeline: Timeline, place: Place, limit: int
    ) -> tuple[list[Entry], Place | None]:
        page: list[Entry] = []
        highest = place.highest
        while len(page) < limit:
            batch = timeline.sources.newest(highest, max(FEWEST_AT_ONCE, limit - len(page)))
            if not batch:
                return page, None
            page += await self._visible.read(viewer, batch)
            highest = batch[-1] - 1
        page = page[:limit]
        last = page[-1].id
        return page, Place(last - 1) if timeline.sources.has_older(last) else None

    async def _ranked(
        self, viewer: AccountId, timeline: Timeline, place: Place, limit: int
    ) -> tuple[list[Entry], Place | None]:
        page: list[Entry] = []
        while len(page) < limit:
            if timeline.sources.is_cut and place is not START:
                timeline = Timeline((await self._timelines.read(viewer)).sources, timeline.replies)
            place, left = _window(timeline, place)
            if not place.lowest:
                return page, None
            order = await self._order(viewer, left, timeline)
            while order and len(page) < limit:
                wanted = limit - len(page)
                batch, order = order[:wanted], order[wanted:]
                page += await self._visible.read(viewer, batch)
                place = Place(place.highest, place.lowest, place.served.union(batch))
            if not order:
                place = Place(place.lowest - 1)
        has_more = place.lowest > 0 or timeline.sources.has_older(place.highest + 1)
        return page, place if has_more else None

    async def _order(self, viewer: AccountId, ids: Sequence[PostId], timeline: Timeline) -> list[PostId]:
        """Best first; newest first while Redis is away."""
        if timeline.replies is None or not ids:
            return list(ids)
        try:
            return await self._ranking.order(viewer, ids, timeline.replies)
        except REDIS_AWAY as error:
            log.warning("ranking.unavailable", reader_id=viewer, error=str(error))
            return list(ids)


def _window(timeline: Timeline, place: Place) -> tuple[Place, list[PostId]]:
    """The window a page begins in and what is left of it; a window still to be chosen takes the newest below."""
    if place.lowest:
        inside = timeline.sources.between(place.lowest, place.highest)
        return place, [each for each in inside if each not in place.served]
    inside = timeline.sources.newest(place.highest, WINDOW)
    # Its bounds are those of what is there now: what arrives above them later is not part of this scroll.
    return (Place(inside[0], inside[-1]) if inside else place), inside
