"""What follows when others may no longer open files, or may again: no cache, ours or an edge's, says otherwise.

Access records are dropped right after the commit, in the process that made the change. The event does it again, in
case that process died, and purges copies at the edge.
"""

from collections.abc import Sequence

import asyncpg

from shardwright.routing import Transaction
from tintype.accounts import PrivacyChanged, StatusChanged
from tintype.base.ids import MediaId
from tintype.base.jobs import Handler, on
from tintype.base.outbox import Outbox
from tintype.media.events import FileVisibilityChanged
from tintype.media.serving.access_records import AccessRecords
from tintype.media.serving.edge_purge import EdgePurge
from tintype.media.store import QUERIES


class VisibilityChanges:
    """Announces changes of who may open files, and reacts to them."""

    def __init__(self, outbox: Outbox, access: AccessRecords, edge: EdgePurge) -> None:
        self._outbox, self._access, self._edge = outbox, access, edge

    async def announce(self, tx: Transaction, media_ids: Sequence[MediaId]) -> None:
        """Announce that this transaction changes who may open the files of these media."""
        if media_ids:
            await self.announce_rows(tx, await tx.fetch(QUERIES.list_folders, ids=list(media_ids)))

    async def announce_rows(self, tx: Transaction, rows: Sequence[asyncpg.Record]) -> None:
        """The same for rows of media that the caller has read: their ids and folders."""
        if not rows:
            return
        ids = [MediaId(row["id"]) for row in rows]
        await self._outbox.add(tx, FileVisibilityChanged(ids, [row["folder"] for row in rows]))
        self.invalidate_after_commit(tx, ids)

    def invalidate_after_commit(self, tx: Transaction, media_ids: Sequence[MediaId]) -> None:
        """Drop the cached access records of these media once this transaction has committed."""

        async def invalidate(_server: str) -> None:
            await self._access.invalidate(media_ids)

        tx.after_commit(invalidate)

    async def invalidate(self, media_ids: Sequence[MediaId]) -> None:
        """Drop the cached access records of these media."""
        await self._access.invalidate(media_ids)

    def handlers(self) -> list[Handler]:
        """Purges by event: of single media, and of all files of an account."""
        return [
            on(FileVisibilityChanged, self._on_files_changed, name="media-visibility", concurrency=4),
            on(StatusChanged, self._on_status_changed, name="media-status", concurrency=4),
            on(PrivacyChanged, self._on_privacy_changed, name="media-privacy", concurrency=4),
        ]

    async def _on_files_changed(self, event: FileVisibilityChanged) -> None:
        await self._access.invalidate_or_raise(event.media_ids)
        await self._edge.purge_folders(event.folders)

    async def _on_status_changed(self, event: StatusChanged) -> None:
        if event.status != "active":
            await self._edge.purge_account(event.account_id)

    async def _on_privacy_changed(self, event: PrivacyChanged) -> None:
        if event.is_private:
            await self._edge.purge_account(event.account_id)
