"""The graph's part in exports and departures: everything between a person and others, on whatever shard it lies."""

from collections.abc import AsyncIterator
from typing import Any

import asyncpg

from shardwright.running import Query
from tintype.accounts import Account
from tintype.base.belongings import Record
from tintype.base.ids import AccountId
from tintype.graph.blocking import Blocks
from tintype.graph.following import Follows
from tintype.graph.store import POPULAR_KEY, QUERIES, AtDesk, Desk

BATCH = 100
EXPORTS: tuple[tuple[str, Query], ...] = (
    ("following", QUERIES.export_following),
    ("followers", QUERIES.export_followers),
    ("blocks", QUERIES.export_blocks),
    ("attitudes", QUERIES.export_attitudes),
)


class Leaving(AtDesk):
    """Hands out and lets go. Each step is one of the room's own verbs, so both sides and all counts stay right."""

    def __init__(self, desk: Desk, follows: Follows, blocks: Blocks) -> None:
        super().__init__(desk)
        self._follows, self._blocks = follows, blocks

    async def export(self, account_id: AccountId) -> AsyncIterator[Record]:
        """Follows, followers, blocks and attitudes."""
        for name, query in EXPORTS:
            after = 0
            while True:
                rows = await self._shards.owner(account_id).fetch(
                    query, account_id=account_id, after=after, limit=BATCH
                )
                people = await self._accounts.find_many(AccountId(row["other_id"]) for row in rows)
                for row in rows:
                    yield Record(f"{name}.json", self._describe(name, row, people))
                if len(rows) < BATCH:
                    break
                after = rows[-1]["place"]

    async def erase(self, account_id: AccountId) -> int:
        """Remove some of it; returns how much."""
        shard = self._shards.owner(account_id)
        rows = await shard.fetch(QUERIES.list_of_person, account_id=account_id, limit=BATCH)
        for row in rows:
            await self._part(account_id, row["kind"], AccountId(row["other_id"]))
        if rows:
            return len(rows)
        await self._shards.of(POPULAR_KEY).execute(QUERIES.forget_popular, account_id=account_id)
        removed = int(await shard.fetch_value(QUERIES.forget_person, account_id=account_id))
        elsewhere = await self._shards.everywhere().execute(QUERIES.forget_target, account_id=account_id)
        return removed + len(elsewhere.complete())

    async def count_left(self, account_id: AccountId) -> int:
        """What there still is, here and in what others have set for this person."""
        here = await self._shards.owner(account_id).fetch_value(
            QUERIES.count_of_person, account_id=account_id
        )
        gathered = await self._shards.everywhere().fetch(QUERIES.count_target, account_id=account_id)
        return int(here) + sum(row["left_here"] for row in gathered.complete())

    async def _part(self, one: AccountId, kind: str, other: AccountId) -> None:
        """End one thing between two people; a mirror that has lost its truth is ended by itself."""
        if kind == "following":
            await self._follows.unfollow(one, other)
        elif kind == "blocks":
            await self._blocks.unblock(one, other)
        elif kind == "followers" and not await self._follows.remove_follower(one, other):
            async with self._shards.owner(one).begin() as tx:
                await tx.fetch_one(QUERIES.lock_account, account_id=one)
                await tx.execute(QUERIES.drop_follower, account_id=one, follower_id=other)
        elif kind == "blocked_by" and not await self._blocks.unblock(other, one):
            await self._shards.owner(one).execute(QUERIES.drop_blocked_by, account_id=one, blocker_id=other)

    def _describe(self, name: str, row: asyncpg.Record, people: dict[AccountId, Account]) -> dict[str, Any]:
        other = people.get(AccountId(row["other_id"]))
        facts = {key: value for key, value in row.items() if key not in {"other_id", "place"}}
        if name != "attitudes":
            facts["since"] = self._shards.map.layout.id_time(row["place"]).isoformat()
        return {
            "account_id": str(row["other_id"]),
            "username": other.username if other else None,
            **facts,
        }
