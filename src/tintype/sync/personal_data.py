"""Export and erasure of a person's update log."""

from collections.abc import AsyncIterator

import msgspec

from shardwright.routing import Query, Shards
from tintype.base.ids import AccountId
from tintype.base.personal_data import ExportRecord
from tintype.sync.store import QUERIES

BATCH = 500


class SyncPersonalData:
    """One person's update log, on that person's shard, and what the logs of others tell of them, on any."""

    def __init__(self, shards: Shards) -> None:
        self._shards = shards

    async def export(self, account_id: AccountId) -> AsyncIterator[ExportRecord]:
        """Every update that is still kept, oldest first."""
        home, after = self._shards.owner(account_id), 0
        while rows := await home.fetch(
            QUERIES.export_updates, account_id=account_id, after=after, limit=BATCH
        ):
            after = rows[-1]["seq"]
            for row in rows:
                content = {
                    "kind": row["kind"],
                    "at": row["created_at"].isoformat(),
                    "content": msgspec.json.decode(row["payload"]),
                }
                yield ExportRecord("updates.json", content)

    async def erase(self, account_id: AccountId) -> int:
        """Redact what others' logs tell of this person, and delete some of their own; returns how many rows."""
        redacted = await self._count_everywhere(QUERIES.redact_naming, account_id)
        home = self._shards.owner(account_id)
        return redacted + int(
            await home.fetch_value(QUERIES.erase_updates, account_id=account_id, limit=BATCH)
        )

    async def count_left(self, account_id: AccountId) -> int:
        """How many rows of a person are still stored."""
        home = self._shards.owner(account_id)
        own = int(await home.fetch_value(QUERIES.count_left, account_id=account_id))
        return own + await self._count_everywhere(QUERIES.count_naming, account_id)

    async def _count_everywhere(self, query: Query, account_id: AccountId) -> int:
        found = await self._shards.everywhere().execute(query, account_id=account_id)
        return sum(row["count"] for row in found.complete())
