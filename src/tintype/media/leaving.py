"""What somebody uploaded, handed out and let go. Files go before their rows: a row is what knows of its files."""

from collections.abc import AsyncIterator

from shardwright.running import Shards
from tintype.base.belongings import Record
from tintype.base.ids import AccountId, MediaId
from tintype.media.events import MediaDeleted
from tintype.media.later import MediaLater
from tintype.media.service import MediaLibrary
from tintype.media.sql import QUERIES
from tintype.media.uploads import Uploads

AT_ONCE = 100
LARGEST_PICTURE = "1080.jpg"


class MediaBelongings:
    """The media room's part in exports and departures. Posts let go of their media first."""

    def __init__(self, shards: Shards, library: MediaLibrary, uploads: Uploads, later: MediaLater) -> None:
        self._shards, self._library, self._uploads, self._later = shards, library, uploads, later

    async def export(self, account_id: AccountId) -> AsyncIterator[Record]:
        """Pictures that belong to no post; posts hand out their own."""
        rows = await self._shards.owner(account_id).fetch(QUERIES.list_unposted, account_id=account_id)
        for row in rows:
            yield Record(
                "uploads.json", {"media_id": str(row["id"])}, attachment=f"{row['folder']}/{LARGEST_PICTURE}"
            )

    async def erase(self, account_id: AccountId) -> int:
        """Remove some pictures and uploads, files and rows."""
        shard = self._shards.owner(account_id)
        rows = await shard.fetch(QUERIES.media_to_erase, account_id=account_id, limit=AT_ONCE)
        ids = [MediaId(row["id"]) for row in rows]
        await self._library.delete(ids)
        await self._later.remove(MediaDeleted(ids))
        begun = await shard.fetch(QUERIES.uploads_to_erase, account_id=account_id, limit=AT_ONCE)
        for row in begun:
            await self._uploads.erase(MediaId(row["id"]), account_id)
        return len(ids) + len(begun)

    async def count_left(self, account_id: AccountId) -> int:
        """How many pictures and uploads there are."""
        return await self._shards.owner(account_id).fetch_value(QUERIES.count_media, account_id=account_id)
