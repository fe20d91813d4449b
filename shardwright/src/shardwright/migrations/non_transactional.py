"""Migrations that run outside a transaction (concurrent index builds), and their recovery after a crash.

Nothing rolls such a migration back, so it writes a row to the version table before it starts. A run that finds that
row without `applied_at` knows that a statement may already have taken effect, and skips it. An invalid index of the
wanted name can only be left over from an interrupted build: it is dropped and built again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

import asyncpg

from shardwright.migrations.advisory_locks import lock_for_session
from shardwright.migrations.connections import Connection, fetch_rows
from shardwright.migrations.ddl import quote
from shardwright.migrations.files import Migration
from shardwright.migrations.options import MigratorOptions
from shardwright.migrations.sql_parser import Statement, parse
from shardwright.migrations.targets import Target
from shardwright.migrations.versions import Version, read_versions

_FIND_INDEX = """
SELECT x.indisvalid FROM pg_catalog.pg_index x
JOIN pg_catalog.pg_class c ON c.oid = x.indexrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = $1 AND c.relname = $2
"""
# REINDEX CONCURRENTLY builds beside the index, under its name with this ending.
_FIND_LEFTOVERS = """
SELECT c.relname FROM pg_catalog.pg_index x
JOIN pg_catalog.pg_class c ON c.oid = x.indexrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = $1 AND NOT x.indisvalid AND c.relname ~ '_cc(new|old)\\d*$'
"""
_FIND_PARENT = """
SELECT inhparent::regclass::text AS parent, inhdetachpending AS is_pending
FROM pg_catalog.pg_inherits WHERE inhrelid = to_regclass($1)
"""


async def run_outside_transaction(
    connection: Connection,
    target: Target,
    migration: Migration,
    options: MigratorOptions,
    is_next: Callable[[Sequence[Version]], bool],
) -> bool:
    """Apply the migration, however far an earlier attempt got; False if it is no longer the next one."""
    async with lock_for_session(connection, target):
        versions = (await read_versions(connection, [target.schema]))[target.schema]
        if not is_next(versions):
            return False
        # A file that failed may have been corrected since; what it created before proves nothing then.
        begun = {version.number: version.checksum for version in versions}
        is_repeat = begun.get(migration.number) == migration.checksum
        await _record(connection, target, migration, "NULL")
        for statement in parse(migration.sql):
            await _run(connection, target, statement, migration, options, is_repeat=is_repeat)
        await _record(connection, target, migration, "clock_timestamp()")
    return True


async def _record(connection: Connection, target: Target, migration: Migration, applied_at: str) -> None:
    await connection.execute(
        f"INSERT INTO {target.schema}.schema_version (number, name, checksum)"  # noqa: S608 - names come from the library, values are parameters
        " VALUES ($1, $2, $3) ON CONFLICT (number) DO UPDATE"
        f" SET name = excluded.name, checksum = excluded.checksum, applied_at = {applied_at}",
        migration.number,
        migration.name,
        migration.checksum,
    )


async def _run(
    connection: Connection,
    target: Target,
    statement: Statement,
    migration: Migration,
    options: MigratorOptions,
    *,
    is_repeat: bool,
) -> None:
    await _drop_invalid(connection, target, statement)
    if is_repeat and await _recover(connection, target, statement):
        return
    # A concurrent build blocks nobody, but must itself wait for all running transactions; a timeout would only leave
    # an invalid index.
    lock_timeout = 0 if statement.is_concurrent else options.lock_timeout_ms
    timeout = migration.statement_timeout or ("0" if statement.is_concurrent else options.statement_timeout)
    await connection.execute(f"SET lock_timeout = {lock_timeout}; SET statement_timeout = '{timeout}'")
    try:
        await connection.execute(statement.sql)
    except asyncpg.PostgresError:
        # An invalid index still slows down every write, and a unique one still rejects rows.
        if not connection.is_closed():
            await _drop_invalid(connection, target, statement)
        raise


async def _recover(connection: Connection, target: Target, statement: Statement) -> bool:
    """Remove what an interrupted attempt left behind; True when the statement has already taken effect."""
    node = statement.node
    if node.kind == "IndexStmt":
        return await _find_index(connection, target, node.text("idxname")) is not None
    if node.kind == "ReindexStmt":
        for row in await fetch_rows(connection, _FIND_LEFTOVERS, target.schema):
            await connection.execute(f"DROP INDEX CONCURRENTLY {target.schema}.{quote(row['relname'])}")
    if node.text("removeType") == "OBJECT_INDEX":
        names = [item.strings("items")[-1] for item in node.children("objects")]
        found = [await _find_index(connection, target, name) for name in names]
        return all(is_valid is None for is_valid in found)
    if node.kind == "AlterTableStmt" and statement.is_concurrent:
        return await _finish_detach(connection, target, statement)
    return False


async def _finish_detach(connection: Connection, target: Target, statement: Statement) -> bool:
    """Finish an interrupted DETACH PARTITION CONCURRENTLY; False when detaching had not started."""
    detached = statement.node.children("cmds")[0].child("def").child("name").text("relname")
    partition = f"{target.schema}.{quote(detached)}"
    rows = await fetch_rows(connection, _FIND_PARENT, partition)
    if rows and rows[0]["is_pending"]:
        await connection.execute(f"ALTER TABLE {rows[0]['parent']} DETACH PARTITION {partition} FINALIZE")
    return not rows or rows[0]["is_pending"]


async def _drop_invalid(connection: Connection, target: Target, statement: Statement) -> None:
    name = statement.node.text("idxname")
    if name and await _find_index(connection, target, name) is False:
        await connection.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {target.schema}.{quote(name)}")


async def _find_index(connection: Connection, target: Target, name: str) -> bool | None:
    """Whether the index is valid; None when there is none."""
    return cast("bool | None", await connection.fetchval(_FIND_INDEX, target.schema, name))
