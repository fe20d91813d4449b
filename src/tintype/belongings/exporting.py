"""Makes archives of everything that is a person's: asked for once, made in the background, fetched by them alone."""

import asyncio
import secrets
import tempfile
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

from shardwright.running import Queries, Shards
from tintype.base.belongings import Belongings, Record
from tintype.base.ids import AccountId, has_shard
from tintype.base.jobs import Handler, Schedule, on
from tintype.base.limits import Limiter, Rule
from tintype.base.log import get_log
from tintype.base.outbox import Outbox
from tintype.belongings.archive import Archive
from tintype.belongings.errors import ExportNotFound, ExportUnderWay
from tintype.belongings.events import ExportReady, ExportRequested
from tintype.belongings.models import Export
from tintype.media import PRIVATE, MediaNotFound, Storage

QUERIES = Queries.load(Path(__file__).with_name("queries.sql"))
KEPT_DAYS = 7
ASKING = Rule("exports", 5, 86_400)
NOTE_EVERY = 200
GIVEN_UP_AFTER_S = 3_600.0
TIDY_EVERY_S = 3_600.0
TIDIED_AT_ONCE = 100
log = get_log("belongings")


class Exports:
    """Archives, from the wish to the last byte fetched."""

    def __init__(
        self,
        shards: Shards,
        outbox: Outbox,
        rooms: Mapping[str, Belongings],
        *,
        storage: Storage,
        limiter: Limiter,
        work_folder: Path,
    ) -> None:
        self._shards, self._outbox, self._rooms = shards, outbox, rooms
        self._storage, self._limiter, self._work_folder = storage, limiter, work_folder

    async def request(self, account_id: AccountId) -> Export:
        """Ask for an archive; it is made in the background, one at a time."""
        async with self._shards.owner(account_id).begin() as tx:
            row = await tx.fetch_one(QUERIES.request_export, account_id=account_id, kept_days=KEPT_DAYS)
            if row is None:
                raise ExportUnderWay
            await self._limiter.take(ASKING, account_id)
            export = Export(**row)
            await self._outbox.add(tx, ExportRequested(account_id, export.id))
        log.info("export.requested", account_id=account_id, export_id=export.id)
        return export

    async def get(self, account_id: AccountId, export_id: int) -> Export:
        """One export of one's own, however far it is."""
        row = None
        if has_shard(self._shards, export_id):
            shard = self._shards.owner(account_id)
            row = await shard.fetch_one(QUERIES.find_export, id=export_id, account_id=account_id)
        if row is None:
            raise ExportNotFound
        return Export(**row)

    async def list_own(self, account_id: AccountId) -> list[Export]:
        """One's own exports, the latest first."""
        rows = await self._shards.owner(account_id).fetch(QUERIES.list_exports, account_id=account_id)
        return [Export(**row) for row in rows]

    async def open(self, account_id: AccountId, export_id: int) -> tuple[Export, AsyncIterator[bytes]]:
        """A finished archive and its bytes, in pieces."""
        export = await self.get(account_id, export_id)
        if export.state != "ready":
            raise ExportNotFound
        try:
            opened = await self._storage.open(export.path)
        except MediaNotFound as error:
            raise ExportNotFound(export_id=export_id) from error
        return export, opened.chunks

    async def make(self, event: ExportRequested) -> None:
        """Build the archive and hand it over; a run that was cut short is begun anew."""
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
            is_ours = await tx.fetch_one(
                QUERIES.end_export,
                id=event.export_id,
                records=records,
                path=path,
                size_bytes=size_bytes,
                kept_days=KEPT_DAYS,
            )
            if is_ours:
                await self._outbox.add(tx, ExportReady(event.account_id, event.export_id))
        if not is_ours:
            await self._delete_file(path)
        log.info("export.made", account_id=event.account_id, export_id=event.export_id, records=records)

    async def tidy(self) -> None:
        """Archives that have had their time are gone, with their files; jobs that died are told as failed."""
        await self._shards.everywhere().execute(QUERIES.fail_exports, patience_s=GIVEN_UP_AFTER_S)
        for row in await self._shards.everywhere().fetch(QUERIES.expired_exports, limit=TIDIED_AT_ONCE):
            await self._drop(row["id"], row["path"])

    def export(self, account_id: AccountId) -> AsyncIterator[Record]:
        """An archive holds no archives."""
        return _nothing(account_id)

    async def erase(self, account_id: AccountId) -> int:
        """Remove somebody's archives, files first."""
        rows = await self._shards.owner(account_id).fetch(
            QUERIES.exports_of, account_id=account_id, limit=TIDIED_AT_ONCE
        )
        for row in rows:
            await self._drop(row["id"], row["path"])
        return len(rows)

    async def count_left(self, account_id: AccountId) -> int:
        """How many archives there are."""
        return await self._shards.owner(account_id).fetch_value(QUERIES.count_exports, account_id=account_id)

    def handlers(self) -> list[Handler]:
        """Archives are made by the worker, two at a time."""
        return [on(ExportRequested, self.make, name="belongings-export", concurrency=2)]

    def schedules(self) -> list[Schedule]:
        """Once an hour."""
        return [Schedule("exports-tidy", TIDY_EVERY_S, self.tidy)]

    async def _fill(self, archive: Archive, event: ExportRequested) -> int:
        shard, records = self._shards.owner(event.account_id), 0
        for name, room in self._rooms.items():
            await shard.execute(QUERIES.note_export, id=event.export_id, room=name, records=records)
            async for record in room.export(event.account_id):
                archive.add(record)
                if record.attachment and not archive.has(record.attachment):
                    await self._attach(archive, record.attachment)
                records += 1
                if records % NOTE_EVERY == 0:
                    await shard.execute(QUERIES.note_export, id=event.export_id, room=name, records=records)
        return records

    async def _attach(self, archive: Archive, path: str) -> None:
        """Add a media file, from whichever store it lies in."""
        try:
            opened = await self._storage.open_anywhere(path, "hot")
        except MediaNotFound:
            log.warning("export.file_missing", path=path)
            return
        content = b"".join([chunk async for chunk in opened.chunks])
        await asyncio.to_thread(archive.attach, path, content)

    async def _drop(self, export_id: int, path: str) -> None:
        if path:
            await self._delete_file(path)
        await self._shards.owner(export_id).execute(QUERIES.drop_export, id=export_id)

    async def _delete_file(self, path: str) -> None:
        await self._storage.delete([path])


async def _nothing(_account_id: AccountId) -> AsyncIterator[Record]:
    return
    yield  # an async generator that ends at once
