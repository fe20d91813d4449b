"""Builds a timeline from the shards: the newest posts of everybody somebody follows, exactly, at a bounded cost.

A few posts of each author are read first. The 800th newest of them is the *floor*: authors who may have more posts
above it are read again, deeper, which raises the floor. Each author who is read again has filled a share of the 800,
so there are few of them, however many are followed.
"""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from shardwright.routing import Shards
from tintype.base.ids import AccountId, PostId
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


class BuiltTimeline(msgspec.Struct, frozen=True):
    """A timeline as the shards have it."""

    ids: list[PostId]
    """Newest first."""
    celebrities: tuple[AccountId, ...] = ()
    is_complete: bool = True
    """Every server has answered: this may be stored."""


class TimelineBuilder:
    """Reads timelines and the lists of celebrities from the shards."""

    def __init__(self, shards: Shards, graph: Followees) -> None:
        self._shards, self._graph = shards, graph

    async def build_timeline(self, viewer: AccountId) -> BuiltTimeline:
        """The newest posts of the viewer and everybody the viewer follows, and who of them is a celebrity."""
        authors = [viewer, *await self._graph.list_followees(viewer)]
        built = await self._read_newest(authors)
        return msgspec.structs.replace(
            built, celebrities=tuple(each for each in built.celebrities if each != viewer)
        )

    async def build_author_lists(
        self, authors: Sequence[AccountId]
    ) -> tuple[dict[AccountId, list[PostId]], bool]:
        """The newest posts of each of these authors, newest first, and whether every server has answered."""
        gathered = await self._shards.gather(
            QUERIES.gather_recent, list(authors), above=0, limit_each=MAX_LENGTH
        )
        found = {author: list[PostId]() for author in authors}
        return found | {row["author_id"]: row["posts"] for row in gathered}, gathered.is_complete

    async def _read_newest(self, authors: Sequence[AccountId]) -> BuiltTimeline:
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
                found[row["author_id"]] = row["posts"]
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
