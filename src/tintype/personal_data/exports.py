"""Exports: archives of all personal data of an account, made in the background and downloaded by its owner alone."""

import asyncio
import contextlib
import secrets
import shutil
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path

from tintype.base.errors import Unavailable
from tintype.base.ids import AccountId, has_shard
from tintype.base.log import get_log
from tintype.base.personal_data import ExportRecord, Holders
from tintype.base.rate_limits import EXPORT
from tintype.media import PRIVATE, MediaNotFound, open_largest
from tintype.personal_data.archive import Archive
from tintype.personal_data.dependencies import PersonalDataDependencies
from tintype.personal_data.errors import ExportNotFound, ExportUnderWay
from tintype.personal_data.events import ExportReady, ExportRequested
from tintype.personal_data.models import Export
from tintype.personal_data.store import QUERIES

KEPT_DAYS = 7
PROGRESS_EVERY = 200
ABANDONED_AFTER_S = 3_600.0
MAX_DELETED = 100
FOLDER_PREFIX = "export-"
LEFTOVER_AFTER_S = 86_400
MIN_FREE_BYTES = 1024**3
log = get_log("personal_data")


class Exports:
    """Makes, lists, opens and deletes archives."""

    def __init__(self, dependencies: PersonalDataDependencies, holders: Holders) -> None:
        self._deps, self._holders = dependencies, holders

    async def request(self, account_id: AccountId) -> Export:
        """Request an archive; it is made in the background, one at a time per account."""
        async with self._deps.shards.owner(account_id).begin() as tx:
            row = await tx.fetch_one(QUERIES.request_export, account_id=account_id, kept_days=KEPT_DAYS)
            if row is None:
                raise ExportUnderWay
            await self._deps.limiter.acquire(EXPORT, account_id)
            export = Export(**row)
            await self._deps.outbox.add(tx, ExportRequested(account_id, export.id))
            await self._deps.accounts.notify_owner(tx, account_id, "export_requested")
        log.info("export.requested", account_id=account_id, export_id=export.id)
        return export

    async def get(self, account_id: AccountId, export_id: int) -> Export:
        """One export of this account, in any state."""
        row = None
        if has_shard(self._deps.shards, export_id):
            shard = self._deps.shards.owner(account_id)
            row = await shard.fetch_one(QUERIES.find_export, id=export_id, account_id=account_id)
        if row is None:
            raise ExportNotFound
        return Export(**row)

    async def list_of(self, account_id: AccountId) -> list[Export]:
        """The exports of this account, newest first."""
        rows = await self._deps.shards.owner(account_id).fetch(QUERIES.list_exports, account_id=account_id)
        return [Export(**row) for row in rows]

    async def open(self, account_id: AccountId, export_id: int) -> tuple[Export, AsyncIterator[bytes]]:
        """A finished archive and its bytes, in chunks."""
        export = await self.get(account_id, export_id)
        if export.state != "ready":
            raise ExportNotFound
        try:
            opened = await self._deps.storage.open(export.path)
        except MediaNotFound as error:
            raise ExportNotFound(export_id=export_id) from error
        return export, opened.chunks

    async def make(self, event: ExportRequested) -> None:
        """Build the archive and store it; a run that was interrupted starts again from the beginning."""
        shard = self._deps.shards.owner(event.account_id)
        if await shard.fetch_one(QUERIES.start_export, id=event.export_id) is None:
            return
        await asyncio.to_thread(self._deps.work_folder.mkdir, parents=True, exist_ok=True)
        await asyncio.to_thread(self._delete_leftovers)
        with tempfile.TemporaryDirectory(prefix=FOLDER_PREFIX, dir=self._deps.work_folder) as folder:
            with Archive(Path(folder)) as archive:
                records = await self._fill(archive, event)
                size_bytes = await asyncio.to_thread(archive.finish)
            path = f"{PRIVATE}/exports/{event.account_id}/{event.export_id}-{secrets.token_urlsafe(24)}.zip"
            await self._deps.storage.put(path, archive.path)
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
                await self._deps.outbox.add(tx, ExportReady(event.account_id, event.export_id))
        if not is_first:
            await self._delete_file(path)
        else:
            await self._delete_earlier(event)
        log.info("export.made", account_id=event.account_id, export_id=event.export_id, records=records)

    async def delete_expired(self) -> None:
        """Delete expired archives with their files, and mark exports whose job died as failed."""
        await asyncio.to_thread(self._delete_leftovers)
        await self._deps.shards.everywhere().execute(
            QUERIES.fail_abandoned_exports, patience_s=ABANDONED_AFTER_S
        )
        for row in await self._deps.shards.everywhere().fetch(
            QUERIES.list_expired_exports, limit=MAX_DELETED
        ):
            await self._delete(row["id"], row["path"])

    def export(self, account_id: AccountId) -> AsyncIterator[ExportRecord]:
        """Nothing: an archive does not contain earlier archives."""
        return _nothing(account_id)

    async def erase(self, account_id: AccountId) -> int:
        """Delete a batch of an account's archives, files first; returns how many."""
        rows = await self._deps.shards.owner(account_id).fetch(
            QUERIES.list_all_exports, account_id=account_id, limit=MAX_DELETED
        )
        for row in rows:
            await self._delete(row["id"], row["path"])
        return len(rows)

    async def count_left(self, account_id: AccountId) -> int:
        """How many archives of an account are left."""
        return await self._deps.shards.owner(account_id).fetch_value(
            QUERIES.count_exports, account_id=account_id
        )

    async def _delete_earlier(self, event: ExportRequested) -> None:
        """Keep one archive per account: it can be as large as everything that the account stores."""
        rows = await self._deps.shards.owner(event.account_id).fetch(
            QUERIES.list_earlier_exports, account_id=event.account_id, id=event.export_id
        )
        for row in rows:
            await self._delete(row["id"], row["path"])

    def _delete_leftovers(self) -> None:
        """Delete what killed workers of this machine left behind; a folder that is being written to is younger."""
        for folder in self._deps.work_folder.glob(f"{FOLDER_PREFIX}*"):
            with contextlib.suppress(FileNotFoundError):  # its worker has just deleted it
                if folder.stat().st_mtime < time.time() - LEFTOVER_AFTER_S:
                    shutil.rmtree(folder, ignore_errors=True)

    def _check_disk(self) -> None:
        """Stop before the disk is full: others need it too."""
        free_bytes = shutil.disk_usage(self._deps.work_folder).free
        if free_bytes < MIN_FREE_BYTES:
            raise Unavailable(free_bytes=free_bytes)

    async def _fill(self, archive: Archive, event: ExportRequested) -> int:
        shard, records = self._deps.shards.owner(event.account_id), 0
        for name, holder in self._holders.items():
            progress = {"id": event.export_id, "room": name}
            await shard.execute(QUERIES.record_export_progress, records=records, **progress)
            async for record in holder.export(event.account_id):
                attachment = await self._attach(archive, record.media_folder) if record.media_folder else None
                archive.add(record, attachment)
                records += 1
                if records % PROGRESS_EVERY == 0:
                    await shard.execute(QUERIES.record_export_progress, records=records, **progress)
        return records

    async def _attach(self, archive: Archive, media_folder: str) -> str | None:
        """Add the original of a photo or video, or the best file there is; returns its path in the archive."""
        if (attached := archive.find(media_folder)) is not None:
            return attached
        self._check_disk()
        found = await open_largest(self._deps.storage, media_folder)
        if found is None:
            log.warning("export.file_missing", folder=media_folder)
            return None
        return await archive.attach(media_folder, found.name, found.chunks)

    async def _delete(self, export_id: int, path: str) -> None:
        if path:
            await self._delete_file(path)
        await self._deps.shards.owner(export_id).execute(QUERIES.delete_export, id=export_id)

    async def _delete_file(self, path: str) -> None:
        await self._deps.storage.delete([path])


async def _nothing(_account_id: AccountId) -> AsyncIterator[ExportRecord]:
    return
    yield  # makes this an async generator, which ends at once
