"""Puts invented people into empty shards, in bulk: thousands of sign-ups and follows through the doors take minutes.

Only the ground is laid this way. What is measured afterwards, posting, fan-out and reading, goes through the rooms.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from shardwright.running import Queries, Query, Shard, Shards
from tintype.base.ids import AccountId, MediaId
from tintype.simulation.models import Person
from tintype.simulation.population import count_followers

QUERIES = Queries.load(Path(__file__).with_name("queries.sql"))
ROWS = 4_000
"""Rows a statement: far from the statement time-out, and few round trips."""
NOBODY = "!"
"""A hash that no password has."""
PREFIX = "sim_"
"""Invented people can be told by their names."""


class Settler:
    """Writes many rows of many shards with one statement for each few thousand of a shard."""

    def __init__(self, shards: Shards) -> None:
        self._shards = shards

    async def settle(
        self,
        people: Sequence[Person],
        *,
        history: int = 0,
        stars: Iterable[int] = (),
        password_hash: str = NOBODY,
    ) -> list[AccountId]:
        """These people exist, follow each other and have posted; returns their ids by number.

        The stars are such from the beginning, as if they had crossed the threshold long ago.
        """
        ids = await self._add_people(people, history, password_hash)
        names = [(f"{PREFIX}{person.number}", ids[person.number]) for person in people]
        await self._write(QUERIES.claim_names, names, "usernames", "account_ids", key=self._shards.of)
        follows = [(ids[person.number], ids[other]) for person in people for other in person.followees]
        await self._write(QUERIES.add_following, follows, "account_ids", "followee_ids")
        mirrored = [(followee, follower) for follower, followee in follows]
        await self._write(QUERIES.add_followers, mirrored, "account_ids", "follower_ids")
        for _ in range(history):
            await self._write(QUERIES.add_history, [(each,) for each in ids], "account_ids")
        await self._write(QUERIES.add_stars, [(ids[number],) for number in stars], "account_ids")
        return ids

    async def lay_out_pictures(self, authors: Iterable[AccountId]) -> dict[AccountId, list[MediaId]]:
        """A picture is ready for each post that somebody will publish: one for each time an author is named."""
        found: dict[AccountId, list[MediaId]] = defaultdict(list)
        rows = [(author,) for author in authors]
        for row in await self._write(QUERIES.add_pictures, rows, "account_ids"):
            found[AccountId(row["account_id"])].append(MediaId(row["id"]))
        return found

    async def _add_people(
        self, people: Sequence[Person], history: int, password_hash: str
    ) -> list[AccountId]:
        followers, numbers = count_followers(people), sorted(self._shards.map.owners)
        rows = [
            (f"{PREFIX}{person.number}", followers[person.number], len(person.followees)) for person in people
        ]
        ids: dict[str, AccountId] = {}
        for place, number in enumerate(numbers):
            made = await self._write(
                QUERIES.add_people,
                rows[place :: len(numbers)],
                "usernames",
                "followers",
                "followees",
                key=lambda _, number=number: self._shards.shard(number),
                password_hash=password_hash,
                posts=history,
            )
            ids |= {row["username"]: AccountId(row["id"]) for row in made}
        return [ids[username] for username, _, _ in rows]

    async def _write(
        self,
        query: Query,
        rows: Iterable[tuple[Any, ...]],  # any: ids, names and counts, as the query's arrays want them
        *names: str,
        key: Callable[[Any], Shard] | None = None,
        **params: object,
    ) -> list[Any]:
        """The rows are on the shards that their first columns name; returns what the statements return."""
        parts: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
        find = key or self._shards.owner
        for row in rows:
            parts[find(row[0]).number].append(row)
        returned: list[Any] = []
        for number, part in sorted(parts.items()):
            for start in range(0, len(part), ROWS):
                columns = zip(*part[start : start + ROWS], strict=True)
                arrays = dict(zip(names, map(list, columns), strict=True))
                returned += await self._shards.shard(number).fetch(query, **arrays, **params)
        return returned
