"""Building a timeline from the shards: the newest posts of everybody one follows, exactly, at a bounded cost.

A few posts of each author are asked for first. The 800th newest of them is the *floor*: whoever may have more above it
is asked again for more, which raises the floor. Each author who is asked again has filled a share of the 800, so there
are few of them, however many are followed.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from shardwright.running import Queries, Shards
from tintype.base.ids import AccountId, PostId
from tintype.feed.scripts import LONGEST

QUERIES = Queries.load(Path(__file__).with_name("queries.sql"))
FIRST_LOOK = 4_000
"""How many posts are asked for at first, shared among the authors."""
FEWEST_EACH = 4
DEEPER = 8


class Followees(Protocol):
    """What is needed of the graph."""

    async def list_followees(self, of: AccountId) -> list[AccountId]:
        """Whom an account follows."""
        ...


class Built(msgspec.Struct, frozen=True):
    """A timeline as the shards tell it."""

    ids: list[PostId]
    """Newest first."""
    stars: tuple[AccountId, ...] = ()
    is_complete: bool = True
    """Every server has answered: this may be kept."""


class Building:
    """Asks the shards."""

    def __init__(self, shards: Shards, graph: Followees) -> None:
        self._shards, self._graph = shards, graph

    async def timeline(self, viewer: AccountId) -> Built:
        """The newest posts of the viewer and everybody the viewer follows, and who of them is a star."""
        authors = [viewer, *await self._graph.list_followees(viewer)]
        built = await self._newest(authors)
        return msgspec.structs.replace(built, stars=tuple(each for each in built.stars if each != viewer))

    async def stars(self, authors: Sequence[AccountId]) -> tuple[dict[AccountId, list[PostId]], bool]:
        """The newest posts of each of some authors, newest first, and whether every server has answered."""
        gathered = await self._shards.gather(
            QUERIES.gather_recent, list(authors), above=0, limit_each=LONGEST
        )
        found = {author: list[PostId]() for author in authors}
        return found | {row["author_id"]: row["posts"] for row in gathered}, gathered.is_complete

    async def _newest(self, authors: Sequence[AccountId]) -> Built:
        each = max(FEWEST_EACH, min(LONGEST, FIRST_LOOK // len(authors)))
        found: dict[AccountId, list[PostId]] = {}
        stars: list[AccountId] = []
        asked, floor, is_complete = list(authors), 0, True
        newest: list[PostId] = []
        while asked:
            gathered = await self._shards.gather(QUERIES.gather_recent, asked, above=floor, limit_each=each)
            is_complete = is_complete and gathered.is_complete
            for row in gathered:
                found[row["author_id"]] = row["posts"]
                if row["is_star"]:
                    stars.append(row["author_id"])
            newest = sorted((post for posts in found.values() for post in posts), reverse=True)[:LONGEST]
            floor = newest[-1] if len(newest) == LONGEST else 0
            asked = [author for author in asked if _may_have_more(found.get(author, []), each, floor)]
            each = min(LONGEST, each * DEEPER)
        return Built(newest, tuple(dict.fromkeys(stars)), is_complete)


def _may_have_more(posts: Sequence[PostId], each: int, floor: int) -> bool:
    return len(posts) == each < LONGEST and posts[-1] > floor
