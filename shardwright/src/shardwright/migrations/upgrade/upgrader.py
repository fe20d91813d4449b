"""Brings the library's own SQL forward: the directory first, then every server, then its shards.

Each level is changed in a transaction that also records its version, so whatever ends the program, the next run goes
on. Shards share a transaction in batches; a batch in which one is locked or fails goes shard by shard, with the short
lock timeout and the retries of migrations. Under its lock every level is read again: two upgrades share the work.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

import asyncpg

from shardwright.errors import MigrationRefused, ShardwrightError
from shardwright.ids import Layout, fence_sql, functions_sql, schema_name
from shardwright.migrations.advisory_locks import LOCK_CLASS
from shardwright.migrations.backoff import Busy, retry
from shardwright.migrations.connections import (
    CONNECTION_ERRORS,
    Connection,
    fetch_rows,
    in_parallel,
    open_connection,
)
from shardwright.migrations.options import MigratorOptions
from shardwright.migrations.report import describe
from shardwright.migrations.upgrade.status import LibraryStatus, ServerLibrary, read_library_status
from shardwright.migrations.upgrade.steps import Level, Release, Step
from shardwright.topology import (
    DIRECTORY_LOCK,
    DIRECTORY_SCHEMA,
    LIBRARY_SCHEMA,
    SERVER_LOCK,
    Directory,
    Progress,
    Server,
    guard_function_sql,
    install_directory_sql,
    install_server_sql,
    is_owned,
    read_library_versions,
    version_sql,
)

BATCH = 32
"""Shards per transaction, and per connection: a backend never frees what it cached of a shard."""
LOCKING_BATCH = 4
"""Shards per transaction while there are steps: their locks are held to its end, some 5 ms per shard."""

_DEFAULT_OPTIONS = MigratorOptions()
_TRY_LOCKS = """
SELECT coalesce(bool_and(pg_catalog.pg_try_advisory_xact_lock($1, number)), true) FROM unnest($2::integer[]) AS number
"""
_BECOME_OWNER = """
SELECT 'SET LOCAL ROLE ' || n.nspowner::regrole FROM pg_catalog.pg_namespace n
WHERE n.nspname = $1 AND n.nspowner <> (SELECT r.oid FROM pg_catalog.pg_roles r WHERE r.rolname = current_user)
"""


@dataclass
class UpgradeReport:
    """What an upgrade did: how many levels it brought forward, and where it failed, with the reason."""

    version: int
    upgraded: int = 0
    failed: dict[str, str] = field(default_factory=dict[str, str])

    def __str__(self) -> str:
        lines = [f"{self.upgraded} brought to version {self.version} of shardwright's own SQL, some failed:"]
        lines += [f"  {where}: {reason}" for where, reason in self.failed.items()]
        return "\n".join([*lines, "  What failed was rolled back; run again to go on from here."])


class UpgradeFailed(MigrationRefused):
    """Something could not be brought forward; `report` says what and why."""

    def __init__(self, report: UpgradeReport) -> None:
        super().__init__(str(report))
        self.report = report


async def upgrade_library(
    directory: Directory,
    *,
    release: Release | None = None,
    options: MigratorOptions = _DEFAULT_OPTIONS,
    progress: Progress | None = None,
) -> UpgradeReport:
    """Bring the library's own SQL to this release everywhere; safe to repeat, to interrupt and under load.

    Raises before anything is changed when something is newer than this release, a server does not answer, or the role
    may not; and `UpgradeFailed` when a directory, server or shard could not be brought forward.
    """
    status = await read_library_status(directory, release)
    status.check()
    upgrade = _Upgrade(directory, status, options, progress, (await directory.load()).layout)
    await upgrade.run()
    if upgrade.report.failed:
        raise UpgradeFailed(upgrade.report)
    return upgrade.report


class _Upgrade:
    """One run, for everything that `status` found behind."""

    def __init__(
        self,
        directory: Directory,
        status: LibraryStatus,
        options: MigratorOptions,
        progress: Progress | None,
        layout: Layout,
    ) -> None:
        self.report = UpgradeReport(status.release.version)
        self._directory = directory
        self._status = status
        self._release = status.release
        self._options = options
        self._progress = progress
        self._layout = layout

    async def run(self) -> None:
        servers = (await self._directory.load()).servers
        if self._status.is_directory_behind:
            await self._upgrade_directory()
        if not self.report.failed:
            await in_parallel(self._upgrade_server(servers[each.name], each) for each in self._status.servers)

    async def _upgrade_directory(self) -> None:
        async with self._collect_failure("the directory"), self._directory.connect() as connection:
            await self._upgrade_level(connection, "directory", DIRECTORY_SCHEMA, DIRECTORY_LOCK)

    async def _upgrade_server(self, server: Server, found: ServerLibrary) -> None:
        async with self._collect_failure(f"server {server.name}"):
            if self._status.is_behind(found):
                async with open_connection(server) as connection:
                    await self._upgrade_level(connection, "server", LIBRARY_SCHEMA, SERVER_LOCK)
            numbers = self._status.shards_behind(found)
            # One shard alone first: SQL that cannot work fails once, and not on every shard.
            if numbers and await self._upgrade_batch(server, numbers[:1]):
                oldest = min(found.shards[number] for number in numbers)
                size = LOCKING_BATCH if self._release.pending("shard", oldest) else BATCH
                for start in range(1, len(numbers), size):
                    await self._upgrade_batch(server, numbers[start : start + size])

    async def _upgrade_level(self, connection: Connection, level: Level, schema: str, lock: str) -> None:
        async def work() -> None:
            async with self._transaction(connection):
                await connection.execute(lock)
                await self._install(connection, level, schema)

        await retry(self._options, work, _ignore)
        self._count(1)

    async def _install(self, connection: Connection, level: Level, schema: str) -> None:
        """Bring the directory or a server forward; also when it has the version, to put replaced functions back."""
        version = (await read_library_versions(connection, [schema]))[schema]
        if version > self._release.version:
            return  # another upgrade, of a newer release, was here meanwhile
        await _become_owner(connection, schema)
        steps = self._release.pending(level, version)
        await _run_steps(connection, steps, schema)
        if level == "directory":
            await install_directory_sql(connection, self._release.version)
        else:
            await install_server_sql(connection, self._layout, self._release.version)
        await _run_steps(connection, steps, schema, after_functions=True)

    async def _upgrade_batch(self, server: Server, batch: Sequence[int]) -> bool:
        """Upgrade shards together, or one by one when one of them is locked or fails; whether all succeeded."""
        async with open_connection(server) as connection:
            try:
                await self._upgrade_shards(connection, batch)
            except (asyncpg.PostgresError, Busy):
                return await self._upgrade_each(connection, server, batch)
        self._count(len(batch))
        return True

    async def _upgrade_each(self, connection: Connection, server: Server, numbers: Sequence[int]) -> bool:
        succeeded = True
        for number in numbers:
            try:
                await retry(self._options, partial(self._upgrade_shards, connection, [number]), _ignore)
            except (ShardwrightError, asyncpg.PostgresError) as error:
                if connection.is_closed():
                    raise
                succeeded = False
                self.report.failed[f"{schema_name(number)} on {server.name}"] = describe(error)
            else:
                self._count(1)
        return succeeded

    async def _upgrade_shards(self, connection: Connection, numbers: Sequence[int]) -> None:
        """Bring these shards forward in one transaction; those that have the version by now are left out."""
        async with self._transaction(connection):
            if not await connection.fetchval(_TRY_LOCKS, LOCK_CLASS, list(numbers)):
                raise Busy
            versions = await read_library_versions(connection, [schema_name(number) for number in numbers])
            for number in numbers:
                version = versions.get(schema_name(number))
                if version is not None and version < self._release.version:
                    await self._upgrade_shard(connection, number, version)

    async def _upgrade_shard(self, connection: Connection, number: int, version: int) -> None:
        schema = schema_name(number)
        await _become_owner(connection, schema)
        # Replaces the guard's row by an equal one. Who transfers the shard at this moment and has not committed is
        # waited for, and who begins now fails and tries again: the guard cannot change after it was read.
        await connection.execute(f"ALTER FUNCTION {schema}.guard() VOLATILE")
        owned = await is_owned(connection, number)
        steps = self._release.pending("shard", version)
        await _run_steps(connection, steps, schema)
        await connection.execute(
            functions_sql(number, self._layout)
            + guard_function_sql(number, owned=owned)
            + version_sql(schema, self._release.version)
        )
        await _run_steps(connection, steps, schema, after_functions=True)
        if not owned:
            await connection.execute(fence_sql(number, is_fenced=True))

    @asynccontextmanager
    async def _transaction(self, connection: Connection) -> AsyncGenerator[None]:
        try:
            async with connection.transaction():
                await connection.execute(
                    f"SET LOCAL lock_timeout = '{self._options.lock_timeout_ms}ms';"
                    f"SET LOCAL statement_timeout = '{self._options.statement_timeout}';"
                    "SET LOCAL search_path = pg_catalog, pg_temp;"
                )
                yield
        except asyncpg.InternalServerError as error:
            if "tuple concurrently updated" in str(error):  # grants, or a transfer of the shard
                raise Busy from error
            raise

    @asynccontextmanager
    async def _collect_failure(self, where: str) -> AsyncGenerator[None]:
        """Note a failure in the report; other servers go on."""
        try:
            yield
        except (ShardwrightError, asyncpg.PostgresError, *CONNECTION_ERRORS) as error:
            self.report.failed[where] = describe(error)

    def _count(self, done: int) -> None:
        self.report.upgraded += done
        if self._progress is not None:
            self._progress(self.report.upgraded, self._status.behind)


async def _run_steps(
    connection: Connection, steps: Sequence[Step], schema: str, *, after_functions: bool = False
) -> None:
    for step in steps:
        if step.after_functions == after_functions:
            await connection.execute(step.sql_for(schema))


async def _become_owner(connection: Connection, schema: str) -> None:
    """Act as the schema's owner until the transaction ends: new functions are the owner's, with its default grants."""
    for row in await fetch_rows(connection, _BECOME_OWNER, schema):
        await connection.execute(row[0])


def _ignore(_reason: str) -> None:
    """Waits are short, and the bar shows what is done."""
