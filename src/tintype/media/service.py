"""Takes pictures in, keeps their files, and hands them out."""

import asyncio
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

import obstore
from obstore.store import ObjectStore

from shardwright.running import Queries, Shards, Transaction
from tintype.base.ids import AccountId, MediaId
from tintype.base.log import get_log
from tintype.media.errors import MediaNotFound
from tintype.media.models import Media
from tintype.media.pictures import make_pictures

QUERIES = Queries.load(Path(__file__).with_name("queries.sql"))
log = get_log("media")


class MediaLibrary:
    """Uploads and files."""

    def __init__(self, shards: Shards, store: ObjectStore) -> None:
        self._shards, self._store = shards, store

    async def upload(self, account_id: AccountId, file: BinaryIO) -> Media:
        """Make all sizes of a photo and keep them under a name that cannot be guessed."""
        pictures = await asyncio.to_thread(make_pictures, file)
        shard = self._shards.owner(account_id)
        media_id = MediaId(await shard.fetch_value(QUERIES.draw_media_id))
        folder = f"{account_id}/{media_id}-{secrets.token_urlsafe(12)}"
        for size, content in pictures.files.items():
            await obstore.put_async(self._store, f"{folder}/{size}.jpg", content)
        row = await shard.fetch_one(
            QUERIES.add_media,
            id=media_id,
            account_id=account_id,
            folder=folder,
            width=pictures.width,
            height=pictures.height,
        )
        assert row is not None, "an INSERT … RETURNING returns its row"  # noqa: S101 - narrows the type
        log.info("media.uploaded", media_id=media_id, account_id=account_id)
        return Media(**row)

    async def delete_in(self, tx: Transaction, media_ids: Sequence[MediaId]) -> None:
        """Let pictures go, in the transaction of the shard they live on in which their post goes."""
        await tx.execute(QUERIES.let_go, ids=list(media_ids))

    async def read(self, path: str) -> bytes:
        """The bytes of one file."""
        try:
            found = await obstore.get_async(self._store, path)
        except (FileNotFoundError, ValueError) as error:
            raise MediaNotFound(path=path) from error
        return bytes(await found.bytes_async())
