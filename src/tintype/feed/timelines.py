"""A reader's timeline: from Redis, or built from the shards by one of those who ask for it."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from prometheus_client import Counter
from redis.exceptions import RedisError

from tintype.base.ids import AccountId
from tintype.base.log import get_log
from tintype.base.wire import Command, Wire
from tintype.feed.building import Building, Built
from tintype.feed.lists import Found, Lists, parse, parse_head
from tintype.feed.sources import Sources
from tintype.feed.stars import StarLists

log = get_log("feed")
REDIS_AWAY = (RedisError, OSError)
PATIENCE_S = 2.0
"""How long to wait for somebody else who builds the same timeline, before building it for oneself alone."""
FIRST_PAUSE_S = 0.01
MOST_KNOWN = 50_000

rebuilds = Counter("tintype_timeline_rebuilds", "Timelines built from the shards.", ["kept"])


@dataclass(frozen=True)
class Timeline:
    """What a feed is made of, and the answers to what was asked along with it (None: Redis is away)."""

    sources: Sources
    replies: list[Any] | None = field(default=None)


class Timelines:
    """The timelines of one installation."""

    def __init__(self, wire: Wire, lists: Lists, stars: StarLists, building: Building) -> None:
        self._wire, self._lists, self._stars, self._building = wire, lists, stars, building
        self._known: dict[AccountId, tuple[AccountId, ...]] = {}

    async def read(
        self, viewer: AccountId, along: Sequence[Command] = (), *, is_head: bool = False
    ) -> Timeline:
        """The viewer's timeline with the lists of its stars: one round trip when all is warm, two at most.

        Of the timeline itself only the newest part, where that is all that is wanted.
        """
        try:
            return await self._read(viewer, along, is_head=is_head)
        except REDIS_AWAY as error:
            log.warning("timeline.unavailable", reader_id=viewer, error=str(error))
        built = await self._building.timeline(viewer)
        return Timeline(Sources([built.ids[::-1]]))

    async def _read(self, viewer: AccountId, along: Sequence[Command], *, is_head: bool) -> Timeline:
        # The stars of last time are asked about in the same round trip; the list itself says who they are now.
        known = self._known.get(viewer, ())
        lists = self._stars.fresh(known)
        guessed = [star for star in known if star not in lists] if len(lists) < len(known) else []
        own = self._lists.ask_head(viewer) if is_head else [self._lists.ask(viewer)]
        answers = await self._wire.ask(*own, *self._stars.ask(guessed), *along)
        found = parse_head(answers[0], answers[1]) if is_head else parse(answers[0])
        replies = answers[len(own) + len(guessed) :]
        if guessed:
            lists |= await self._stars.learn(guessed, answers[len(own) : len(own) + len(guessed)])
        if found is None or not found.is_ready or self._lists.is_due(viewer):
            found = await self._ready(viewer, found)
        if found.stars != known:
            await self._complete(lists, found.stars)
            self._remember(viewer, found.stars)
        return Timeline(
            Sources([found.ids, *[lists[star] for star in found.stars]], is_cut=found.is_cut), replies
        )

    async def _complete(self, lists: dict[AccountId, list[int]], stars: Sequence[AccountId]) -> None:
        """The lists of these stars are among the lists."""
        lists |= self._stars.fresh([star for star in stars if star not in lists])
        missing = [star for star in stars if star not in lists]
        if missing:
            lists |= await self._stars.learn(missing, await self._wire.ask(*self._stars.ask(missing)))

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
            found = parse((await self._wire.ask(self._lists.ask(viewer)))[0])
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
