"""Deletes media: first the row is marked, so that nobody sees them any more, then the files go, then the row.

A row is what knows of its files, so files always go before it; what a crash leaves is found by the purge or the sweep.
"""

from collections.abc import Sequence

import asyncpg

from shardwright.routing import Transaction
from tintype.base.ids import AccountId, MediaId, has_shard
from tintype.base.log import get_log
from tintype.media.dependencies import MediaDependencies
from tintype.media.events import MediaDeleted
from tintype.media.storage.object_storage import PRIVATE
from tintype.media.store import QUERIES

BATCH = 100
log = get_log("media")


class Deletion:
    """Marks media as deleted, and deletes what was marked."""

    def __init__(self, dependencies: MediaDependencies) -> None:
        self._shards, self._outbox = dependencies.shards, dependencies.outbox
        self._storage, self._visibility = dependencies.storage, dependencies.visibility
        self._usage = dependencies.usage

    async def delete(self, media_ids: Sequence[MediaId], *, only_unposted: bool = False) -> int:
        """Mark these as deleted, wherever they live; returns how many were not before."""
        by_shard: dict[int, list[MediaId]] = {}
        for each in media_ids:
            if has_shard(self._shards, each):
                by_shard.setdefault(self._shards.owner(each).number, []).append(each)
        count = 0
        for number, ids in by_shard.items():
            async with self._shards.shard(number).begin() as tx:
                count += await self.delete_in(tx, ids, only_unposted=only_unposted)
        return count

    async def delete_in(
        self, tx: Transaction, media_ids: Sequence[MediaId], *, only_unposted: bool = False
    ) -> int:
        """Mark media as deleted in a transaction on their shard; the files go when `MediaDeleted` is handled."""
        rows = await tx.fetch(QUERIES.mark_deleted, ids=list(media_ids), only_unposted=only_unposted)
        deleted = [MediaId(row["id"]) for row in rows]
        if deleted:
            await self._usage.remove(tx, rows)
            await self._outbox.add(tx, MediaDeleted(deleted))
            await self._visibility.announce_rows(tx, rows)
        return len(deleted)

    async def delete_all_of(self, account_id: AccountId) -> int:
        """Mark everything an account uploaded as deleted; returns how many media that were. Safe to repeat."""
        count = 0
        shard = self._shards.owner(account_id)
        while rows := await shard.fetch(QUERIES.list_of_account, account_id=account_id, limit=BATCH):
            await self.delete([MediaId(row["id"]) for row in rows])
            count += len(rows)
        return count

    async def purge_deleted(self, event: MediaDeleted) -> None:
        """Delete the files of media that are marked, then their rows. Safe to repeat."""
        for number in {self._shards.shard_of(each) for each in event.media_ids}:
            shard = self._shards.shard(number)
            for row in await shard.fetch(QUERIES.list_deleted, ids=event.media_ids):
                await self.delete_files(row["folder"])
                try:
                    await shard.execute(QUERIES.delete_row, id=row["id"])
                except asyncpg.ForeignKeyViolationError:
                    log.info("media.still_referenced", media_id=row["id"])  # the hourly purge tries again

    async def delete_files(self, folder: str) -> None:
        """Delete every file of a media folder, public and private, from every store."""
        await self._storage.delete_prefix(folder)
        await self._storage.delete_prefix(f"{PRIVATE}/{folder}")
