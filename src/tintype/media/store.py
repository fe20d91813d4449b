"""The room's SQL (`queries.sql`), and reads of single rows of `media`."""

from pathlib import Path

from shardwright.routing import Queries, Shards
from tintype.base.ids import AccountId, MediaId, has_shard
from tintype.media.errors import MediaNotFound
from tintype.media.models import Media

QUERIES = Queries.load(Path(__file__).with_name("queries.sql"))


class MediaRows:
    """Reads rows of `media` from the shard that their id names."""

    def __init__(self, shards: Shards) -> None:
        self._shards = shards

    async def find(self, media_id: MediaId) -> Media | None:
        """One row, whatever its state."""
        if not has_shard(self._shards, media_id):
            return None
        row = await self._shards.owner(media_id).fetch_one(QUERIES.find_media, id=media_id)
        return None if row is None else Media(**row)

    async def get(self, media_id: MediaId, *, owner: AccountId) -> Media:
        """One row, if it belongs to this account and is not deleted."""
        media = await self.find(media_id)
        if media is None or media.account_id != owner or media.state == "deleted":
            raise MediaNotFound
        return media

    async def draw_id(self, account_id: AccountId) -> MediaId:
        """A new id on the account's shard, drawn before the files are written: their folder is named after it."""
        return MediaId(await self._shards.owner(account_id).fetch_value(QUERIES.draw_media_id))
