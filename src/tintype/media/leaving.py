"""What somebody uploaded, handed out and let go. Files go before their rows: a row is what knows of its files."""

from collections.abc import AsyncIterator

import obstore
from obstore.store import ObjectStore

from shardwright.running import Shards
from tintype.base.belongings import Record
from tintype.base.ids import AccountId
from tintype.media.service import QUERIES

AT_ONCE = 100


class MediaBelongings:
    """The media room's part in exports and departures. Posts let go of their media first."""

    def __init__(self, shards: Shards, store: ObjectStore) -> None:
        self._shards, self._store = shards, store

    async def export(self, account_id: AccountId) -> AsyncIterator[Record]:
        """Uploads that belong to no post; posts hand out their own."""
        rows = await self._shards.owner(account_id).fetch(QUERIES.list_unposted, account_id=account_id)
        for row in rows:
            yield Record("uploads.json", {"media_id": str(row["id"])}, attachment=row["folder"])

    async def erase(self, account_id: AccountId) -> int:
        """Remove some pictures, files and rows."""
        shard = self._shards.owner(account_id)
        rows = await shard.fetch(QUERIES.media_to_erase, account_id=account_id, limit=AT_ONCE)
        for row in rows:
            await self._delete_files(row["folder"])
        await shard.execute(QUERIES.erase_media, ids=[row["id"] for row in rows])
        return len(rows)

    async def count_left(self, account_id: AccountId) -> int:
        """How many pictures there are."""
        return await self._shards.owner(account_id).fetch_value(QUERIES.count_media, account_id=account_id)

    async def _delete_files(self, folder: str) -> None:
        async for batch in obstore.list(self._store, folder):
            for each in batch:
                try:
                    await obstore.delete_async(self._store, each["path"])
                except FileNotFoundError:
                    continue  # a run before us got that far
