"""Uploads that survive: sent in pieces to whichever web process answers, or straight into the store.

Each piece is an object in the incoming area before the row counts it, so what the row says has arrived is safe
whoever is killed. The offset moves by compare-and-set: there is no lock that a dead process could leave behind, and of
two senders at one offset one wins and the other is told where the upload stands. An upload's id becomes the id of
its media, so finishing twice makes them once.
"""

import contextlib
import secrets
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec

from shardwright.running import Shards
from tintype.base.errors import Invalid
from tintype.base.ids import AccountId, MediaId, has_shard
from tintype.base.log import get_log
from tintype.media.errors import MediaNotFound, MediaTooLarge
from tintype.media.failures import (
    ChecksumWrong,
    MediaStoreUnavailable,
    PresignedUnavailable,
    TooManyUploads,
    UploadIncomplete,
    UploadNotFound,
    UploadOffsetWrong,
)
from tintype.media.models import Media, Upload, Wish
from tintype.media.pieces import Checksum, pieces_of
from tintype.media.presigning import Presigned, Presigner
from tintype.media.service import MediaLibrary
from tintype.media.sql import QUERIES
from tintype.media.storage import INCOMING, Storage
from tintype.media.workshop import Spool

MOST_OPEN = 50
BITE = 200
WAIT_S = 60
log = get_log("uploads")


class Uploads:
    """Uploads under way, each seen by its sender alone."""

    def __init__(
        self, shards: Shards, storage: Storage, library: MediaLibrary, presigner: Presigner | None
    ) -> None:
        self._shards, self._storage, self._library, self._presigner = shards, storage, library, presigner

    async def begin(
        self, account_id: AccountId, size_bytes: int, wish: Wish, *, metadata: str = ""
    ) -> Upload:
        """An upload of this many bytes is expected."""
        return await self._begin(account_id, size_bytes, wish, metadata=metadata)

    async def presign(
        self, account_id: AccountId, size_bytes: int, content_type: str, wish: Wish
    ) -> tuple[Upload, Presigned]:
        """An address in the store that takes exactly this many bytes of this type, for a while."""
        if self._presigner is None:
            raise PresignedUnavailable
        part = secrets.token_urlsafe(12)
        upload = await self._begin(account_id, size_bytes, wish, parts=[part], is_direct=True)
        path = _path(upload, part)
        return upload, self._presigner.put(path, size_bytes=size_bytes, content_type=content_type)

    async def get(self, upload_id: MediaId, *, owner: AccountId) -> Upload:
        """Where an upload stands."""
        if not has_shard(self._shards, upload_id):
            raise UploadNotFound
        row = await self._shards.owner(upload_id).fetch_one(
            QUERIES.find_upload, id=upload_id, account_id=owner
        )
        if row is None:
            raise UploadNotFound
        return Upload(**row)

    async def receive(
        self, upload: Upload, at: int, chunks: AsyncIterator[bytes], checksum: Checksum | None = None
    ) -> int:
        """Take bytes in from an offset on; returns the new one. What arrived before a failure stays, and counts."""
        if upload.is_direct:
            raise UploadNotFound
        if at != upload.received_bytes:
            raise UploadOffsetWrong(at=at, stands_at=upload.received_bytes)
        room = upload.size_bytes - at
        if checksum is not None:
            return await self._receive_checked(upload, at, chunks, checksum)
        async for piece in pieces_of(chunks):
            if len(piece) > room:
                raise MediaTooLarge("More bytes arrived than the upload said it would have.")
            at = await self._keep(upload, at, piece)
            room -= len(piece)
        return at

    async def finish(self, upload_id: MediaId, *, owner: AccountId) -> Media:
        """All bytes are there: make the media. Safe to repeat; a refused file ends the upload."""
        upload = await self.get(upload_id, owner=owner)
        if upload.is_finished:
            return await self._library.get(upload.id, owner=owner)
        if upload.is_direct:
            await self._check_arrived(upload)
        elif upload.received_bytes < upload.size_bytes:
            raise UploadIncomplete
        try:
            media = await self._make(upload)
        except Invalid:
            await self._end(upload)
            raise
        except MediaNotFound as error:  # somebody else has finished it, and taken the parts away
            if not (await self.get(upload_id, owner=owner)).is_finished:
                raise MediaStoreUnavailable from error
            return await self._library.get(upload.id, owner=owner)
        await self._shards.owner(upload.id).execute(QUERIES.finish_upload, id=upload.id)
        with contextlib.suppress(MediaStoreUnavailable):  # the sweeper finds what stays behind
            await self._storage.delete_below(_folder(upload))
        return media

    async def drop(self, upload_id: MediaId, *, owner: AccountId) -> None:
        """The sender does not want it any more: row and bytes go."""
        await self._end(await self.get(upload_id, owner=owner))

    async def erase(self, upload_id: MediaId, account_id: AccountId) -> None:
        """Bytes first, then the row: of somebody who leaves nothing is forgotten before it is gone."""
        await self._storage.delete_below(f"{INCOMING}/{account_id}/{upload_id}")
        await self._shards.owner(upload_id).execute(QUERIES.drop_upload, id=upload_id)

    async def end_expired(self) -> int:
        """Uploads that nobody finished in time are gone, bytes and all; returns how many."""
        count = 0
        everywhere = self._shards.everywhere()
        while rows := (await everywhere.fetch(QUERIES.list_expired_uploads, limit=BITE)).rows:
            for row in rows:
                await self._storage.delete_below(f"{INCOMING}/{row['account_id']}/{row['id']}")
                await self._shards.owner(row["id"]).execute(QUERIES.drop_upload, id=row["id"])
            count += len(rows)
        return count

    async def _end(self, upload: Upload) -> None:
        await self._shards.owner(upload.id).execute(QUERIES.drop_upload, id=upload.id)
        with contextlib.suppress(MediaStoreUnavailable):  # the sweeper finds what stays behind
            await self._storage.delete_below(_folder(upload))

    async def _make(self, upload: Upload) -> Media:
        with self._library.spool() as spool:
            for part in upload.parts:
                opened = await self._storage.open(_path(upload, part))
                async for chunk in opened.chunks:
                    spool.write(chunk)
            spool.close()
            spool.check()
            wish = msgspec.json.decode(upload.wish, type=Wish)
            return await self._library.upload(upload.account_id, spool.path, wish, media_id=upload.id)

    async def _begin(
        self,
        account_id: AccountId,
        size_bytes: int,
        wish: Wish,
        *,
        metadata: str = "",
        parts: list[str] | None = None,
        is_direct: bool = False,
    ) -> Upload:
        if size_bytes > self._library.most_bytes:
            raise MediaTooLarge(size_bytes=size_bytes)
        shard = self._shards.owner(account_id)
        row = await shard.fetch_one(
            QUERIES.begin_upload,
            id=await shard.fetch_value(QUERIES.draw_media_id),
            account_id=account_id,
            size_bytes=size_bytes,
            wish=msgspec.json.encode(wish).decode(),
            metadata=metadata,
            is_direct=is_direct,
            parts=parts or [],
            most=MOST_OPEN,
        )
        if row is None:
            raise TooManyUploads(retry_after_s=WAIT_S)
        return Upload(**row)

    async def _receive_checked(
        self, upload: Upload, at: int, chunks: AsyncIterator[bytes], checksum: Checksum
    ) -> int:
        """With a checksum a request counts as a whole or not at all, so its bytes wait in a file."""
        with (
            self._library.workshop.folder() as folder,
            contextlib.closing(Spool(folder / "piece", lambda _head: upload.size_bytes)) as spool,
        ):
            async for chunk in chunks:
                if spool.size_bytes + len(chunk) > upload.size_bytes - at:
                    raise MediaTooLarge("More bytes arrived than the upload said it would have.")
                checksum.add(chunk)
                spool.write(chunk)
            spool.close()
            if not checksum.is_right():
                raise ChecksumWrong
            return await self._keep(upload, at, spool.path, spool.size_bytes) if spool.size_bytes else at

    async def _keep(self, upload: Upload, at: int, piece: bytes | Path, size_bytes: int | None = None) -> int:
        part = f"{at:012d}-{secrets.token_urlsafe(12)}"
        await self._storage.put(_path(upload, part), piece)
        now_at = await self._shards.owner(upload.id).fetch_value(
            QUERIES.add_part,
            id=upload.id,
            at=at,
            size_bytes=len(piece) if isinstance(piece, bytes) else size_bytes,
            part=part,
        )
        if now_at is None:
            await self._storage.delete([_path(upload, part)])
            raise UploadOffsetWrong(at=at)
        return now_at

    async def _check_arrived(self, upload: Upload) -> None:
        try:
            size_bytes = await self._storage.size_of(_path(upload, upload.parts[0]))
        except MediaNotFound as error:
            raise UploadIncomplete from error
        if size_bytes != upload.size_bytes:
            raise UploadIncomplete("The file in the store has another size than was said.")
        await self._shards.owner(upload.id).execute(QUERIES.note_direct, id=upload.id)


def _folder(upload: Upload) -> str:
    return f"{INCOMING}/{upload.account_id}/{upload.id}"


def _path(upload: Upload, part: str) -> str:
    return f"{_folder(upload)}/{part}"
