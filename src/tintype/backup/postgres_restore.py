"""Restores one PostgreSQL server: unpacks the base backup, checks every file, and replays the WAL up to the cut."""

import asyncio
import contextlib
import io
import os
import signal
import tarfile
from collections.abc import AsyncIterator
from pathlib import Path, PurePosixPath
from typing import cast

import asyncpg
from asyncpg import Connection

from shardwright.local import ServerFiles, SystemAccount, find_binaries, prepare
from tintype.backup.errors import BackupDamaged, RestoreFailed
from tintype.backup.models import ServerCopy
from tintype.backup.vault import Vault
from tintype.stack import ENGINE_ACCOUNT, engine_account

_POLL_S = 0.2
_CONNECT_TIMEOUT_S = 5
_COPY_BYTES = 1024 * 1024
_SIGNAL = "recovery.signal"
_RECOVERY = {
    "restore_command": "false",  # all there is lies in pg_wal
    "recovery_target_action": "promote",
    "hot_standby": "off",  # it answers when it is restored, not before
    "max_logical_replication_workers": "0",
    "archive_mode": "off",
    "autovacuum": "off",
}
# New events must not have ids that the lost ones of the original had: a JetStream that has survived would drop them.
_RENEW_SOURCE = "UPDATE common.outbox_source SET source = gen_random_uuid()"


async def restore_server(copy: ServerCopy, vault: Vault, folder: Path, restore_point: str) -> None:
    """Restore a server into its folder, which has nothing but the superuser's password, and leave it stopped."""
    account = engine_account()
    data = folder / "data"
    _make_folder(data, account)
    await _unpack(vault.read(copy.base), data, account)
    await _verify(data)
    for stored in copy.wal:
        name = PurePosixPath(stored.name).name.removesuffix(".gz")
        with _created(data / "pg_wal" / name, account) as file:
            async for chunk in vault.read(stored):
                file.write(chunk)
    with _created(data / _SIGNAL, account):
        pass  # an empty file: it says that the WAL is to be replayed
    await asyncio.to_thread(os.sync)
    for each in (folder, folder / "password"):
        _give(each, account)
    await _recover(folder, copy.database, restore_point)


async def _unpack(chunks: AsyncIterator[bytes], data: Path, account: SystemAccount | None) -> None:
    """Unpack a base backup; every file belongs to the account that runs the server, and to nobody else."""
    stream = _BlockingStream(chunks, asyncio.get_running_loop())
    await asyncio.to_thread(_unpack_blocking, stream, data, account)
    async for _ in chunks:
        pass  # what is after the end of the archive, so that the checksum is compared


def _unpack_blocking(stream: "_BlockingStream", data: Path, account: SystemAccount | None) -> None:
    try:
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            for member in archive:
                target = data / _safe(member.name)
                if member.isdir():
                    _make_folder(target, account)
                elif member.isfile():
                    _make_folder(target.parent, account)
                    content = cast("io.BufferedIOBase", archive.extractfile(member))
                    with _created(target, account) as file:
                        while chunk := content.read(_COPY_BYTES):
                            file.write(chunk)
                else:
                    raise RestoreFailed(
                        f"{member.name} in the base backup is a link: tablespaces are not restored."
                    )
    except tarfile.TarError as error:
        raise BackupDamaged(f"The backup is damaged: its base backup cannot be unpacked: {error}") from error


class _BlockingStream(io.RawIOBase):
    """An asynchronous stream as a file that a thread reads."""

    def __init__(self, chunks: AsyncIterator[bytes], loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._chunks, self._loop = chunks, loop
        self._waiting = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "bytearray | memoryview") -> int:  # type: ignore[override]  # a narrower buffer
        while not self._waiting:
            chunk = asyncio.run_coroutine_threadsafe(self._next(), self._loop).result()
            if chunk is None:
                return 0
            self._waiting = chunk
        count = min(len(buffer), len(self._waiting))
        buffer[:count] = self._waiting[:count]
        self._waiting = self._waiting[count:]
        return count

    async def _next(self) -> bytes | None:
        return await anext(self._chunks, None)


def _safe(name: str) -> PurePosixPath:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts:
        raise BackupDamaged(f"The backup is damaged: its base backup has a file {name}.")
    return path


def _make_folder(folder: Path, account: SystemAccount | None) -> None:
    if not folder.is_dir():
        folder.mkdir(parents=True, mode=0o700)
        _give(folder, account)


def _created(path: Path, account: SystemAccount | None) -> io.BufferedWriter:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    if account is not None:
        os.fchown(handle, account.uid, account.gid)
    return os.fdopen(handle, "wb")


def _give(path: Path, account: SystemAccount | None) -> None:
    if account is not None:
        os.chown(path, account.uid, account.gid)


async def _verify(data: Path) -> None:
    """Compare every file with the checksums that the server wrote into its own manifest of the base backup."""
    process = await asyncio.create_subprocess_exec(
        find_binaries().program("pg_verifybackup"),
        "--quiet",
        "--no-parse-wal",
        str(data),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await process.communicate()
    if process.returncode != 0:
        raise BackupDamaged(f"The backup is damaged: {output.decode(errors='replace').strip()[-500:]}")


async def _recover(folder: Path, database: str, restore_point: str) -> None:
    """Run the server until it has replayed its WAL to the restore point, and stop it."""
    files = await asyncio.to_thread(prepare, folder, account_name=ENGINE_ACCOUNT)
    settings = {**_RECOVERY, "recovery_target_name": restore_point}
    options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    with files.log.open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            *files.command(), *options, stdout=log, stderr=log, **files.popen_kwargs()
        )
    try:
        connection = await _wait_restored(process, files, database)
        try:
            await connection.execute(_RENEW_SOURCE)
        finally:
            await connection.close(timeout=_CONNECT_TIMEOUT_S)
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGINT)
        await process.wait()
    files.log.unlink()


async def _wait_restored(
    process: asyncio.subprocess.Process, files: ServerFiles, database: str
) -> Connection:
    """Connect as soon as the server answers; replaying takes as long as it takes, while the process lives."""
    while process.returncode is None:
        try:
            return cast("Connection", await asyncpg.connect(files.dsn(database), timeout=_CONNECT_TIMEOUT_S))
        except (OSError, asyncpg.CannotConnectNowError):
            await asyncio.sleep(_POLL_S)
    lines = files.log.read_text(errors="replace").splitlines()
    raise RestoreFailed("PostgreSQL could not replay the WAL of the backup:\n" + "\n".join(lines[-8:]))
