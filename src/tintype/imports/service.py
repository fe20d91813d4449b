"""The front door of imports in the app: begin one, upload its archives, start it, watch it, cancel it."""

import asyncpg

from shardwright.routing import Transaction
from tintype.base.ids import AccountId, has_shard
from tintype.base.jobs import Handler, Schedule, on
from tintype.base.log import get_log
from tintype.base.rate_limits import IMPORT
from tintype.imports.dependencies import ImportsDependencies
from tintype.imports.errors import (
    ImportIncomplete,
    ImportNotFound,
    ImportsOff,
    ImportStarted,
    ImportUnderWay,
)
from tintype.imports.events import ImportEnded, ImportRequested
from tintype.imports.jobs import ImportJobs
from tintype.imports.personal_data import ImportsPersonalData
from tintype.imports.retention import ImportRetention
from tintype.imports.runs import UNDER_WAY, ImportRun, ImportSource, ReportLine, ReportPage, UploadedArchive
from tintype.imports.store import QUERIES
from tintype.imports.uploads import ArchiveUploads

PAGE = 100
RESTART_EVERY_S = 60.0
DELETE_OLD_EVERY_S = 3_600.0
log = get_log("imports")


class Imports:
    """Imports that people start in the app, one at a time per account."""

    def __init__(self, dependencies: ImportsDependencies) -> None:
        self._deps = dependencies
        self._retention = ImportRetention(dependencies)
        self._jobs = ImportJobs(dependencies)
        self.uploads = ArchiveUploads(dependencies)
        self.personal_data = ImportsPersonalData(dependencies, self._retention)

    async def begin(self, account_id: AccountId, source: ImportSource, *, with_stories: bool) -> ImportRun:
        """Begin an import, which waits for its archives; those of one that stopped are kept no longer."""
        if self._deps.max_bytes == 0:
            raise ImportsOff
        async with self._deps.shards.owner(account_id).begin() as tx:
            row = await tx.fetch_one(
                QUERIES.begin_import, account_id=account_id, source=source, with_stories=with_stories
            )
            if row is None:
                raise ImportUnderWay
            await self._deps.limiter.acquire(IMPORT, account_id)
            for stopped in await tx.fetch(QUERIES.list_stopped_with_archives, account_id=account_id):
                await self._retention.give_up_archives(tx, account_id, stopped["id"])
        log.info("import.begun", account_id=account_id, import_id=row["id"], archives_of=source)
        return ImportRun(**row)

    async def get(self, account_id: AccountId, import_id: int) -> ImportRun:
        """One import of this account, in any state."""
        row = None
        if has_shard(self._deps.shards, import_id):
            shard = self._deps.shards.owner(account_id)
            row = await shard.fetch_one(QUERIES.find_import, id=import_id, account_id=account_id)
        if row is None:
            raise ImportNotFound
        return ImportRun(**row)

    async def list_of(self, account_id: AccountId) -> list[ImportRun]:
        """The imports of this account, newest first."""
        rows = await self._deps.shards.owner(account_id).fetch(QUERIES.list_imports, account_id=account_id)
        return [ImportRun(**row) for row in rows]

    async def report(self, account_id: AccountId, import_id: int, *, after: int = 0) -> ReportPage:
        """What an import has left out or changed so far, each with its reason, a page at a time."""
        run = await self.get(account_id, import_id)
        rows = await self._deps.shards.owner(run.id).fetch(
            QUERIES.page_import_lines, import_id=run.id, after=after, limit=PAGE + 1
        )
        lines = [ReportLine(**row) for row in rows[:PAGE]]
        return ReportPage(lines, lines[-1].id if len(rows) > PAGE else None)

    async def start(self, account_id: AccountId, import_id: int) -> ImportRun:
        """Import the archives, which have all arrived, in the background; one that stopped goes on. Safe to repeat."""
        try:
            async with self._deps.shards.owner(account_id).begin() as tx:
                run = await self._lock(tx, account_id, import_id)
                if run.state in {"waiting", "running"}:
                    return run
                await self._start(tx, run)
        except asyncpg.UniqueViolationError as error:
            raise ImportUnderWay from error
        log.info("import.requested", account_id=account_id, import_id=run.id, archives_of=run.source)
        return await self.get(account_id, import_id)

    async def _start(self, tx: Transaction, run: ImportRun) -> None:
        archives = [UploadedArchive(**row) for row in await tx.fetch(QUERIES.list_archives, import_id=run.id)]
        if run.state not in {"uploading", "stopped"} or (run.state == "stopped" and not archives):
            raise ImportStarted
        if not archives or not all(each.is_complete for each in archives):
            raise ImportIncomplete
        if run.state == "stopped":
            await tx.execute(QUERIES.continue_import, id=run.id)
        else:
            await self._change_state(tx, run, "waiting", is_end=False)
        await self._deps.outbox.add(tx, ImportRequested(run.account_id, run.id))

    async def cancel(self, account_id: AccountId, import_id: int) -> ImportRun:
        """End an import: what is imported stays, the rest is not imported. One that is over keeps no archives."""
        async with self._deps.shards.owner(account_id).begin() as tx:
            run = await self._lock(tx, account_id, import_id)
            if run.state in UNDER_WAY:
                await self._change_state(tx, run, "cancelled", is_end=True)
                await self._deps.outbox.add(tx, ImportEnded(account_id, run.id))
                log.info("import.cancelled", account_id=account_id, import_id=run.id)
            elif run.state == "stopped":
                await self._retention.give_up_archives(tx, account_id, run.id)
        return await self.get(account_id, import_id)

    async def run(self, event: ImportRequested) -> None:
        """Import the archives of an import; a run that was interrupted is continued."""
        await self._jobs.run(event)

    async def delete_archives(self, event: ImportEnded) -> None:
        """Delete the archives of an import that has ended."""
        await self._retention.delete_archives(event)

    async def restart_lost(self) -> None:
        """Queue imports whose job was lost once more, and end uploads that nobody continued."""
        await self._jobs.restart_lost()

    async def delete_old(self) -> None:
        """Delete the reports of imports that ended long ago, and archives that no import has."""
        await self._retention.delete_old()

    def handlers(self) -> list[Handler]:
        """The room's event handlers."""
        return [
            on(ImportRequested, self.run, name="imports-run", concurrency=2, is_long=True),
            on(ImportEnded, self.delete_archives, name="imports-delete-archives", concurrency=2),
        ]

    def schedules(self) -> list[Schedule]:
        """The room's periodic jobs."""
        return [
            Schedule("imports-restart", RESTART_EVERY_S, self.restart_lost),
            Schedule("imports-tidy", DELETE_OLD_EVERY_S, self.delete_old),
        ]

    async def _lock(self, tx: Transaction, account_id: AccountId, import_id: int) -> ImportRun:
        row = None
        if has_shard(self._deps.shards, import_id):
            row = await tx.fetch_one(QUERIES.lock_import, id=import_id, account_id=account_id)
        if row is None:
            raise ImportNotFound
        return ImportRun(**row)

    @staticmethod
    async def _change_state(tx: Transaction, run: ImportRun, state: str, *, is_end: bool) -> None:
        await tx.execute(
            QUERIES.change_import_state,
            id=run.id,
            state=state,
            reason_code="",
            reason="",
            is_end=is_end,
            from_states=[run.state],
        )
