"""Where cases lie: on a few desks, so that the queue is one although the house has many shards.

A case, its reports and everything moderators did about it are on one shard, and change in one transaction. Which one
is given by the object. A page of the queue or of the log asks every desk at once and merges what they hold.
"""

import asyncio
import zlib
from typing import Any

import asyncpg
import msgspec

from shardwright.running import Queries, Query, Shard, Shards, Transaction
from tintype.base.ids import has_shard
from tintype.moderation.errors import CaseNotFound
from tintype.moderation.kinds import ObjectKind
from tintype.moderation.models import Case, LogEntry

DESKS = 4
"""Fixed for good: an object's case is looked for where this number puts it."""


class Desks:
    """The shards that hold the cases."""

    def __init__(self, shards: Shards, queries: Queries) -> None:
        self._shards, self._queries = shards, queries

    def of_object(self, kind: ObjectKind, object_id: int) -> Shard:
        """Where the case of an object lies."""
        number = zlib.crc32(f"{kind}:{object_id}".encode()) % DESKS
        return self._shards.of(f"moderation-desk-{number}")

    def of_case(self, case_id: int) -> Shard:
        """Where a case lies, by its own id."""
        if not has_shard(self._shards, case_id):
            raise CaseNotFound
        return self._shards.owner(case_id)

    async def get(self, case_id: int) -> Case:
        """One case."""
        row = await self.of_case(case_id).fetch_one(self._queries.find_case, case_id=case_id)
        if row is None:
            raise CaseNotFound
        return case_of(row)

    async def find(self, kind: ObjectKind, object_id: int) -> Case | None:
        """The case of an object, if it ever had one."""
        row = await self.of_object(kind, object_id).fetch_one(
            self._queries.find_case_of, kind=kind, object_id=object_id
        )
        return case_of(row) if row else None

    async def lock(self, tx: Transaction, case_id: int) -> Case:
        """One case, which nobody else decides about until the transaction ends."""
        row = await tx.fetch_one(self._queries.lock_case, case_id=case_id)
        if row is None:
            raise CaseNotFound
        return case_of(row)

    async def fetch_all(self, query: Query, **params: Any) -> list[asyncpg.Record]:
        """The rows of every desk; two desks may share a shard, which is asked once."""
        shards = {self._shards.of(f"moderation-desk-{number}") for number in range(DESKS)}
        pages = await asyncio.gather(*(shard.fetch(query, **params) for shard in shards))
        return [row for page in pages for row in page]


def case_of(row: asyncpg.Record) -> Case:
    """A case from its row."""
    return Case(**{**row, "evidence": msgspec.json.decode(row["evidence"])})


def entry_of(row: asyncpg.Record) -> LogEntry:
    """An entry of the log from its row."""
    decode = msgspec.json.decode
    return LogEntry(**{**row, "before": decode(row["before"]), "after": decode(row["after"])})
