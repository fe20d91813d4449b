"""How a reader stands to people and posts, as far as it was asked: one query on the reader's shard, then remembered.

What is remembered is near (`base/ties.py`): it is thrown away as soon as anything ties the reader otherwise, and after
a minute in any case.
"""

import time
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from shardwright.running import Queries, Shards
from tintype.accounts import Account
from tintype.base.bringing import Bringing
from tintype.base.ids import AccountId, PostId
from tintype.base.near import Shelf
from tintype.base.ties import KEPT_S, Ties

QUERIES = Queries.load(Path(__file__).with_name("visible.sql"))
MOST_NEAR = 5_000
MOST_POSTS = 1_000
"""Somebody who scrolls on and on is asked about anew after so many posts."""


class Stance:
    """What is known of how one reader stands. It only ever grows."""

    __slots__ = ("authors", "blocked", "liked", "people", "posts", "reader", "saved", "since")

    def __init__(self, reader: AccountId, since: float) -> None:
        self.reader, self.since = reader, since
        self.people: set[int] = set()
        """Of whom everything is known; likewise `posts`."""
        self.posts: set[int] = set()
        self.blocked: set[int] = set()
        self.liked: set[int] = set()
        self.saved: set[int] = set()
        self.authors: set[int] = {reader}
        """Whose posts belong into the reader's feed."""

    def known_of(self, accounts: Mapping[AccountId, Account]) -> dict[AccountId, Account]:
        """Those of the accounts that the reader may learn of: in use, and no block between the two; or their own."""
        return {
            each: account
            for each, account in accounts.items()
            if (account.status == "active" and each not in self.blocked) or each == self.reader
        }


class Stances:
    """Finds out how readers stand."""

    def __init__(self, shards: Shards, ties: Ties, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._shards, self._ties, self._clock = shards, ties, clock
        self._shelf: Shelf[int, Stance] = ties.shelf(MOST_NEAR)
        self._near = self._shelf.here

    def ask(self, reader: AccountId, bringing: Bringing) -> None:
        """Be told from now on when the reader stands otherwise."""
        if self._find(reader) is None:
            self._ties.ask(reader, bringing, self._shelf)

    def take(self, reader: AccountId, bringing: Bringing) -> None:
        """What is learnt from here on may be remembered."""
        bringing.keep(self._shelf, reader, Stance(reader, self._clock()))

    def holds(self, stance: Stance) -> bool:
        """Whether it is still true, by the rule of `base/near.py`."""
        return self._find(stance.reader) is stance

    async def read(
        self, reader: AccountId, people: Collection[AccountId], posts: Collection[PostId]
    ) -> Stance:
        """How the reader stands to these, at least."""
        stance = self._find(reader) or Stance(reader, self._clock())
        if not (stance.people.issuperset(people) and stance.posts.issuperset(posts)):
            await self._learn(stance, list(set(people) - stance.people), list(set(posts) - stance.posts))
        return stance

    async def _learn(self, stance: Stance, people: list[AccountId], posts: list[PostId]) -> None:
        """A change that comes meanwhile takes the stance away from where others would find it."""
        row = await self._shards.owner(stance.reader).fetch_one(
            QUERIES.standing, reader_id=stance.reader, people=people, posts=posts
        )
        if row is not None:
            followed, muted, blocked, liked, saved = row
            stance.authors.update(set(followed).difference(muted))
            stance.blocked.update(blocked)
            stance.liked.update(liked)
            stance.saved.update(saved)
        stance.people.update(people)
        stance.posts.update(posts)

    def _find(self, reader: AccountId) -> Stance | None:
        stance = self._near.get(reader)
        is_good = (
            stance is not None and self._clock() - stance.since < KEPT_S and len(stance.posts) < MOST_POSTS
        )
        return stance if is_good else None
