"""Where cases are stored: in four partitions, so that there is one queue although the installation has many shards.

A case, its reports and everything moderators did about it are on one shard, and change in one transaction. The reported
object decides which. A page of the queue or of the log reads every partition at once and merges the results.
"""

import asyncio
import zlib
from typing import Any

import asyncpg

from shardwright.routing import Query, Shard, Shards, Transaction
from tintype.base.ids import has_shard
from tintype.moderation.errors import CaseNotFound
from tintype.moderation.kinds import ObjectKind
from tintype.moderation.models import Case
from tintype.moderation.store import QUERIES, read_case

PARTITIONS = 4
"""Never changes: an object's case is found in the partition that this number gives."""


class QueuePartitions:
    """The shards that store cases, by hash of "moderation-desk-0" to "-3"."""

    def __init__(self, shards: Shards) -> None:
        self._shards = shards

    def of_object(self, kind: ObjectKind, object_id: int) -> Shard:
        """The shard of an object's case."""
        number = zlib.crc32(f"{kind}:{object_id}".encode()) % PARTITIONS
        return self._partition(number)

    def of_case(self, case_id: int) -> Shard:
        """The shard of a case, by its own id."""
        if not has_shard(self._shards, case_id):
            raise CaseNotFound
        return self._shards.owner(case_id)

    async def get(self, case_id: int) -> Case:
        """One case."""
        row = await self.of_case(case_id).fetch_one(QUERIES.find_case, case_id=case_id)
        if row is None:
            raise CaseNotFound
        return read_case(row)

    async def find(self, kind: ObjectKind, object_id: int) -> Case | None:
        """The case of an object, if it ever had one."""
        row = await self.of_object(kind, object_id).fetch_one(
            QUERIES.find_case_of, kind=kind, object_id=object_id
        )
        return read_case(row) if row else None

    async def lock(self, tx: Transaction, case_id: int) -> Case:
        """One case, locked until the transaction ends."""
        row = await tx.fetch_one(QUERIES.lock_case, case_id=case_id)
        if row is None:
            raise CaseNotFound
        return read_case(row)

    async def fetch_all(self, query: Query, **params: Any) -> list[asyncpg.Record]:
        """The rows of every partition; a shard that holds two partitions is read once."""
        shards = {self._partition(number) for number in range(PARTITIONS)}
        pages = await asyncio.gather(*(shard.fetch(query, **params) for shard in shards))
        return [row for page in pages for row in page]

    def _partition(self, number: int) -> Shard:
        return self._shards.of(f"moderation-desk-{number}")
