"""What is kept of imports, and for how long: archives until their import has ended, reports for a month.

An import that stopped because storage was full can go on once there is room: its archives are kept for a week.
"""

from shardwright.routing import Transaction
from tintype.base.ids import AccountId, has_shard
from tintype.base.log import get_log
from tintype.imports.dependencies import FOLDER, ImportsDependencies
from tintype.imports.events import ImportEnded
from tintype.imports.runs import UNDER_WAY
from tintype.imports.store import QUERIES
from tintype.imports.uploads import import_folder

KEPT_DAYS = 30
KEPT_ARCHIVES_DAYS = 7
BATCH = 200
LINES = 1_000
log = get_log("imports")


class ImportRetention:
    """Deletes archives and old reports."""

    def __init__(self, dependencies: ImportsDependencies) -> None:
        self._shards, self._storage = dependencies.shards, dependencies.storage
        self._outbox = dependencies.outbox

    async def delete_archives(self, event: ImportEnded) -> None:
        """Delete the archives of an import that has ended: bytes first, so that the rows still know of them."""
        deleted = await self._storage.delete_prefix(import_folder(event.account_id, event.import_id))
        await self._shards.owner(event.import_id).execute(
            QUERIES.delete_import_archives, import_id=event.import_id
        )
        log.info("import.archives_deleted", import_id=event.import_id, parts=deleted)

    async def give_up_archives(self, tx: Transaction, account_id: AccountId, import_id: int) -> None:
        """Let go of the archives of an import that stopped: it cannot go on, and an event deletes the bytes."""
        await tx.execute(QUERIES.delete_import_archives, import_id=import_id)
        await self._outbox.add(tx, ImportEnded(account_id, import_id))

    async def delete(self, account_id: AccountId, import_id: int) -> None:
        """Delete an import with all that belongs to it, its row last; a run that is under way notices and ends."""
        shard = self._shards.owner(import_id)
        await shard.execute(
            QUERIES.change_import_state,
            id=import_id,
            state="cancelled",
            reason_code="",
            reason="",
            is_end=True,
            from_states=list(UNDER_WAY),
        )
        await self.delete_archives(ImportEnded(account_id, import_id))
        while await shard.fetch(QUERIES.delete_import_lines, import_id=import_id, limit=LINES):
            pass
        await shard.execute(QUERIES.delete_import, id=import_id)

    async def delete_old(self) -> None:
        """Delete the reports of imports that ended long ago, and archives that no import has."""
        rows = await self._shards.everywhere().fetch(
            QUERIES.list_old_imports, kept_days=KEPT_DAYS, limit=BATCH
        )
        for row in rows:
            await self.delete(AccountId(row["account_id"]), row["id"])
        await self._give_up_expired()
        await self._delete_orphans()

    async def _give_up_expired(self) -> None:
        rows = await self._shards.everywhere().fetch(
            QUERIES.list_expired_archives, kept_days=KEPT_ARCHIVES_DAYS, limit=BATCH
        )
        for row in rows:
            account_id = AccountId(row["account_id"])
            async with self._shards.owner(row["id"]).begin() as tx:
                locked = await tx.fetch_one(QUERIES.lock_import, id=row["id"], account_id=account_id)
                if locked is not None and locked["state"] == "stopped":
                    await self.give_up_archives(tx, account_id, row["id"])

    async def _delete_orphans(self) -> None:
        """Delete parts that were stored while their import ended; others have none."""
        for account in await self._storage.list_folders(FOLDER):
            for name in await self._storage.list_folders(f"{FOLDER}/{account}"):
                if not (account.isdigit() and name.isdigit() and has_shard(self._shards, int(name))):
                    continue
                shard = self._shards.owner(int(name))
                if await shard.fetch_one(QUERIES.find_import_with_archives, id=int(name)) is None:
                    await self._storage.delete_prefix(f"{FOLDER}/{account}/{name}")
