"""The stories tray: whose stories there are to see, in which order, and the first of them in full.

It is pulled, not pushed. Redis holds each author's live stories (`author_stories_cache.py`); a viewer's tray reads
those of everybody they follow in one round trip. What the cache holds is judged at every read: whether a story is still
live, by the clock of the server that stores it; who may see it, by `Visibility` and by the authors' own lists of close
friends. So a new story costs one invalidation however many people follow its author, and an empty Redis costs one query
per server.

Few of the followed accounts have stories, and a tray has room for fewer still: `Visibility`, the costliest step, is
asked about the authors who would come first, and about the next ones only if that leaves room.
"""

import asyncio
from collections.abc import Mapping, Sequence
from itertools import islice

from tintype.base.ids import AccountId
from tintype.graph import VisibleAccount, visibility_rules
from tintype.stories.author_stories_cache import AuthorStories
from tintype.stories.dependencies import StoriesDependencies
from tintype.stories.live_stories import LiveStories
from tintype.stories.models import Ring, Story, StoryId, Tray
from tintype.stories.server_clocks import ServerClocks
from tintype.stories.store import QUERIES

MAX_RINGS = 200
CHECKED_AT_ONCE = 250
FULL_AUTHORS = 3
"""The stories of so many authors, besides the viewer's own, are sent in full."""


class TrayBuilder:
    """Builds a viewer's tray."""

    def __init__(self, deps: StoriesDependencies, clocks: ServerClocks, live: LiveStories) -> None:
        self._deps, self._shards, self._visibility = deps, deps.shards, deps.visibility
        self._clocks, self._live = clocks, live

    async def build(self, viewer: AccountId) -> Tray:
        """The viewer first, then authors with unseen stories, then the others; those with more affinity earlier."""
        followed, first_live_ids = await asyncio.gather(
            self._deps.graph.list_followees(viewer), self._clocks.first_live_ids()
        )
        if not first_live_ids:
            return Tray([], {})
        live, seen = await asyncio.gather(
            self._find_live([viewer, *followed], first_live_ids),
            self._live.seen_since(viewer, min(first_live_ids.values())),
        )
        for_close_friends = [each for each, own in live.items() if any(is_close for _, is_close in own)]
        affinities, listing_viewer = await asyncio.gather(
            self._deps.ranking.affinities(viewer, live),
            self._which_have_as_close_friend(viewer, for_close_friends),
        )
        shown = _without_close_friends(live, set(for_close_friends) - listing_viewer)
        ordered = sorted(shown, key=lambda each: _sort_key(each, shown[each], viewer, seen, affinities))
        return await self._with_stories(viewer, await self._rings(viewer, ordered, shown, seen), seen)

    async def _find_live(
        self, authors: Sequence[AccountId], first_live_ids: Mapping[str, int]
    ) -> dict[AccountId, AuthorStories]:
        """These authors' live stories; authors without any, or on unavailable servers, are missing."""
        owners, shard_of = self._shards.map.owners, self._shards.shard_of
        found = await self._deps.author_stories.find([each for each in authors if shard_of(each) in owners])
        live: dict[AccountId, AuthorStories] = {}
        for author, own in found.items():
            first = first_live_ids.get(owners[shard_of(author)])
            if first is None or own[-1][0] < first:
                continue
            live[author] = own if own[0][0] >= first else tuple(each for each in own if each[0] >= first)
        return live

    async def _rings(
        self,
        viewer: AccountId,
        ordered: Sequence[AccountId],
        shown: Mapping[AccountId, AuthorStories],
        seen: set[int],
    ) -> list[Ring]:
        """As many of the authors, in this order, as fit and the viewer may see and has not muted."""
        rings: list[Ring] = []
        left = iter(ordered)
        while len(rings) < MAX_RINGS and (some := list(islice(left, CHECKED_AT_ONCE))):
            authors = await self._visibility.find_content_owners(viewer, some)
            rings += [
                _ring(authors[each], shown[each], seen)
                for each in some
                if each in authors and _is_wanted(authors[each])
            ]
        return rings[:MAX_RINGS]

    async def _which_have_as_close_friend(
        self, viewer: AccountId, authors: list[AccountId]
    ) -> set[AccountId]:
        """Those of the authors who count the viewer among their close friends, and the viewer."""
        rows = (
            await self._shards.gather(QUERIES.which_have_as_close_friend, authors, viewer_id=viewer)
            if authors
            else ()
        )
        return {viewer, *(AccountId(row["account_id"]) for row in rows)}

    async def _with_stories(self, viewer: AccountId, rings: list[Ring], seen: set[int]) -> Tray:
        has_own = bool(rings) and rings[0].author.relation.is_self
        full = rings[: FULL_AUTHORS + 1] if has_own else rings[:FULL_AUTHORS]
        ids = [each for ring in full for each in ring.story_ids]
        stories: dict[AccountId, list[Story]] = {}
        known = {ring.author.account.id: ring.author for ring in full}
        found = await self._live.find_many(ids, viewer=viewer, known=known, seen=seen)
        for story in found.values():
            stories.setdefault(story.author_id, []).append(story)
        return Tray(rings, stories)


def _without_close_friends(
    live: Mapping[AccountId, AuthorStories], closed_to_viewer: set[AccountId]
) -> dict[AccountId, AuthorStories]:
    """All stories, except those for close friends by authors who do not count the viewer among them."""
    shown = dict(live)
    for author in closed_to_viewer:
        own = tuple(story for story in live[author] if _is_open_to_all(is_for_close_friends=story[1]))
        if own:
            shown[author] = own
        else:
            del shown[author]
    return shown


def _is_open_to_all(*, is_for_close_friends: bool) -> bool:
    """Whether a story may be seen by people who are not among its author's close friends."""
    return visibility_rules.may_see_story(
        is_author=False,
        is_hidden=False,
        is_playable=True,
        is_for_close_friends=is_for_close_friends,
        is_close_friend=False,
    )


def _sort_key(
    author: AccountId,
    own: AuthorStories,
    viewer: AccountId,
    seen: set[int],
    affinities: Mapping[AccountId, float],
) -> tuple[bool, bool, float, int]:
    is_seen = author == viewer or all(story in seen for story, _ in own)
    return author != viewer, is_seen, -affinities.get(author, 0.0), -own[-1][0]


def _is_wanted(author: VisibleAccount) -> bool:
    relation = author.relation
    return relation.is_self or (relation.follows and not relation.mutes_stories)


def _ring(author: VisibleAccount, own: AuthorStories, seen: set[int]) -> Ring:
    ids = tuple(StoryId(each) for each, _ in own)
    unseen = () if author.relation.is_self else (each for each in ids if each not in seen)
    return Ring(
        author=author,
        story_ids=ids,
        unseen_ids=frozenset(unseen),
        is_close_friends=any(is_close for _, is_close in own),
    )
