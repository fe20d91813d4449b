"""Export and erasure of what an account uploaded. Files go before their rows: a row is what knows of its files."""

from collections.abc import AsyncIterator

from tintype.base.ids import AccountId, MediaId
from tintype.base.personal_data import ExportRecord
from tintype.media.deletion import Deletion
from tintype.media.dependencies import MediaDependencies
from tintype.media.events import MediaDeleted
from tintype.media.store import QUERIES
from tintype.media.uploads.resumable import ResumableUploads

BATCH = 100


class MediaPersonalData:
    """The media room's part in exports and erasure; posts and stories erase theirs first."""

    def __init__(
        self, dependencies: MediaDependencies, deletion: Deletion, uploads: ResumableUploads
    ) -> None:
        self._shards, self._deletion, self._uploads = dependencies.shards, deletion, uploads

    async def export(self, account_id: AccountId) -> AsyncIterator[ExportRecord]:
        """Uploads that belong to no post; posts export their own media."""
        rows = await self._shards.owner(account_id).fetch(QUERIES.list_unposted, account_id=account_id)
        for row in rows:
            yield ExportRecord("uploads.json", {"media_id": str(row["id"])}, row["folder"])

    async def erase(self, account_id: AccountId) -> int:
        """Erase a batch of media and uploads in progress, files and rows; returns how many."""
        shard = self._shards.owner(account_id)
        rows = await shard.fetch(QUERIES.media_to_erase, account_id=account_id, limit=BATCH)
        ids = [MediaId(row["id"]) for row in rows]
        await self._deletion.delete(ids)
        await self._deletion.purge_deleted(MediaDeleted(ids))
        uploads = await shard.fetch(QUERIES.uploads_to_erase, account_id=account_id, limit=BATCH)
        for row in uploads:
            await self._uploads.erase(MediaId(row["id"]), account_id)
        await shard.execute(QUERIES.delete_usage, account_id=account_id)
        return len(ids) + len(uploads)

    async def count_left(self, account_id: AccountId) -> int:
        """How many media and uploads in progress the account still has."""
        return await self._shards.owner(account_id).fetch_value(QUERIES.count_media, account_id=account_id)
