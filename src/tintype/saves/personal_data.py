"""Export and erasure of what the saves room stores about a person."""

from collections.abc import AsyncIterator

from tintype.base.ids import AccountId
from tintype.base.personal_data import ExportRecord
from tintype.saves.dependencies import SavesDependencies
from tintype.saves.store import QUERIES

BATCH = 200


class SavesPersonalData:
    """One person's saves and collections, all on that person's shard."""

    def __init__(self, dependencies: SavesDependencies) -> None:
        self._shards = dependencies.shards

    async def export(self, account_id: AccountId) -> AsyncIterator[ExportRecord]:
        """Every saved post, with the names of the collections it is in."""
        home, after = self._shards.owner(account_id), 0
        while rows := await home.fetch(QUERIES.export_saves, account_id=account_id, after=after, limit=BATCH):
            after = rows[-1]["save_id"]
            for row in rows:
                yield ExportRecord(
                    "saves.json", {"post_id": str(row["post_id"]), "collections": list(row["collections"])}
                )

    async def erase(self, account_id: AccountId) -> int:
        """Erase everything in one transaction; returns how many rows."""
        return await self._shards.owner(account_id).fetch_value(QUERIES.erase_saves, account_id=account_id)

    async def count_left(self, account_id: AccountId) -> int:
        """How many rows of a person are still stored."""
        return await self._shards.owner(account_id).fetch_value(QUERIES.count_left, account_id=account_id)
