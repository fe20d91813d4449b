"""The tray: whose stories there are to see, in which order, and the first of them whole.

It is pulled, not pushed. Per author Redis remembers what they show (or that it is nothing), which a new story makes
forgotten; a viewer's tray asks that of everybody they follow, in one command. What is remembered is judged at every
read: whether it lives, by the clock of the server that keeps it; who may see it, by `Sight` and by the authors' own
lists of close friends. So a story costs one forgetting however many follow its author, and an emptied Redis costs one
query per server.
"""

import asyncio
from itertools import islice

from tintype.base.ids import AccountId, has_shard
from tintype.graph import Seen
from tintype.stories.clocks import Clocks
from tintype.stories.models import Ring, Story, StoryId, Tray
from tintype.stories.reading import Reading
from tintype.stories.store import QUERIES, RINGS, AtDesk, Desk

MOST_RINGS = 200
MOST_CANDIDATES = 1_000
WHOLE = 3
"""Of so many authors besides oneself the stories come along."""
AT_ONCE = 1_000
Shown = tuple[tuple[int, bool], ...]
"""Stories, oldest first, each with whether it is for close friends."""


class Trays(AtDesk):
    """Makes trays."""

    def __init__(self, desk: Desk, clocks: Clocks, reading: Reading) -> None:
        super().__init__(desk)
        self._clocks, self._reading = clocks, reading

    async def read(self, viewer: AccountId) -> Tray:
        """Oneself first, then who has something unseen, then the others; the closer the earlier."""
        living = await self._living(viewer)
        close = [
            each for each, own in living.items() if each != viewer and any(is_close for _, is_close in own)
        ]
        authors, closeness, friends = await asyncio.gather(
            self._sight.content_of(viewer, living),
            self._desk.ranking.affinities(viewer, living),
            self._befriended(viewer, close),
        )
        shown = {
            each: tuple(story for story in own if not story[1] or each in friends)
            for each, own in living.items()
            if each in authors and _is_wanted(authors[each])
        }
        seen = await self._reading.which_seen(
            viewer, [StoryId(each) for own in shown.values() for each, _ in own]
        )
        rings = [_ring(authors[each], own, seen) for each, own in shown.items() if own]
        rings.sort(key=lambda ring: _place(ring, closeness))
        return await self._with_stories(viewer, rings[:MOST_RINGS])

    async def _living(self, viewer: AccountId) -> dict[AccountId, Shown]:
        """What oneself and those followed show now; of very many, those who showed something last."""
        followed, begins = await asyncio.gather(
            self._desk.graph.list_followees(viewer), self._clocks.first_living()
        )
        owners = self._shards.map.owners
        living: dict[AccountId, Shown] = {}
        rest = iter([viewer, *(each for each in followed if has_shard(self._shards, each))])
        while part := list(islice(rest, AT_ONCE)):
            for author, own in (await self._desk.cache.get_many(RINGS, part, self._load)).items():
                begin = begins.get(owners[self._shards.shard_of(author)])
                if own and begin is not None and own[-1][0] >= begin:
                    living[author] = tuple(story for story in own if story[0] >= begin)
        if len(living) <= MOST_CANDIDATES:
            return living
        latest = sorted(living, key=lambda each: (each == viewer, living[each][-1]), reverse=True)
        return {each: living[each] for each in latest[:MOST_CANDIDATES]}

    async def _load(self, authors: list[AccountId]) -> dict[AccountId, Shown]:
        """What authors show, also where that is nothing; of those whose server does not answer nothing is known."""
        gathered = await self._shards.gather(QUERIES.gather_rings, authors)
        owners = self._shards.map.owners
        found: dict[AccountId, Shown] = {
            each: () for each in authors if owners[self._shards.shard_of(each)] not in gathered.failed
        }
        for row in sorted(gathered, key=lambda row: row["id"]):
            found[row["author_id"]] += ((row["id"], row["is_close"]),)
        return found

    async def _befriended(self, viewer: AccountId, authors: list[AccountId]) -> set[AccountId]:
        """Those of the authors who count the viewer among their close friends, and the viewer."""
        rows = await self._shards.gather(QUERIES.which_befriend, authors, viewer_id=viewer) if authors else ()
        return {viewer, *(AccountId(row["account_id"]) for row in rows)}

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


def _ring(author: Seen, own: Shown, seen: set[StoryId]) -> Ring:
    ids = tuple(StoryId(each) for each, _ in own)
    unseen = () if author.relation.is_self else (each for each in ids if each not in seen)
    return Ring(
        author=author,
        story_ids=ids,
        unseen_ids=frozenset(unseen),
        is_close_friends=any(is_close for _, is_close in own),
    )


def _place(ring: Ring, closeness: dict[AccountId, float]) -> tuple[bool, bool, float, int]:
    close = closeness.get(ring.author.account.id, 0.0)
    return not ring.author.relation.is_self, not ring.unseen_ids, -close, -ring.story_ids[-1]
