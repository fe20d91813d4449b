"""Encrypted files of messages: opaque bytes in the object store, for the members of the thread alone.

As with other media, a file is taken on its sender's shard first, under the local id of the message, and the message is
sent after that. Files without a message are deleted after a day.
"""

import secrets
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import asyncpg

from shardwright.routing import Transaction
from tintype.base.ids import AccountId, MediaId, has_shard
from tintype.base.log import get_log
from tintype.base.rate_limits import ENCRYPTED_UPLOAD
from tintype.direct.dependencies import DirectDependencies
from tintype.direct.encryption.errors import AttachmentInvalid, AttachmentNotFound, AttachmentTooLarge
from tintype.direct.encryption.models import LARGEST_ATTACHMENT, AttachmentId
from tintype.direct.encryption.store import QUERIES
from tintype.direct.models import ThreadId
from tintype.direct.store import QUERIES as THREAD_QUERIES
from tintype.media import MediaStoreUnavailable, ObjectStream

FOLDER = "encrypted"
BATCH = 100
log = get_log("direct")


class Attachments:
    """Stores encrypted files, opens them for members, and deletes them with their message."""

    def __init__(self, deps: DirectDependencies) -> None:
        self._shards, self._media, self._limiter = deps.shards, deps.media, deps.limiter

    async def upload(self, account_id: AccountId, chunks: AsyncIterator[bytes]) -> AttachmentId:
        """Store a file that a device has encrypted, within the sender's storage quota."""
        await self._limiter.acquire(ENCRYPTED_UPLOAD, account_id)
        shard = self._shards.owner(account_id)
        path = f"{FOLDER}/{account_id}/{secrets.token_urlsafe(24)}"
        stored: int = await shard.fetch_value(QUERIES.sum_attachments, account_id=account_id)
        with self._media.temporary_folder() as folder:
            size_bytes = await _receive(chunks, folder / "upload")
            await self._media.usage.check(account_id, "image", stored + size_bytes)
            await self._media.storage.put(path, folder / "upload")
        return AttachmentId(
            await shard.fetch_value(
                QUERIES.add_attachment, account_id=account_id, path=path, size_bytes=size_bytes
            )
        )

    async def take(
        self, thread_id: ThreadId, by: AccountId, attachment_id: AttachmentId, local_id: str
    ) -> None:
        """Take a file of the sender's for a message that is about to be sent; safe to repeat."""
        taken = await self._shards.owner(by).fetch_value(
            QUERIES.take_attachment,
            attachment_id=attachment_id,
            account_id=by,
            thread_id=thread_id,
            local_id=local_id,
        )
        if taken is None:
            raise AttachmentInvalid

    async def confirm(self, by: AccountId, attachment_id: AttachmentId) -> None:
        """The message is sent: its file stays until it goes."""
        await self._shards.owner(by).execute(QUERIES.confirm_attachment, attachment_id=attachment_id)

    async def open(self, attachment_id: AttachmentId) -> ObjectStream:
        """The bytes of a file; the caller has checked that its message may be read."""
        if not has_shard(self._shards, attachment_id):
            raise AttachmentNotFound
        row = await self._shards.owner(attachment_id).fetch_one(
            QUERIES.find_attachment, attachment_id=attachment_id
        )
        if row is None:
            raise AttachmentNotFound
        return await self._media.storage.open(row["path"])

    async def remove_in(self, tx: Transaction, ids: Sequence[MediaId]) -> None:
        """Close files, in a transaction on their shard; the sweep deletes them where this process cannot."""
        rows = await tx.fetch(QUERIES.mark_attachments, ids=list(ids))
        paths = [row["path"] for row in rows]

        async def delete(_server: str) -> None:
            try:
                await self._media.storage.delete(paths)
            except MediaStoreUnavailable as error:
                log.warning("attachments.postponed", count=len(paths), error=str(error))

        if paths:
            tx.after_commit(delete)

    async def sweep(self) -> None:
        """Delete files of messages that are gone or were never sent, and keep those whose sender died after sending."""
        for number in sorted(self._shards.map.owners):
            shard = self._shards.shard(number)
            for row in await shard.fetch(QUERIES.list_unsettled_attachments, limit=BATCH):
                sent = None if row["is_deleted"] else await self._find_sent(row)
                if sent is not None:
                    await shard.execute(QUERIES.confirm_attachment, attachment_id=row["id"])
                else:
                    await self._media.storage.delete([row["path"]])
                    await shard.execute(QUERIES.delete_attachment, attachment_id=row["id"])

    async def erase(self, account_id: AccountId) -> int:
        """Delete a batch of somebody's files, marked or not; returns how many."""
        shard = self._shards.owner(account_id)
        rows = await shard.fetch(QUERIES.list_own_paths, account_id=account_id, limit=BATCH)
        await self._media.storage.delete([row["path"] for row in rows])
        for row in rows:
            await shard.execute(QUERIES.delete_attachment, attachment_id=row["id"])
        return len(rows)

    async def _find_sent(self, row: asyncpg.Record) -> asyncpg.Record | None:
        if row["thread_id"] is None:
            return None
        return await self._shards.owner(row["thread_id"]).fetch_one(
            THREAD_QUERIES.find_mutation,
            thread_id=row["thread_id"],
            account_id=row["account_id"],
            local_id=row["local_id"],
        )


async def _receive(chunks: AsyncIterator[bytes], target: Path) -> int:
    """Write an upload to a file, unless it is too large; returns its size."""
    size_bytes = 0
    with target.open("wb") as file:
        async for chunk in chunks:
            size_bytes += len(chunk)
            if size_bytes > LARGEST_ATTACHMENT:
                raise AttachmentTooLarge
            file.write(chunk)
    if size_bytes == 0:
        raise AttachmentTooLarge
    return size_bytes
