"""Makes, checks and thins out backups of a running installation."""

import contextlib
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version

from tintype.backup.catalog import BACKUPS, Catalog
from tintype.backup.cut import Cut, cut_all
from tintype.backup.errors import BackupFailed
from tintype.backup.media_copy import MediaCopier
from tintype.backup.models import Manifest, Report, ServerCopy
from tintype.backup.place import alone
from tintype.backup.postgres_copy import (
    ServerSource,
    connected,
    copy_base,
    copy_wal,
    open_server,
    system_of,
)
from tintype.backup.secrets_copy import copy_secrets
from tintype.backup.tasks import task_group
from tintype.backup.vault import Vault
from tintype.base.settings import Settings, as_migrator, as_superuser, directory_dsn, server_dsns
from tintype.media import ObjectStorage, open_stores
from tintype.stack import read_move_status


class Backups:
    """The backups of one place."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._catalog = Catalog(vault)

    async def create(self, settings: Settings, report: Report, *, with_media: bool = True) -> Manifest:
        """Make a backup of the running site while it is being used, and read back everything that was written.

        Media are copied before the databases and again after them: a file that a restored row names is there unless it
        was uploaded and deleted again meanwhile.
        """
        async with alone(self._vault):
            return await self._create(settings, report, with_media=with_media)

    async def list_backups(self) -> list[Manifest]:
        """All complete backups, newest first."""
        return await self._catalog.list_backups()

    async def verify(self, backup_id: str, report: Report) -> Manifest:
        """Read every byte of a backup, the newest without an id; `BackupDamaged` names the first that is wrong."""
        manifest = await self._catalog.get(backup_id)
        for done, stored in enumerate(manifest.objects, start=1):
            await self._vault.check(stored)
            report("databases", done, len(manifest.objects))
        done = 0
        async for each in self._catalog.read_media(manifest):
            await self._vault.check(each.stored)
            done += 1
            report("media", done, manifest.media_files)
        return manifest

    async def prune(self, keep: int) -> list[str]:
        """Keep the newest backups and delete the others; returns their ids."""
        async with alone(self._vault):
            return await self._catalog.prune(keep)

    async def _create(self, settings: Settings, report: Report, *, with_media: bool) -> Manifest:
        began_at = datetime.now(UTC)
        backup_id = f"{began_at:%Y-%m-%dT%H-%M-%SZ}"
        folder = f"{BACKUPS}/{backup_id}"
        await _refuse_moves(settings)
        media = None
        if with_media:
            storage = ObjectStorage(open_stores(settings))
            known = await self._catalog.known_media()
            media = MediaCopier(self._vault, self._catalog, storage, folder, known)
            await media.run(report)
        dsns = _superusers(settings)
        servers, cut = await self._copy_servers(settings, dsns, folder, report, f"tintype {backup_id}")
        if media is not None:
            await media.run(report)
        files = list(media.files.values()) if media is not None else []
        manifest = Manifest(
            id=backup_id,
            version=version("tintype"),
            began_at=began_at,
            restore_point=f"tintype {backup_id}",
            restored_to=cut.at,
            is_one_moment=cut.is_one_moment,
            servers=servers,
            secrets=await copy_secrets(settings, dsns, self._vault, folder),
            has_media=with_media,
            media=await self._catalog.save_media(folder, files),
            media_files=len(files),
            media_bytes=sum(each.stored.size_bytes for each in files),
            new_files=media.new_files if media is not None else 0,
            new_bytes=media.new_bytes if media is not None else 0,
        )
        await self._catalog.save(manifest)
        return manifest

    async def _copy_servers(
        self, settings: Settings, dsns: dict[int, str], folder: str, report: Report, restore_point: str
    ) -> tuple[list[ServerCopy], Cut]:
        """Copy all servers at once, and then cut them at one moment."""
        async with contextlib.AsyncExitStack() as stack:
            sources = [
                await stack.enter_async_context(open_server(number, dsn)) for number, dsn in dsns.items()
            ]
            await _refuse_other_directory(settings, sources)
            async with task_group() as group:
                bases = [group.create_task(copy_base(each, self._vault, folder, report)) for each in sources]
            cut = await cut_all([each.connection for each in sources], restore_point)
            await _refuse_moves(settings)  # one that began meanwhile
            copies = [
                await copy_wal(each, base.result(), position, self._vault, folder)
                for each, base, position in zip(sources, bases, cut.positions, strict=True)
            ]
        return copies, cut


def _superusers(settings: Settings) -> dict[int, str]:
    """The addresses of the servers by number, as a role that may copy them."""
    named = server_dsns(as_superuser(settings))
    return {int(name.removeprefix("pg")): dsn for name, dsn in named.items()}


async def _refuse_moves(settings: Settings) -> None:
    """Refuse while shards move: a copy would go on with a replication whose other end is another installation."""
    moves = await read_move_status(directory_dsn(as_migrator(settings)))
    if moves:
        first = moves[0]
        raise BackupFailed(
            f"Shards are being moved, or their old copies are kept: {first.what} A backup waits for the end of it; "
            "`tintype shards move finish` ends what is kept (`tintype status` shows it)."
        )


async def _refuse_other_directory(settings: Settings, sources: Sequence[ServerSource]) -> None:
    """Refuse where the shard map is on none of the servers: it would be missing in the backup."""
    if not settings.directory:
        return
    known = {await system_of(each.connection) for each in sources}
    async with connected(directory_dsn(as_migrator(settings)), "the shard map") as directory:
        if await system_of(directory) not in known:
            raise BackupFailed(
                "The database of the shard map (`directory`) is on a server of its own, which is not copied. Name "
                "one of the servers of `postgres`, or back all of them up with tools of PostgreSQL."
            )
