"""Bulk fill: writes generated people into empty shards; thousands of sign-ups through the front doors take minutes.

Only the initial data is written this way. Everything measured (posting, fan-out, reading) goes through the rooms.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from shardwright.routing import Queries, Query, Shard, Shards
from tintype.base.ids import AccountId, MediaId
from tintype.simulation.models import SimulatedPerson
from tintype.simulation.population import count_followers

QUERIES = Queries.load(Path(__file__).with_name("queries.sql"))
ROWS = 4_000
"""Rows per statement: well below the statement timeout, with few round trips."""
NO_PASSWORD = "!"  # noqa: S105 - no password matches it
"""A hash that matches no password."""
PREFIX = "sim_"
"""Prefix of the generated usernames."""


class BulkFill:
    """Inserts rows on many shards, with one statement per few thousand rows of a shard."""

    def __init__(self, shards: Shards) -> None:
        self._shards = shards

    async def add_people(
        self,
        people: Sequence[SimulatedPerson],
        *,
        history: int = 0,
        celebrities: Iterable[int] = (),
        password_hash: str = NO_PASSWORD,
    ) -> list[AccountId]:
        """Create accounts, follows and past posts for these people; returns their ids by number.

        `celebrities` are marked as such from the start, as if they had crossed the threshold long ago.
        """
        ids = await self._add_accounts(people, history, password_hash)
        names = [(f"{PREFIX}{person.number}", ids[person.number]) for person in people]
        await self._write(QUERIES.claim_names, names, "usernames", "account_ids", key=self._shards.of)
        follows = [(ids[person.number], ids[other]) for person in people for other in person.followees]
        await self._write(QUERIES.add_following, follows, "account_ids", "followee_ids")
        mirrored = [(followee, follower) for follower, followee in follows]
        await self._write(QUERIES.add_followers, mirrored, "account_ids", "follower_ids")
        for _ in range(history):
            await self._write(QUERIES.add_history, [(each,) for each in ids], "account_ids")
        await self._write(QUERIES.add_celebrities, [(ids[number],) for number in celebrities], "account_ids")
        return ids

    async def add_pictures(self, authors: Iterable[AccountId]) -> dict[AccountId, list[MediaId]]:
        """Create one unposted photo per occurrence of an author, for the posts that they will publish."""
        found: dict[AccountId, list[MediaId]] = defaultdict(list)
        rows = [(author,) for author in authors]
        for row in await self._write(QUERIES.add_pictures, rows, "account_ids"):
            found[AccountId(row["account_id"])].append(MediaId(row["id"]))
        return found

    async def _add_accounts(
        self, people: Sequence[SimulatedPerson], history: int, password_hash: str
    ) -> list[AccountId]:
        followers, numbers = count_followers(people), sorted(self._shards.map.owners)
        rows = [
            (f"{PREFIX}{person.number}", followers[person.number], len(person.followees)) for person in people
        ]
        ids: dict[str, AccountId] = {}
        for index, number in enumerate(numbers):
            made = await self._write(
                QUERIES.add_people,
                rows[index :: len(numbers)],
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
        """Insert each row on the shard that its first column determines; returns what the statements return."""
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
