"""Copies a running PostgreSQL server: a base backup as a tar, and the WAL from its beginning to the cut.

The base backup comes from `pg_basebackup` by the replication protocol, with the server's own manifest of checksums in
it. The WAL is read by SQL: a slot that lives as long as our connection holds it back until then.
"""

import asyncio
import contextlib
import os
import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import dataclass
from typing import cast
from urllib.parse import unquote, urlunsplit

import asyncpg
from asyncpg import Connection, Record

from shardwright.local import find_binaries
from shardwright.topology import split_url
from tintype.backup.errors import BackupFailed
from tintype.backup.models import Report, ServerCopy, StoredObject
from tintype.backup.vault import Vault

SUPERUSER = "postgresql://postgres:"
_TIMEOUT_S = 15
_WAL_TIMEOUT_S = 120
_READ_BYTES = 1024 * 1024
_MEGABYTE = 1024 * 1024
_STATE = """
SELECT pg_is_in_recovery() AS is_standby, current_setting('server_version_num')::int / 10000 AS major,
       (SELECT sum(pg_database_size(oid))::bigint FROM pg_database) AS size_bytes
"""
_HOLD_WAL = "SELECT lsn::text FROM pg_create_physical_replication_slot($1, true, true)"
_LIST_WAL = """
SELECT name FROM pg_ls_waldir()
WHERE name ~ '^[0-9A-F]{8}\\.history$'
   OR name ~ '^[0-9A-F]{24}$' AND name BETWEEN pg_walfile_name($1::text::pg_lsn) AND pg_walfile_name($2::text::pg_lsn)
ORDER BY name
"""


@dataclass(frozen=True)
class ServerSource:
    """One server to copy, with a connection as superuser."""

    number: int
    dsn: str
    connection: Connection
    major: int
    size_bytes: int
    wal_from: str
    """From here on the server keeps its WAL for us."""

    @property
    def name(self) -> str:
        """Its name: pg1, pg2 and so on."""
        return f"pg{self.number}"


@contextlib.asynccontextmanager
async def open_server(number: int, dsn: str) -> AsyncGenerator[ServerSource]:
    """Connect to a server, and have it keep its WAL as long as the connection lives."""
    if not dsn.startswith(SUPERUSER):
        raise BackupFailed(
            f"The PostgreSQL server pg{number} is copied, and restored, as its superuser `postgres` with a password: "
            "name it in postgres_admin, as postgresql://postgres:PASSWORD@HOST/DATABASE."
        )
    async with connected(dsn, f"pg{number}") as connection:
        state = cast("Record", await connection.fetchrow(_STATE))
        if state["is_standby"]:
            raise BackupFailed(
                f"The PostgreSQL server pg{number} is a replica: name the primary in the settings."
            )
        _check_programs(number, state["major"])
        try:
            slot = f"tintype_backup_{secrets.token_hex(4)}"
            lsn = cast("str", await connection.fetchval(_HOLD_WAL, slot))
        except asyncpg.InsufficientPrivilegeError as error:
            raise BackupFailed(
                f"The PostgreSQL server pg{number} refuses a copy: {error}. Name its superuser in postgres_admin."
            ) from error
        yield ServerSource(number, dsn, connection, state["major"], state["size_bytes"], lsn)


@contextlib.asynccontextmanager
async def connected(dsn: str, name: str) -> AsyncGenerator[Connection]:
    """A connection to a server; `BackupFailed` when it does not answer."""
    try:
        connection = cast("Connection", await asyncpg.connect(dsn, timeout=_TIMEOUT_S))
    except (OSError, asyncpg.PostgresError) as error:
        raise BackupFailed(f"The PostgreSQL server {name} does not answer: {error}") from error
    try:
        yield connection
    finally:
        await connection.close(timeout=_TIMEOUT_S)


async def system_of(connection: Connection) -> int:
    """The identifier of a server, which its replicas share and no other server has."""
    return cast("int", await connection.fetchval("SELECT system_identifier FROM pg_control_system()"))


async def copy_base(source: ServerSource, vault: Vault, folder: str, report: Report) -> StoredObject:
    """Write the base backup of a server."""
    total = source.size_bytes // _MEGABYTE

    def show(copied_bytes: int) -> None:
        report(source.name, copied_bytes // _MEGABYTE, max(total, copied_bytes // _MEGABYTE))

    stored = await vault.write(f"{folder}/{source.name}/base.tar.gz", _base_backup(source.dsn, show))
    report(source.name, stored.size_bytes // _MEGABYTE, stored.size_bytes // _MEGABYTE)
    return stored


async def copy_wal(
    source: ServerSource, base: StoredObject, until: str, vault: Vault, folder: str
) -> ServerCopy:
    """Write the WAL up to a position that the server has written to its disk."""
    await source.connection.execute("SELECT pg_switch_wal()")  # which also flushes what is before
    rows = cast("list[Record]", await source.connection.fetch(_LIST_WAL, source.wal_from, until))
    wal = [
        await vault.write(
            f"{folder}/{source.name}/wal/{row['name']}.gz", _read_wal(source.connection, row["name"])
        )
        for row in rows
    ]
    database = split_url(source.dsn).path.strip("/")
    return ServerCopy(number=source.number, major=source.major, database=database, base=base, wal=wal)


def split_password(dsn: str) -> tuple[str, str]:
    """A DSN without its password, which a command line would show to every account, and the password."""
    parts = split_url(dsn)
    user, _, place = parts.netloc.rpartition("@")
    name, _, password = user.partition(":")
    return urlunsplit(parts._replace(netloc=f"{name}@{place}" if name else place)), unquote(password)


def _check_programs(number: int, major: int) -> None:
    binaries = find_binaries()
    if binaries.major < major:
        raise BackupFailed(
            f"The PostgreSQL server pg{number} has version {major}, but the programs here are of "
            f"{binaries.version}: install those of {major}."
        )


async def _read_wal(connection: Connection, name: str) -> AsyncIterator[bytes]:
    statement = "SELECT pg_read_binary_file('pg_wal/' || $1::text)"
    yield cast("bytes", await connection.fetchval(statement, name, timeout=_WAL_TIMEOUT_S))


async def _base_backup(dsn: str, show: Callable[[int], None]) -> AsyncIterator[bytes]:
    """The output of pg_basebackup; raises when it fails, so that nothing incomplete is stored."""
    address, password = split_password(dsn)
    options = ["--pgdata=-", "--format=tar", "--wal-method=none", "--checkpoint=fast", "--no-password"]
    process = await asyncio.create_subprocess_exec(
        find_binaries().program("pg_basebackup"),
        f"--dbname={address}",
        *options,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=2 * _READ_BYTES,
        env={**os.environ, **({"PGPASSWORD": password} if password else {})},
    )
    if process.stdout is None or process.stderr is None:
        raise BackupFailed("pg_basebackup has no output.")
    messages = asyncio.create_task(process.stderr.read())
    copied = 0
    try:
        while chunk := await process.stdout.read(_READ_BYTES):
            copied += len(chunk)
            show(copied)
            yield chunk
        if await process.wait() != 0:
            reason = (await messages).decode(errors="replace").strip()
            raise BackupFailed(f"pg_basebackup failed: {reason[-500:]}")
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
        await asyncio.wait([messages])
