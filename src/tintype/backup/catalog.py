"""The backups of a place: their manifests, the media files that they share, and which of them are deleted."""

import hashlib
from collections.abc import AsyncIterator, Iterable

import msgspec

from tintype.backup.errors import BackupDamaged, BackupNotFound
from tintype.backup.models import Manifest, StoredMedia, StoredObject
from tintype.backup.vault import Vault

BACKUPS, MEDIA = "backups", "media"
PROGRESS = "progress"
_MANIFEST = "manifest.json"
_LIST_FILES = 10_000


class _Envelope(msgspec.Struct, frozen=True):
    """A manifest and its checksum, which no other file could hold."""

    sha256: str
    manifest: msgspec.Raw


class Catalog:
    """Finds, saves and deletes backups."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault

    async def list_backups(self) -> list[Manifest]:
        """All complete backups, newest first."""
        complete, _ = await self._split()
        return [await self.get(each) for each in reversed(complete)]

    async def get(self, backup_id: str = "") -> Manifest:
        """One backup by its id; the newest without one."""
        complete, _ = await self._split()
        wanted = backup_id or (complete[-1] if complete else "")
        if wanted not in complete:
            raise BackupNotFound(f"There is no backup {backup_id} at that place; see `tintype backups`.")
        name = f"{BACKUPS}/{wanted}/{_MANIFEST}"
        content = b"".join([chunk async for chunk in self._vault.read_unchecked(name)])
        try:
            envelope = msgspec.json.decode(content, type=_Envelope)
            if hashlib.sha256(envelope.manifest).hexdigest() != envelope.sha256:
                raise BackupDamaged(f"The backup is damaged: {name} has changed since it was written.")
            return msgspec.json.decode(envelope.manifest, type=Manifest)
        except msgspec.DecodeError as error:
            raise BackupDamaged(f"The backup is damaged: {name} cannot be read: {error}") from error

    async def save(self, manifest: Manifest) -> None:
        """Write the manifest, with which the backup comes into being; what only helped to resume it goes."""
        folder = f"{BACKUPS}/{manifest.id}"
        raw = msgspec.json.encode(manifest)
        envelope = _Envelope(hashlib.sha256(raw).hexdigest(), msgspec.Raw(raw))
        await self._vault.write_bytes(f"{folder}/{_MANIFEST}", msgspec.json.encode(envelope))
        await self._vault.delete(await self._vault.list_names(f"{folder}/{PROGRESS}"))

    async def save_media(self, folder: str, files: Iterable[StoredMedia]) -> list[StoredObject]:
        """Write lists of media files into a folder of a backup."""
        lists: list[StoredObject] = []
        waiting: list[StoredMedia] = []
        for each in files:
            waiting.append(each)
            if len(waiting) == _LIST_FILES:
                lists.append(await self.save_media_list(f"{folder}/media-{len(lists):05}", waiting))
                waiting = []
        if waiting:
            lists.append(await self.save_media_list(f"{folder}/media-{len(lists):05}", waiting))
        return lists

    async def save_media_list(self, name: str, files: list[StoredMedia]) -> StoredObject:
        """Write one list."""
        return await self._vault.write_bytes(f"{name}.json.gz", msgspec.json.encode(files))

    async def read_media(self, manifest: Manifest) -> AsyncIterator[StoredMedia]:
        """Every media file of a backup."""
        for stored in manifest.media:
            for each in msgspec.json.decode(await self._vault.read_bytes(stored), type=list[StoredMedia]):
                yield each

    async def known_media(self) -> dict[str, StoredObject]:
        """Objects of media files that need not be copied again: of the newest backup, and of those cut short."""
        complete, cut_short = await self._split()
        known: dict[str, StoredObject] = {}
        if complete:
            newest = await self.get(complete[-1])
            known = {each.stored.name: each.stored async for each in self.read_media(newest)}
        for backup_id in cut_short:
            for name in await self._vault.list_names(f"{BACKUPS}/{backup_id}/{PROGRESS}"):
                content = b"".join([chunk async for chunk in self._vault.read_unchecked(name)])
                listed = msgspec.json.decode(content, type=list[StoredMedia])
                known |= {each.stored.name: each.stored for each in listed}
        return known

    async def prune(self, keep: int) -> list[str]:
        """Keep the newest backups and delete the others, and whatever no backup has any more; returns their ids.

        Whatever a backup that was cut short has left goes as well: call it when one was completed, and alone.
        """
        complete, cut_short = await self._split()
        kept, gone = complete[-keep:], complete[:-keep]
        for backup_id in (*gone, *cut_short):
            folder = f"{BACKUPS}/{backup_id}"
            await self._vault.delete([f"{folder}/{_MANIFEST}"])  # first: without it the rest is no backup
            await self._vault.delete(await self._vault.list_names(folder))
        wanted: set[str] = set()
        for backup_id in kept:
            wanted |= {each.stored.name async for each in self.read_media(await self.get(backup_id))}
        await self._vault.delete([name for name in await self._vault.list_names(MEDIA) if name not in wanted])
        return gone

    async def _split(self) -> tuple[list[str], list[str]]:
        """The ids of complete backups, and of those that were cut short; oldest first."""
        complete: list[str] = []
        cut_short: list[str] = []
        for backup_id in await self._vault.list_folders(BACKUPS):
            names = await self._vault.list_names(f"{BACKUPS}/{backup_id}")
            (complete if f"{BACKUPS}/{backup_id}/{_MANIFEST}" in names else cut_short).append(backup_id)
        return complete, cut_short
