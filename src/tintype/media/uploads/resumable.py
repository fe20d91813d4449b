"""Uploads that survive a lost connection: in parts to whichever web process answers (tus), or straight into S3.

Each part is an object below `incoming/` before the row counts it, so what the row says has arrived is safe whichever
process is killed. The offset moves by compare-and-set: no lock can be left behind by a dead process, and of two
senders at one offset one wins and the other is told the offset. An upload's id becomes the id of its media, so
finishing twice makes them once.
"""

import contextlib
import secrets
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec

from tintype.base.errors import Invalid
from tintype.base.ids import AccountId, MediaId, has_shard
from tintype.media.dependencies import MediaDependencies
from tintype.media.errors import (
    ChecksumWrong,
    MediaNotFound,
    MediaStoreUnavailable,
    MediaTooLarge,
    PresignedUnavailable,
    TooManyUploads,
    UploadIncomplete,
    UploadNotFound,
    UploadOffsetWrong,
)
from tintype.media.models import Media, ResumableUpload
from tintype.media.storage.object_storage import INCOMING
from tintype.media.store import QUERIES
from tintype.media.uploads.checksum import Checksum
from tintype.media.uploads.ingest import Ingest
from tintype.media.uploads.options import UploadOptions
from tintype.media.uploads.parts import split_into_parts
from tintype.media.uploads.presign import Presigned, build_presigner
from tintype.media.uploads.spool import Spool

MAX_OPEN = 50
BATCH = 200
RETRY_AFTER_S = 60


class ResumableUploads:
    """Uploads in progress, each visible to its sender alone."""

    def __init__(self, dependencies: MediaDependencies, ingest: Ingest) -> None:
        self._shards, self._storage, self._rows = (
            dependencies.shards,
            dependencies.storage,
            dependencies.rows,
        )
        self._temporary, self._ingest, self._usage = dependencies.temporary, ingest, dependencies.usage
        self._presigner = build_presigner(dependencies.settings)

    async def begin(
        self, account_id: AccountId, size_bytes: int, options: UploadOptions, *, metadata: str = ""
    ) -> ResumableUpload:
        """Start an upload of this many bytes, sent in parts."""
        return await self._begin(account_id, size_bytes, options, metadata=metadata)

    async def presign(
        self, account_id: AccountId, size_bytes: int, content_type: str, options: UploadOptions
    ) -> tuple[ResumableUpload, Presigned]:
        """Start an upload straight into S3, by a URL that accepts exactly this many bytes of this type, for an hour."""
        if self._presigner is None:
            raise PresignedUnavailable
        part = secrets.token_urlsafe(12)
        upload = await self._begin(account_id, size_bytes, options, parts=[part], is_direct=True)
        path = _path(upload, part)
        return upload, self._presigner.put(path, size_bytes=size_bytes, content_type=content_type)

    async def get(self, upload_id: MediaId, *, owner: AccountId) -> ResumableUpload:
        """An upload in progress, with the number of bytes that are safe."""
        if not has_shard(self._shards, upload_id):
            raise UploadNotFound
        row = await self._shards.owner(upload_id).fetch_one(
            QUERIES.find_upload, id=upload_id, account_id=owner
        )
        if row is None:
            raise UploadNotFound
        return ResumableUpload(**row)

    async def receive(
        self, upload: ResumableUpload, at: int, chunks: AsyncIterator[bytes], checksum: Checksum | None = None
    ) -> int:
        """Store bytes from an offset on; returns the new offset. What arrived before a failure stays, and counts."""
        if upload.is_direct:
            raise UploadNotFound
        if at != upload.received_bytes:
            raise UploadOffsetWrong(at=at, stands_at=upload.received_bytes)
        if checksum is not None:
            return await self._receive_checked(upload, at, chunks, checksum)
        async for part in split_into_parts(chunks):
            if len(part) > upload.size_bytes - at:
                raise MediaTooLarge("More bytes arrived than the upload said it would have.")
            at = await self._store_part(upload, at, part)
        return at

    async def finish(self, upload_id: MediaId, *, owner: AccountId) -> Media:
        """Make media of an upload whose bytes have all arrived. Safe to repeat; a refused file ends the upload."""
        upload = await self.get(upload_id, owner=owner)
        if upload.is_finished:
            return await self._rows.get(upload.id, owner=owner)
        if upload.is_direct:
            await self._check_arrived(upload)
        elif upload.received_bytes < upload.size_bytes:
            raise UploadIncomplete
        try:
            media = await self._make_media(upload)
        except Invalid:
            await self._delete(upload)
            raise
        except MediaNotFound as error:  # another request has finished it, and deleted the parts
            if not (await self.get(upload_id, owner=owner)).is_finished:
                raise MediaStoreUnavailable from error
            return await self._rows.get(upload.id, owner=owner)
        await self._shards.owner(upload.id).execute(QUERIES.finish_upload, id=upload.id)
        with contextlib.suppress(MediaStoreUnavailable):  # the sweep finds what stays behind
            await self._storage.delete_prefix(_folder(upload))
        return media

    async def cancel(self, upload_id: MediaId, *, owner: AccountId) -> None:
        """Delete an upload that its sender no longer wants, row and bytes."""
        await self._delete(await self.get(upload_id, owner=owner))

    async def erase(self, upload_id: MediaId, account_id: AccountId) -> None:
        """Delete an upload of an account that is being erased: bytes first, so that the row still knows of them."""
        await self._storage.delete_prefix(f"{INCOMING}/{account_id}/{upload_id}")
        await self._shards.owner(upload_id).execute(QUERIES.delete_upload, id=upload_id)

    async def delete_expired(self) -> int:
        """Delete uploads that nobody finished in time, bytes and rows; returns how many."""
        count = 0
        everywhere = self._shards.everywhere()
        while rows := (await everywhere.fetch(QUERIES.list_expired_uploads, limit=BATCH)).rows:
            for row in rows:
                await self.erase(MediaId(row["id"]), AccountId(row["account_id"]))
            count += len(rows)
        return count

    async def _delete(self, upload: ResumableUpload) -> None:
        await self._shards.owner(upload.id).execute(QUERIES.delete_upload, id=upload.id)
        with contextlib.suppress(MediaStoreUnavailable):  # the sweep finds what stays behind
            await self._storage.delete_prefix(_folder(upload))

    async def _make_media(self, upload: ResumableUpload) -> Media:
        with self._ingest.spool() as spool:
            for part in upload.parts:
                stored = await self._storage.open(_path(upload, part))
                async for chunk in stored.chunks:
                    spool.write(chunk)
            spool.close()
            spool.check()
            options = msgspec.json.decode(upload.options, type=UploadOptions)
            return await self._ingest.ingest(upload.account_id, spool.path, options, media_id=upload.id)

    async def _begin(
        self,
        account_id: AccountId,
        size_bytes: int,
        options: UploadOptions,
        *,
        metadata: str = "",
        parts: list[str] | None = None,
        is_direct: bool = False,
    ) -> ResumableUpload:
        if size_bytes > self._ingest.max_bytes:
            raise MediaTooLarge(size_bytes=size_bytes)
        upload_id = await self._rows.draw_id(account_id)
        async with self._shards.owner(account_id).begin() as tx:
            await self._usage.reserve(tx, account_id, size_bytes)
            row = await tx.fetch_one(
                QUERIES.begin_upload,
                id=upload_id,
                account_id=account_id,
                size_bytes=size_bytes,
                options=msgspec.json.encode(options).decode(),
                metadata=metadata,
                is_direct=is_direct,
                parts=parts or [],
                max_open=MAX_OPEN,
            )
        if row is None:
            raise TooManyUploads(retry_after_s=RETRY_AFTER_S)
        return ResumableUpload(**row)

    async def _receive_checked(
        self, upload: ResumableUpload, at: int, chunks: AsyncIterator[bytes], checksum: Checksum
    ) -> int:
        """With a checksum a request counts as a whole or not at all, so its bytes wait in a file."""
        with (
            self._temporary.folder() as folder,
            contextlib.closing(Spool(folder / "part", lambda _head: upload.size_bytes)) as spool,
        ):
            async for chunk in chunks:
                if spool.size_bytes + len(chunk) > upload.size_bytes - at:
                    raise MediaTooLarge("More bytes arrived than the upload said it would have.")
                checksum.update(chunk)
                spool.write(chunk)
            spool.close()
            if not checksum.matches():
                raise ChecksumWrong
            if not spool.size_bytes:
                return at
            return await self._store_part(upload, at, spool.path, spool.size_bytes)

    async def _store_part(
        self, upload: ResumableUpload, at: int, content: bytes | Path, size_bytes: int | None = None
    ) -> int:
        part = f"{at:012d}-{secrets.token_urlsafe(12)}"
        await self._storage.put(_path(upload, part), content)
        offset = await self._shards.owner(upload.id).fetch_value(
            QUERIES.add_part,
            id=upload.id,
            at=at,
            size_bytes=len(content) if isinstance(content, bytes) else size_bytes,
            part=part,
        )
        if offset is None:
            await self._storage.delete([_path(upload, part)])
            raise UploadOffsetWrong(at=at)
        return offset

    async def _check_arrived(self, upload: ResumableUpload) -> None:
        try:
            size_bytes = await self._storage.size_of(_path(upload, upload.parts[0]))
        except MediaNotFound as error:
            raise UploadIncomplete from error
        if size_bytes != upload.size_bytes:
            raise UploadIncomplete("The file in the store has another size than was said.")
        await self._shards.owner(upload.id).execute(QUERIES.mark_direct_arrived, id=upload.id)


def _folder(upload: ResumableUpload) -> str:
    return f"{INCOMING}/{upload.account_id}/{upload.id}"


def _path(upload: ResumableUpload, part: str) -> str:
    return f"{_folder(upload)}/{part}"
