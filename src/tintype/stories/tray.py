"""The tray: whose stories there are to see, in which order, and the first of them whole.

It is pulled, not pushed. Redis remembers what each author shows (see `rings.py`); a viewer's tray asks that of
everybody they follow, in one round trip. What is remembered is judged at every read: whether it lives, by the clock of
the server that keeps it; who may see it, by `Sight` and by the authors' own lists of close friends. So a story costs
one forgetting however many follow its author, and an emptied Redis costs one query per server.

Few of those followed show anything, and a tray has room for fewer still: `Sight`, which costs most, is asked about
those who would come first, and about the next only where it leaves room for them.
"""

import asyncio
from collections.abc import Mapping, Sequence
from itertools import islice

from tintype.base.ids import AccountId
from tintype.graph import Seen
from tintype.stories.clocks import Clocks
from tintype.stories.models import Ring, Story, StoryId, Tray
from tintype.stories.reading import Reading
from tintype.stories.rings import Shown
from tintype.stories.store import QUERIES, AtDesk, Desk

MOST_RINGS = 200
JUDGED_AT_ONCE = 250
WHOLE = 3
"""Of so many authors besides oneself the stories come along."""


class Trays(AtDesk):
    """Makes trays."""

    def __init__(self, desk: Desk, clocks: Clocks, reading: Reading) -> None:
        super().__init__(desk)
        self._clocks, self._reading = clocks, reading

    async def read(self, viewer: AccountId) -> Tray:
        """Oneself first, then who has something unseen, then the others; the closer the earlier."""
        followed, begins = await asyncio.gather(
            self._desk.graph.list_followees(viewer), self._clocks.first_living()
        )
        if not begins:
            return Tray([], {})
        living, seen = await asyncio.gather(
            self._living([viewer, *followed], begins),
            self._reading.seen_since(viewer, min(begins.values())),
        )
        close = [each for each, own in living.items() if any(is_close for _, is_close in own)]
        closeness, friends = await asyncio.gather(
            self._desk.ranking.affinities(viewer, living), self._befriended(viewer, close)
        )
        shown = _shown(living, set(close) - friends)
        first = sorted(shown, key=lambda each: _place(each, shown[each], viewer, seen, closeness))
        return await self._with_stories(viewer, await self._rings(viewer, first, shown, seen), seen)

    async def _living(
        self, authors: Sequence[AccountId], begins: Mapping[str, int]
    ) -> dict[AccountId, Shown]:
        """What these authors show now."""
        owners, shard_of = self._shards.map.owners, self._shards.shard_of
        found = await self._desk.rings.find([each for each in authors if shard_of(each) in owners])
        living: dict[AccountId, Shown] = {}
        for author, own in found.items():
            begin = begins.get(owners[shard_of(author)])
            if begin is None or own[-1][0] < begin:
                continue
            living[author] = own if own[0][0] >= begin else tuple(each for each in own if each[0] >= begin)
        return living

    async def _rings(
        self,
        viewer: AccountId,
        first: Sequence[AccountId],
        shown: Mapping[AccountId, Shown],
        seen: set[int],
    ) -> list[Ring]:
        """As many of the first as there is room for and the viewer may and wants to see."""
        rings: list[Ring] = []
        left = iter(first)
        while len(rings) < MOST_RINGS and (some := list(islice(left, JUDGED_AT_ONCE))):
            authors = await self._sight.content_of(viewer, some)
            rings += [
                _ring(authors[each], shown[each], seen)
                for each in some
                if each in authors and _is_wanted(authors[each])
            ]
        return rings[:MOST_RINGS]

    async def _befriended(self, viewer: AccountId, authors: list[AccountId]) -> set[AccountId]:
        """Those of the authors who count the viewer among their close friends, and the viewer."""
        rows = await self._shards.gather(QUERIES.which_befriend, authors, viewer_id=viewer) if authors else ()
        return {viewer, *(AccountId(row["account_id"]) for row in rows)}

    async def _with_stories(self, viewer: AccountId, rings: list[Ring], seen: set[int]) -> Tray:
        whole = rings[: WHOLE + 1] if rings and rings[0].author.relation.is_self else rings[:WHOLE]
        ids = [each for ring in whole for each in ring.story_ids]
        stories: dict[AccountId, list[Story]] = {}
        known = {ring.author.account.id: ring.author for ring in whole}
        found = await self._reading.find_many(ids, viewer=viewer, known=known, seen=seen)
        for story in found.values():
            stories.setdefault(story.author_id, []).append(story)
        return Tray(rings, stories)


def _shown(living: Mapping[AccountId, Shown], strangers: set[AccountId]) -> dict[AccountId, Shown]:
    """What is for the viewer: of authors to whom they are no close friend, what is for everyone."""
    shown = dict(living)
    for author in strangers:
        own = tuple(story for story in living[author] if not story[1])
        if own:
            shown[author] = own
        else:
            del shown[author]
    return shown


def _place(
    author: AccountId, own: Shown, viewer: AccountId, seen: set[int], closeness: Mapping[AccountId, float]
) -> tuple[bool, bool, float, int]:
    is_seen = author == viewer or all(story in seen for story, _ in own)
    return author != viewer, is_seen, -closeness.get(author, 0.0), -own[-1][0]


def _is_wanted(author: Seen) -> bool:
    relation = author.relation
    return relation.is_self or (relation.follows and not relation.mutes_stories)


def _ring(author: Seen, own: Shown, seen: set[int]) -> Ring:
    ids = tuple(StoryId(each) for each, _ in own)
    unseen = () if author.relation.is_self else (each for each in ids if each not in seen)
    return Ring(
        author=author,
        story_ids=ids,
        unseen_ids=frozenset(unseen),
        is_close_friends=any(is_close for _, is_close in own),
    )
