"""The graph's part in exports and erasure of personal data: all relations of a person, on whatever shard they lie."""

from collections.abc import AsyncIterator
from typing import Any

import asyncpg

from shardwright.routing import Query
from tintype.accounts import Account
from tintype.base.ids import AccountId
from tintype.base.personal_data import ExportRecord
from tintype.graph.blocks import Blocks
from tintype.graph.dependencies import GraphDependencies
from tintype.graph.follows import Follows
from tintype.graph.store import POPULAR_KEY, QUERIES

BATCH = 100
EXPORTS: tuple[tuple[str, Query], ...] = (
    ("following", QUERIES.export_following),
    ("followers", QUERIES.export_followers),
    ("blocks", QUERIES.export_blocks),
    ("attitudes", QUERIES.export_preferences),
)


class GraphPersonalData:
    """Exports and erases relations; erasing uses unfollow and unblock, so both sides and all counts stay right."""

    def __init__(self, deps: GraphDependencies, follows: Follows, blocks: Blocks) -> None:
        self._deps, self._shards, self._follows, self._blocks = deps, deps.shards, follows, blocks

    async def export(self, account_id: AccountId) -> AsyncIterator[ExportRecord]:
        """Follows, followers, blocks and preferences, oldest first."""
        for name, query in EXPORTS:
            after = 0
            while True:
                rows = await self._shards.owner(account_id).fetch(
                    query, account_id=account_id, after=after, limit=BATCH
                )
                people = await self._deps.accounts.find_many(AccountId(row["other_id"]) for row in rows)
                for row in rows:
                    yield ExportRecord(f"{name}.json", self._describe(name, row, people))
                if len(rows) < BATCH:
                    break
                after = rows[-1]["cursor"]

    async def erase(self, account_id: AccountId) -> int:
        """Erase a batch of a person's relations, on all shards; returns how many."""
        shard = self._shards.owner(account_id)
        rows = await shard.fetch(QUERIES.list_relations_of, account_id=account_id, limit=BATCH)
        for row in rows:
            await self._end_relation(account_id, row["kind"], AccountId(row["other_id"]))
        if rows:
            return len(rows)
        await self._shards.of(POPULAR_KEY).execute(QUERIES.remove_popular, account_id=account_id)
        erased = int(await shard.fetch_value(QUERIES.erase_own_rows, account_id=account_id))
        elsewhere = await self._shards.everywhere().execute(
            QUERIES.erase_preferences_towards, account_id=account_id
        )
        return erased + len(elsewhere.complete())

    async def count_left(self, account_id: AccountId) -> int:
        """How many rows about this person are left, on their own shard and in the preferences of others."""
        own = await self._shards.owner(account_id).fetch_value(QUERIES.count_own_rows, account_id=account_id)
        gathered = await self._shards.everywhere().fetch(
            QUERIES.count_preferences_towards, account_id=account_id
        )
        return int(own) + sum(row["count"] for row in gathered.complete())

    async def _end_relation(self, one: AccountId, kind: str, other: AccountId) -> None:
        """End one relation; a mirror row whose truth is gone is ended by itself."""
        if kind == "following":
            await self._follows.unfollow(one, other)
        elif kind == "blocks":
            await self._blocks.unblock(one, other)
        elif kind == "followers" and not await self._follows.remove_follower(one, other):
            async with self._shards.owner(one).begin() as tx:
                await self._deps.accounts.lock(tx, one)
                await self._deps.follow_rows.drop_follower(tx, one, other)
        elif kind == "blocked_by" and not await self._blocks.unblock(other, one):
            await self._shards.owner(one).execute(QUERIES.end_blocked_by, account_id=one, blocker_id=other)

    def _describe(self, name: str, row: asyncpg.Record, people: dict[AccountId, Account]) -> dict[str, Any]:
        other = people.get(AccountId(row["other_id"]))
        facts = {key: value for key, value in row.items() if key not in {"other_id", "cursor"}}
        if name != "attitudes":
            facts["since"] = self._shards.map.layout.id_time(row["cursor"]).isoformat()
        return {
            "account_id": str(row["other_id"]),
            "username": other.username if other else None,
            **facts,
        }
