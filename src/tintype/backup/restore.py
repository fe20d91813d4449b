"""Restores a backup into an empty data directory and an empty media store.

Everything is made in the folder `restoring` of the data directory and moved to its place at the end: whatever
interrupts it, the data directory counts as empty, and the next attempt begins anew.
"""

import asyncio
import shutil
from pathlib import Path

import msgspec

from shardwright.local import find_binaries
from tintype.backup.catalog import Catalog
from tintype.backup.errors import NotEmpty, RestoreFailed
from tintype.backup.models import Manifest, Report, StoredMedia
from tintype.backup.postgres_restore import restore_server
from tintype.backup.secrets_copy import restore_secrets
from tintype.backup.tasks import task_group
from tintype.backup.vault import Source, Vault
from tintype.base.settings import Settings
from tintype.media import ObjectStorage, Tier, open_stores
from tintype.stack import DataDirectory

_UNFINISHED = "restoring"
_AT_ONCE = 8
_TIERS: dict[str, Tier] = {"hot": "hot", "warm": "warm", "cold": "cold"}


async def restore(
    vault: Vault, settings: Settings, report: Report, *, backup_id: str = "", with_media: bool = True
) -> Manifest:
    """Restore a backup, the newest without an id; afterwards `tintype up` starts the site as it was."""
    home = DataDirectory(settings.home)
    refuse_used(home.root)
    catalog = Catalog(vault)
    manifest = await catalog.get(backup_id)
    _check_version(manifest)
    unfinished = home.root / _UNFINISHED
    await asyncio.to_thread(shutil.rmtree, unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    home.create()
    with home.locked():
        DataDirectory(unfinished).create()
        if with_media and manifest.has_media:
            temporary = msgspec.structs.replace(settings, home=unfinished)
            await _restore_media(manifest, catalog, vault, ObjectStorage(open_stores(temporary)), report)
        await restore_secrets(manifest.secrets, vault, unfinished)
        await _restore_servers(manifest, vault, unfinished, report)
        _move_into_place(unfinished, home.root)
    return manifest


def refuse_used(home: Path) -> None:
    """Raise `NotEmpty` unless the data directory is missing or empty, but for what an interrupted restore has left."""
    own = {_UNFINISHED}
    found = {each.name for each in home.iterdir()} if home.is_dir() else set[str]()
    if _UNFINISHED in found:
        own |= {"logs", "run", "secrets"}
    used = sorted(found - own)
    if used or any((home / "secrets").glob("*")):
        raise NotEmpty(
            f"The data directory {home} is not empty ({', '.join(used[:3]) or 'secrets'}). A backup is restored into "
            "an empty one: choose another with --home, or move this one aside."
        )


def _check_version(manifest: Manifest) -> None:
    binaries = find_binaries()
    wrong = [each.major for each in manifest.servers if each.major != binaries.major]
    if wrong:
        raise RestoreFailed(
            f"The backup has data of PostgreSQL {wrong[0]}, but {binaries.version} is installed: restore it with the "
            f"release that made it, Tintype {manifest.version}, and upgrade then."
        )


async def _restore_servers(manifest: Manifest, vault: Vault, root: Path, report: Report) -> None:
    """One server after the other: unpacking is the work of the disk."""
    target = DataDirectory(root)
    for done, each in enumerate(manifest.servers, start=1):
        folder = target.postgres(each.number)
        folder.mkdir(exist_ok=True, mode=0o700)
        await restore_server(each, vault, folder, manifest.restore_point)
        report("servers", done, len(manifest.servers))


async def _restore_media(
    manifest: Manifest, catalog: Catalog, vault: Vault, storage: ObjectStorage, report: Report
) -> None:
    for tier in storage.tiers:
        async for found in storage.list_objects("", tier=tier):
            raise NotEmpty(
                f"The media store is not empty (it has {found.path}). Name an empty one in media_store, or keep "
                "it as it is with --without-media."
            )
    limit, done = asyncio.Semaphore(_AT_ONCE), 0

    async def write(each: StoredMedia) -> None:
        nonlocal done
        try:
            source = Source(vault.read(each.stored))
            with source.explained():
                await storage.put(each.path, aiter(source), tier=_TIERS[each.tier])
        finally:
            limit.release()
        done += 1
        report("media", done, manifest.media_files)

    async with task_group() as group:
        async for each in catalog.read_media(manifest):
            await limit.acquire()
            group.create_task(write(each))


def _move_into_place(unfinished: Path, root: Path) -> None:
    """Servers come last: without them the data directory holds no site that could be started."""
    for each in sorted(unfinished.iterdir(), key=lambda each: each.name.startswith("postgres-")):
        if each.name in {"logs", "run"}:
            continue
        target = root / each.name
        if target.is_dir():
            target.rmdir()  # made empty by `create`
        each.rename(target)
    shutil.rmtree(unfinished)
