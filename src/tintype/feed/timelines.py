"""A reader's timeline: from Redis, or built from the shards by one of those who ask for it."""

import asyncio
from contextlib import closing

from prometheus_client import Counter
from redis.exceptions import RedisError

from tintype.base.bringing import Bringing
from tintype.base.ids import AccountId
from tintype.base.log import get_log
from tintype.base.wire import Wire
from tintype.feed.building import Building, Built
from tintype.feed.lists import Found, Lists
from tintype.feed.sources import Sources
from tintype.feed.stars import StarLists

log = get_log("feed")
REDIS_AWAY = (RedisError, OSError)
PATIENCE_S = 2.0
"""How long to wait for somebody else who builds the same timeline, before building it for oneself alone."""
FIRST_PAUSE_S = 0.01
MOST_KNOWN = 50_000

rebuilds = Counter("tintype_timeline_rebuilds", "Timelines built from the shards.", ["kept"])


class Timelines:
    """The timelines of one installation."""

    def __init__(self, wire: Wire, lists: Lists, stars: StarLists, building: Building) -> None:
        self._wire, self._lists, self._stars, self._building = wire, lists, stars, building
        self._known: dict[AccountId, tuple[AccountId, ...]] = {}

    def ask(self, viewer: AccountId, bringing: Bringing, *, is_head: bool = False) -> None:
        """Ask for what is not near of a timeline and the lists of its stars; `take` reads the answers.

        Of the timeline itself only the newest part, where that is all that is wanted. The stars of last time are asked
        about in the same round trip; the list itself says who they are now.
        """
        self._lists.ask(viewer, bringing, is_head=is_head)
        self._stars.ask(self._known.get(viewer, ()), bringing)

    async def take(self, viewer: AccountId, bringing: Bringing, *, is_head: bool = False) -> Sources:
        """The viewer's timeline with the lists of its stars: no round trip more when all is warm, one at most."""
        found = await self._lists.take(viewer, bringing, is_head=is_head)
        if found is None or not found.is_ready or self._lists.is_due(viewer):
            found = await self._ready(viewer, found)
        lists = await self._stars.take(found.stars, bringing)
        if found.stars != self._known.get(viewer, ()):
            self._remember(viewer, found.stars)
        return Sources([found.ids, *lists], is_cut=found.is_cut)

    async def read(self, viewer: AccountId) -> Sources:
        """The whole of it."""
        try:
            with closing(Bringing(self._wire)) as bringing:
                self.ask(viewer, bringing)
                await bringing.ask()
                return await self.take(viewer, bringing)
        except REDIS_AWAY as error:
            return await self.read_shards(viewer, error)

    async def read_shards(self, viewer: AccountId, error: Exception) -> Sources:
        """What it would be, while Redis is away."""
        log.warning("timeline.unavailable", reader_id=viewer, error=str(error))
        built = await self._building.timeline(viewer)
        return Sources([built.ids[::-1]])

    async def _ready(self, viewer: AccountId, found: Found | None) -> Found:
        """The list once it is there, whoever builds it."""
        waited_s, pause_s = 0.0, FIRST_PAUSE_S
        while waited_s < PATIENCE_S:
            if found is not None and found.is_ready:
                await self._lists.renew(viewer)
                return found
            if found is None:
                token = (await self._lists.open(viewer)).get(viewer)
                if token is not None:
                    return await self._build(viewer, token)
            await asyncio.sleep(pause_s)
            waited_s, pause_s = waited_s + pause_s, pause_s * 2
            found = await self._lists.read(viewer)
        rebuilds.labels("no").inc()
        return _as_found(await self._building.timeline(viewer))

    async def _build(self, viewer: AccountId, token: str) -> Found:
        try:
            built = await self._building.timeline(viewer)
        except BaseException:
            await self._lists.give_up(viewer, token)
            raise
        is_kept = built.is_complete and await self._lists.fill(viewer, token, built.ids, built.stars)
        if not built.is_complete:
            await self._lists.give_up(viewer, token)
        rebuilds.labels("yes" if is_kept else "no").inc()
        log.info("timeline.rebuilt", reader_id=viewer, entries=len(built.ids), is_kept=is_kept)
        return _as_found(built)

    def _remember(self, viewer: AccountId, stars: tuple[AccountId, ...]) -> None:
        if len(self._known) >= MOST_KNOWN:
            self._known.clear()
        self._known[viewer] = stars


def _as_found(built: Built) -> Found:
    return Found(list(built.ids[::-1]), built.stars)
