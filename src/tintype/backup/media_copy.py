"""Copies media files, each once: a file is known by its path, size and time, and later backups copy new ones alone."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from tintype.backup.catalog import MEDIA, PROGRESS, Catalog
from tintype.backup.models import Report, StoredMedia, StoredObject
from tintype.backup.tasks import task_group
from tintype.backup.vault import Vault
from tintype.media import MediaNotFound, ObjectStorage, Tier
from tintype.media import StoredObject as MediaObject

_AT_ONCE = 8
_BATCH = 256
_SAVE_EVERY = 2_048


@dataclass
class MediaCopier:
    """Copies the media of one backup in several passes: each adds what has come since, and drops nothing."""

    vault: Vault
    catalog: Catalog
    storage: ObjectStorage
    folder: str
    known: dict[str, StoredObject]
    files: dict[str, StoredMedia] = field(default_factory=dict[str, StoredMedia])
    """What the backup has so far, by path."""
    new_files: int = 0
    new_bytes: int = 0
    _unsaved: list[StoredMedia] = field(default_factory=list[StoredMedia])
    _saved: int = 0

    async def run(self, report: Report) -> None:
        """Copy all files that the backup does not have. One that is deleted meanwhile is left out."""
        done = 0
        for tier in self.storage.tiers:
            batch: list[MediaObject] = []
            async for found in self.storage.list_objects("", tier=tier):
                batch.append(found)
                if len(batch) == _BATCH:
                    done += await self._copy_batch(batch, tier)
                    batch = []
                    report("media", done, 0)
            done += await self._copy_batch(batch, tier)
        report("media", done, done)
        await self._save_progress(at_least=1)

    async def _copy_batch(self, batch: list[MediaObject], tier: Tier) -> int:
        limit = asyncio.Semaphore(_AT_ONCE)

        async def copy(found: MediaObject) -> None:
            async with limit:
                await self._copy(found, tier)

        async with task_group() as group:
            for found in batch:
                group.create_task(copy(found))
        await self._save_progress(at_least=_SAVE_EVERY)
        return len(batch)

    async def _copy(self, found: MediaObject, tier: Tier) -> None:
        identity = f"{found.path}\n{found.size_bytes}\n{found.changed_at.isoformat()}"
        digest = self.vault.keys.object_name(identity)
        name = f"{MEDIA}/{digest[:2]}/{digest}"
        stored = self.known.get(name)
        if stored is None:
            try:
                stored = await self.vault.write(name, _read(self.storage, found.path, tier))
            except MediaNotFound:
                return  # deleted since it was listed
            self.known[name] = stored
            self.new_files += 1
            self.new_bytes += stored.size_bytes
            self._unsaved.append(StoredMedia(tier, found.path, stored))
        self.files[found.path] = StoredMedia(tier, found.path, stored)

    async def _save_progress(self, at_least: int) -> None:
        """Write down what was copied, so that a backup that is cut short need not begin again."""
        if len(self._unsaved) >= at_least:
            await self.catalog.save_media_list(f"{self.folder}/{PROGRESS}/{self._saved:05}", self._unsaved)
            self._saved += 1
            self._unsaved = []


async def _read(storage: ObjectStorage, path: str, tier: Tier) -> AsyncIterator[bytes]:
    opened = await storage.open(path, tier=tier)
    async for chunk in opened.chunks:
        yield chunk
