"""The job of an import: fetch the archives, read them in a process of their own, publish, and say how it ended.

A worker can be killed at any moment: the next run of the same import finds its archives in the store and passes over
what is imported. Only the run that claimed the import last writes its progress and its end.
"""

import asyncio
import re
import secrets
import shutil
from pathlib import Path

from tintype.base.errors import TintypeError, Unavailable
from tintype.base.ids import AccountId
from tintype.base.locked_folders import LockedFolder, remove_abandoned
from tintype.base.log import get_log
from tintype.imports.dependencies import ImportsDependencies
from tintype.imports.events import ImportEnded, ImportRequested
from tintype.imports.importer import TRANSIENT, Importer, ImportOptions
from tintype.imports.isolated_reader import IsolatedReader
from tintype.imports.progress import ImportProgress, RunSuperseded
from tintype.imports.report import ImportReport
from tintype.imports.runs import ImportRun, UploadedArchive
from tintype.imports.store import QUERIES
from tintype.imports.uploads import archive_folder

HEARTBEAT_S = 10.0
LOST_AFTER_S = 300.0
UPLOAD_LOST_AFTER_S = 2 * 86_400.0
MAX_ATTEMPTS = 40
"""Without any progress: a worker tries a few times in a minute or two, and the schedule starts it again after five."""
MAX_RESTARTED = 100
MIN_FREE_BYTES = 1 << 30
FOLDER_PREFIX = "import-"
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
log = get_log("imports")


class ImportJobs:
    """Runs imports in a worker."""

    def __init__(self, dependencies: ImportsDependencies) -> None:
        self._deps = dependencies
        self._importer = Importer(
            dependencies.accounts,
            dependencies.visibility,
            media=dependencies.media,
            posts=dependencies.posts,
        )

    async def run(self, event: ImportRequested) -> None:
        """Import what is not imported yet; an archive that cannot be imported ends the import with its reason."""
        run_key = secrets.token_urlsafe(12)
        row = await self._deps.shards.owner(event.import_id).fetch_one(
            QUERIES.claim_import, id=event.import_id, run_key=run_key
        )
        if row is None:
            return
        columns = dict(row)
        attempts = columns.pop("attempts")
        run = ImportRun(**columns)
        if attempts > MAX_ATTEMPTS:
            await self._end(run, run_key, "failed", Unavailable())
            return
        try:
            report = await self._run_watched(run, ImportProgress(self._deps.shards, run, run_key))
        except RunSuperseded:
            log.info("import.superseded", import_id=run.id)
        except TRANSIENT:
            raise  # the worker tries again, and each run continues the one before
        except TintypeError as error:
            await self._end(run, run_key, "failed", error)
        else:
            await self._end(run, run_key, report.state, report)

    async def restart_lost(self) -> None:
        """Queue imports whose job was lost once more, and end uploads that nobody has continued for days."""
        lost = await self._deps.shards.everywhere().fetch(
            QUERIES.list_lost_imports,
            patience_s=LOST_AFTER_S,
            upload_patience_s=UPLOAD_LOST_AFTER_S,
            limit=MAX_RESTARTED,
        )
        for row in lost:
            account_id = AccountId(row["account_id"])
            if row["state"] == "uploading":
                await self._give_up_upload(account_id, row["id"])
            else:
                async with self._deps.shards.owner(row["id"]).begin() as tx:
                    await self._deps.outbox.add(tx, ImportRequested(account_id, row["id"]))

    async def _run_watched(self, run: ImportRun, progress: ImportProgress) -> ImportReport:
        """Run, and stop as soon as the import is cancelled or another run has taken over."""
        running = asyncio.create_task(self._import(run, progress))
        watch = asyncio.create_task(_beat(progress))
        try:
            await asyncio.wait([running, watch], return_when=asyncio.FIRST_COMPLETED)
            if watch.done():
                running.cancel()
                await asyncio.wait([running])
                watch.result()
            return await running
        finally:
            for task in (running, watch):
                task.cancel()
            await asyncio.gather(running, watch, return_exceptions=True)

    async def _import(self, run: ImportRun, progress: ImportProgress) -> ImportReport:
        await asyncio.to_thread(remove_abandoned, FOLDER_PREFIX, self._deps.work_folder)
        folder = LockedFolder(FOLDER_PREFIX, self._deps.work_folder)
        try:
            return await self._import_in(folder.path, run, progress)
        finally:
            folder.remove()

    async def _import_in(self, folder: Path, run: ImportRun, progress: ImportProgress) -> ImportReport:
        await self._fetch(run, folder)
        with IsolatedReader(
            folder,
            run.source,
            max_unpacked_bytes=2 * self._deps.max_bytes,
            max_file_bytes=self._deps.media.max_upload_bytes,
        ) as reader:
            contents = await asyncio.to_thread(reader.read)
            options = ImportOptions(with_stories=run.with_stories, raises_transient=True)
            return await self._importer.run(run.account_id, contents, options, progress.record)

    async def _fetch(self, run: ImportRun, folder: Path) -> None:
        """Copy the archives from the store to this machine, since a zip file is not read from its beginning."""
        rows = await self._deps.shards.owner(run.id).fetch(QUERIES.list_archives, import_id=run.id)
        archives = [UploadedArchive(**row) for row in rows]
        free_bytes = shutil.disk_usage(folder).free
        if free_bytes < sum(each.size_bytes for each in archives) + MIN_FREE_BYTES:
            raise Unavailable(free_bytes=free_bytes)
        for number, archive in enumerate(archives, start=1):
            target = (
                folder / "in" / f"{number:03d}" / (_UNSAFE.sub("_", archive.name).lstrip(".") or "archive")
            )
            target.parent.mkdir(parents=True)
            paths = [f"{archive_folder(archive)}/{part}" for part in archive.parts]
            await self._deps.storage.fetch(paths, target)

    async def _give_up_upload(self, account_id: AccountId, import_id: int) -> None:
        async with self._deps.shards.owner(import_id).begin() as tx:
            ended = await tx.fetch_one(
                QUERIES.change_import_state,
                id=import_id,
                state="cancelled",
                reason_code="upload_expired",
                reason="Its archives did not arrive in time.",
                is_end=True,
                from_states=["uploading"],
            )
            if ended:
                await self._deps.outbox.add(tx, ImportEnded(account_id, import_id))

    async def _end(self, run: ImportRun, run_key: str, state: str, why: TintypeError | ImportReport) -> None:
        """The end of an import, whose archives are deleted from then on; one that stopped keeps them, to go on."""
        code, text = (
            (why.stopped_code, why.stopped_because)
            if isinstance(why, ImportReport)
            else (why.code, why.detail)
        )
        async with self._deps.shards.owner(run.id).begin() as tx:
            names = {"id": run.id, "run_key": run_key}
            ended = await tx.fetch_one(
                QUERIES.end_import, **names, state=state, reason_code=code, reason=text[:1_000]
            )
            if ended and state != "stopped":
                await self._deps.outbox.add(tx, ImportEnded(run.account_id, run.id))
        log.info("import.ended", account_id=run.account_id, import_id=run.id, state=state, reason=code)


async def _beat(progress: ImportProgress) -> None:
    while True:
        await asyncio.sleep(HEARTBEAT_S)
        try:
            await progress.touch()
        except (
            TRANSIENT
        ):  # its server may be back at the next beat; a run that lost it for long is taken over
            log.warning("import.unwatched", exc_info=True)
