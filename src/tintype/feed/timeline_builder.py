"""Builds a timeline from the shards: the newest posts of everybody somebody follows, exactly, at a bounded cost.

A few posts of each author are read first. The 800th newest of them is the *floor*: authors who may have more posts
above it are read again, deeper, which raises the floor. Each author who is read again has filled a share of the 800,
so there are few of them, however many are followed.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec

from shardwright.routing import Shards
from tintype.base.ids import AccountId, PostId
from tintype.feed.new_posts import new_from
from tintype.feed.scripts import MAX_LENGTH
from tintype.feed.store import QUERIES

FIRST_ROUND_POSTS = 4_000
"""How many posts the first round reads, shared among the authors."""
MIN_PER_AUTHOR = 4
DEEPER_FACTOR = 8


class Followees(Protocol):
    """What the builder needs of the graph."""

    async def list_followees(self, of: AccountId) -> list[AccountId]:
        """Whom an account follows."""
        ...


class TagLists(Protocol):
    """What the builder needs of followed hashtags."""

    async def mark_ids(self, viewer: AccountId) -> tuple[AccountId, ...]:
        """The numbers of the hashtags that a viewer follows."""
        ...

    async def build_lists(self, ids: Sequence[AccountId]) -> tuple[dict[AccountId, list[PostId]], bool]:
        """The newest posts of each of these hashtags, and whether they may be stored."""
        ...


class BuiltTimeline(msgspec.Struct, frozen=True):
    """A timeline as the shards have it."""

    ids: list[PostId]
    """Newest first."""
    celebrities: tuple[AccountId, ...] = ()
    """Also the numbers of followed hashtags, which are negative."""
    is_complete: bool = True
    """Every server has answered: this may be stored."""


class TimelineBuilder:
    """Reads timelines and the lists of celebrities from the shards."""

    def __init__(self, shards: Shards, graph: Followees, tags: TagLists) -> None:
        self._shards, self._graph, self._tags = shards, graph, tags

    async def build_timeline(self, viewer: AccountId) -> BuiltTimeline:
        """The newest posts of the viewer's followees, who of them is a celebrity, and the viewer's own new posts."""
        authors = [viewer, *await self._graph.list_followees(viewer)]
        built = await self._read_newest(authors, {viewer: new_from(self._shards.map.layout)})
        celebrities = tuple(each for each in built.celebrities if each != viewer)
        return msgspec.structs.replace(built, celebrities=celebrities + await self._tags.mark_ids(viewer))

    async def build_author_lists(
        self, authors: Sequence[AccountId]
    ) -> tuple[dict[AccountId, list[PostId]], bool]:
        """The newest posts of each of these authors and hashtags, newest first, and whether every server answered."""
        tags = [each for each in authors if each < 0]
        found, has_all = await self._tags.build_lists(tags) if tags else ({}, True)
        people = [each for each in authors if each > 0]
        gathered = await self._shards.gather(QUERIES.gather_recent, people, above=0, limit_each=MAX_LENGTH)
        found |= {author: list[PostId]() for author in people}
        found |= {row["author_id"]: row["posts"] for row in gathered}
        return found, has_all and gathered.is_complete

    async def _read_newest(
        self, authors: Sequence[AccountId], lowest_of: Mapping[AccountId, int]
    ) -> BuiltTimeline:
        """The newest posts of these authors; of those in `lowest_of` only posts that are not below that id."""
        per_author = max(MIN_PER_AUTHOR, min(MAX_LENGTH, FIRST_ROUND_POSTS // len(authors)))
        found: dict[AccountId, list[PostId]] = {}
        celebrities: list[AccountId] = []
        unfinished, floor, is_complete = list(authors), 0, True
        newest: list[PostId] = []
        while unfinished:
            gathered = await self._shards.gather(
                QUERIES.gather_recent, unfinished, above=floor, limit_each=per_author
            )
            is_complete = is_complete and gathered.is_complete
            for row in gathered:
                lowest = lowest_of.get(row["author_id"], 0)
                found[row["author_id"]] = [each for each in row["posts"] if each >= lowest]
                if row["is_celebrity"]:
                    celebrities.append(row["author_id"])
            newest = sorted((post for posts in found.values() for post in posts), reverse=True)[:MAX_LENGTH]
            floor = newest[-1] if len(newest) == MAX_LENGTH else 0
            unfinished = [
                author for author in unfinished if _may_have_more(found.get(author, []), per_author, floor)
            ]
            per_author = min(MAX_LENGTH, per_author * DEEPER_FACTOR)
        return BuiltTimeline(newest, tuple(dict.fromkeys(celebrities)), is_complete)


def _may_have_more(posts: Sequence[PostId], per_author: int, floor: int) -> bool:
    return len(posts) == per_author < MAX_LENGTH and posts[-1] > floor
