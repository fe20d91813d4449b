"""The tray: whose stories there are to see, in which order, and the first of them whole.

It is pulled, not pushed. Per author Redis remembers what they showed last (or that they show nothing), which a new
story makes forgotten; a viewer's tray asks that of everybody they follow, in one command. What is remembered only names
candidates: whether they live and may be seen is asked of the shards, one query per server. So a story costs one
forgetting however many follow its author, an emptied Redis costs one query per server, and nothing expired is shown.
"""

import asyncio
from collections.abc import Sequence
from itertools import islice

from tintype.base.ids import AccountId, has_shard
from tintype.graph import Seen
from tintype.stories.models import Ring, Story, StoryId, Tray
from tintype.stories.reading import Reading
from tintype.stories.store import QUERIES, RINGS, AtDesk, Desk

MOST_RINGS = 200
MOST_CANDIDATES = 1_000
WHOLE = 3
"""Of so many authors besides oneself the stories come along."""
AT_ONCE = 1_000
Live = Sequence[tuple[StoryId, bool]]


class Trays(AtDesk):
    """Makes trays."""

    def __init__(self, desk: Desk, reading: Reading) -> None:
        super().__init__(desk)
        self._reading = reading

    async def read(self, viewer: AccountId) -> Tray:
        """Oneself first, then who has something unseen, then the others; the closer the earlier."""
        candidates = [viewer, *await self._candidates(viewer)]
        authors, live, closeness = await asyncio.gather(
            self._sight.content_of(viewer, candidates),
            self._reading.live_of(candidates, viewer),
            self._desk.ranking.affinities(viewer, candidates),
        )
        shown = {each: own for each, own in live.items() if each in authors and _is_wanted(authors[each])}
        ids = [story_id for own in shown.values() for story_id, _ in own]
        seen = await self._reading.which_seen(viewer, ids)
        rings = [_ring(authors[each], own, seen) for each, own in shown.items()]
        rings.sort(key=lambda ring: _place(ring, closeness))
        return await self._with_stories(viewer, rings[:MOST_RINGS])

    async def _candidates(self, viewer: AccountId) -> list[AccountId]:
        """Those followed who showed something lately, the latest first."""
        followed = [
            each for each in await self._desk.graph.list_followees(viewer) if has_shard(self._shards, each)
        ]
        latest: dict[AccountId, int] = {}
        rest = iter(followed)
        while part := list(islice(rest, AT_ONCE)):
            rings = await self._desk.cache.get_many(RINGS, part, self._load)
            latest |= {each: max(ids) for each, ids in rings.items() if ids}
        return sorted(latest, key=lambda each: latest[each], reverse=True)[:MOST_CANDIDATES]

    async def _load(self, authors: list[AccountId]) -> dict[AccountId, tuple[int, ...]]:
        """What authors show, also where that is nothing; of those whose server does not answer, nothing is known."""
        rows = await self._shards.gather(QUERIES.gather_rings, authors)
        return {AccountId(row["author_id"]): tuple(row["story_ids"]) for row in rows}

    async def _with_stories(self, viewer: AccountId, rings: list[Ring]) -> Tray:
        whole = rings[: WHOLE + 1] if rings and rings[0].author.relation.is_self else rings[:WHOLE]
        ids = [each for ring in whole for each in ring.story_ids]
        stories: dict[AccountId, list[Story]] = {}
        for story in (await self._reading.find_many(ids, viewer=viewer)).values():
            stories.setdefault(story.author_id, []).append(story)
        return Tray(rings, stories)


def _is_wanted(author: Seen) -> bool:
    relation = author.relation
    return relation.is_self or (relation.follows and not relation.mutes_stories)


def _ring(author: Seen, live: Live, seen: set[StoryId]) -> Ring:
    ids = tuple(each for each, _ in live)
    unseen = () if author.relation.is_self else (each for each in ids if each not in seen)
    return Ring(
        author=author,
        story_ids=ids,
        unseen_ids=frozenset(unseen),
        is_close_friends=any(is_close for _, is_close in live),
    )


def _place(ring: Ring, closeness: dict[AccountId, float]) -> tuple[bool, bool, float, int]:
    close = closeness.get(ring.author.account.id, 0.0)
    return not ring.author.relation.is_self, not ring.unseen_ids, -close, -ring.story_ids[-1]
