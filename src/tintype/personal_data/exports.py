"""Exports: archives of all personal data of an account, made in the background and downloaded by its owner alone."""

import asyncio
import secrets
import tempfile
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

from shardwright.routing import Shards
from tintype.base.ids import AccountId, has_shard
from tintype.base.log import get_log
from tintype.base.outbox import Outbox
from tintype.base.personal_data import ExportRecord, PersonalDataHolder
from tintype.media import PRIVATE, MediaNotFound, ObjectStorage
from tintype.personal_data.archive import Archive
from tintype.personal_data.errors import ExportNotFound, ExportUnderWay
from tintype.personal_data.events import ExportReady, ExportRequested
from tintype.personal_data.models import Export
from tintype.personal_data.store import QUERIES
from tintype.redis.rate_limits import RateLimit, RateLimiter

KEPT_DAYS = 7
EXPORT_LIMIT = RateLimit("exports", 5, 86_400)
PROGRESS_EVERY = 200
ABANDONED_AFTER_S = 3_600.0
MAX_DELETED = 100
log = get_log("personal_data")


class Exports:
    """Makes, lists, opens and deletes archives."""

    def __init__(
        self,
        shards: Shards,
        outbox: Outbox,
        holders: Mapping[str, PersonalDataHolder],
        *,
        storage: ObjectStorage,
        limiter: RateLimiter,
        work_folder: Path,
    ) -> None:
        self._shards, self._outbox, self._holders = shards, outbox, holders
        self._storage, self._limiter, self._work_folder = storage, limiter, work_folder

    async def request(self, account_id: AccountId) -> Export:
        """Request an archive; it is made in the background, one at a time per account."""
        async with self._shards.owner(account_id).begin() as tx:
            row = await tx.fetch_one(QUERIES.request_export, account_id=account_id, kept_days=KEPT_DAYS)
            if row is None:
                raise ExportUnderWay
            await self._limiter.acquire(EXPORT_LIMIT, account_id)
            export = Export(**row)
            await self._outbox.add(tx, ExportRequested(account_id, export.id))
        log.info("export.requested", account_id=account_id, export_id=export.id)
        return export

    async def get(self, account_id: AccountId, export_id: int) -> Export:
        """One export of this account, in any state."""
        row = None
        if has_shard(self._shards, export_id):
            shard = self._shards.owner(account_id)
            row = await shard.fetch_one(QUERIES.find_export, id=export_id, account_id=account_id)
        if row is None:
            raise ExportNotFound
        return Export(**row)

    async def list_of(self, account_id: AccountId) -> list[Export]:
        """The exports of this account, newest first."""
        rows = await self._shards.owner(account_id).fetch(QUERIES.list_exports, account_id=account_id)
        return [Export(**row) for row in rows]

    async def open(self, account_id: AccountId, export_id: int) -> tuple[Export, AsyncIterator[bytes]]:
        """A finished archive and its bytes, in chunks."""
        export = await self.get(account_id, export_id)
        if export.state != "ready":
            raise ExportNotFound
        try:
            opened = await self._storage.open(export.path)
        except MediaNotFound as error:
            raise ExportNotFound(export_id=export_id) from error
        return export, opened.chunks

    async def make(self, event: ExportRequested) -> None:
        """Build the archive and store it; a run that was interrupted starts again from the beginning."""
        shard = self._shards.owner(event.account_id)
        if await shard.fetch_one(QUERIES.start_export, id=event.export_id) is None:
            return
        await asyncio.to_thread(self._work_folder.mkdir, parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="export-", dir=self._work_folder) as folder:
            with Archive(Path(folder)) as archive:
                records = await self._fill(archive, event)
                size_bytes = await asyncio.to_thread(archive.finish)
            path = f"{PRIVATE}/exports/{event.account_id}/{event.export_id}-{secrets.token_urlsafe(24)}.zip"
            await self._storage.put(path, archive.path)
        async with shard.begin() as tx:
            is_first = await tx.fetch_one(
                QUERIES.finish_export,
                id=event.export_id,
                records=records,
                path=path,
                size_bytes=size_bytes,
                kept_days=KEPT_DAYS,
            )
            if is_first:
                await self._outbox.add(tx, ExportReady(event.account_id, event.export_id))
        if not is_first:
            await self._delete_file(path)
        log.info("export.made", account_id=event.account_id, export_id=event.export_id, records=records)

    async def delete_expired(self) -> None:
        """Delete expired archives with their files, and mark exports whose job died as failed."""
        await self._shards.everywhere().execute(QUERIES.fail_abandoned_exports, patience_s=ABANDONED_AFTER_S)
        for row in await self._shards.everywhere().fetch(QUERIES.list_expired_exports, limit=MAX_DELETED):
            await self._delete(row["id"], row["path"])

    def export(self, account_id: AccountId) -> AsyncIterator[ExportRecord]:
        """Nothing: an archive does not contain earlier archives."""
        return _nothing(account_id)

    async def erase(self, account_id: AccountId) -> int:
        """Delete a batch of an account's archives, files first; returns how many."""
        rows = await self._shards.owner(account_id).fetch(
            QUERIES.list_all_exports, account_id=account_id, limit=MAX_DELETED
        )
        for row in rows:
            await self._delete(row["id"], row["path"])
        return len(rows)

    async def count_left(self, account_id: AccountId) -> int:
        """How many archives of an account are left."""
        return await self._shards.owner(account_id).fetch_value(QUERIES.count_exports, account_id=account_id)

    async def _fill(self, archive: Archive, event: ExportRequested) -> int:
        shard, records = self._shards.owner(event.account_id), 0
        for name, holder in self._holders.items():
            progress = {"id": event.export_id, "room": name}
            await shard.execute(QUERIES.record_export_progress, records=records, **progress)
            async for record in holder.export(event.account_id):
                archive.add(record)
                if record.attachment and not archive.has(record.attachment):
                    await self._attach(archive, record.attachment)
                records += 1
                if records % PROGRESS_EVERY == 0:
                    await shard.execute(QUERIES.record_export_progress, records=records, **progress)
        return records

    async def _attach(self, archive: Archive, path: str) -> None:
        """Add a media file, from whichever store has it."""
        try:
            opened = await self._storage.open_anywhere(path, "hot")
        except MediaNotFound:
            log.warning("export.file_missing", path=path)
            return
        content = b"".join([chunk async for chunk in opened.chunks])
        await asyncio.to_thread(archive.attach, path, content)

    async def _delete(self, export_id: int, path: str) -> None:
        if path:
            await self._delete_file(path)
        await self._shards.owner(export_id).execute(QUERIES.delete_export, id=export_id)

    async def _delete_file(self, path: str) -> None:
        await self._storage.delete([path])


async def _nothing(_account_id: AccountId) -> AsyncIterator[ExportRecord]:
    return
    yield  # makes this an async generator, which ends at once
