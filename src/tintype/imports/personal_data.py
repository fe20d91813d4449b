"""Export and erasure of what the imports room stores about a person: imports, their reports, and archives."""

from collections.abc import AsyncIterator

from shardwright.routing import Shards
from tintype.base.ids import AccountId
from tintype.base.personal_data import ExportRecord
from tintype.imports.dependencies import ImportsDependencies
from tintype.imports.retention import ImportRetention
from tintype.imports.store import QUERIES

BATCH = 500


class ImportsPersonalData:
    """One person's imports."""

    def __init__(self, dependencies: ImportsDependencies, retention: ImportRetention) -> None:
        self._shards: Shards = dependencies.shards
        self._retention = retention

    async def export(self, account_id: AccountId) -> AsyncIterator[ExportRecord]:
        """The latest imports with their totals, and every line of their reports."""
        shard = self._shards.owner(account_id)
        for row in reversed(await shard.fetch(QUERIES.list_imports, account_id=account_id)):
            names = ("source", "state", "total", "imported", "skipped", "changed", "ended_at")
            yield ExportRecord(
                "imports", {"import_id": str(row["id"]), **{name: row[name] for name in names}}
            )
            after = 0
            while lines := await shard.fetch(
                QUERIES.page_import_lines, import_id=row["id"], after=after, limit=BATCH
            ):
                after = lines[-1]["id"]
                for line in lines:
                    said = {name: line[name] for name in ("kind", "name", "code", "reason")}
                    yield ExportRecord("import_lines", {"import_id": str(row["id"]), **said})

    async def erase(self, account_id: AccountId) -> int:
        """Delete a batch of a person's imports, files first; returns how many."""
        rows = await self._shards.owner(account_id).fetch(
            QUERIES.list_imports_to_erase, account_id=account_id, limit=BATCH
        )
        for row in rows:
            await self._retention.delete(account_id, row["id"])
        return len(rows)

    async def count_left(self, account_id: AccountId) -> int:
        """How many rows of a person are left."""
        return await self._shards.owner(account_id).fetch_value(
            QUERIES.count_import_rows, account_id=account_id
        )
