"""Migrations outside a transaction: concurrent index builds, and how they recover from a crash.

Nothing rolls such a migration back, so it leaves a row in the version table before it starts. A run that finds
that row, without an end, knows that a statement may already have taken effect, and skips it. An invalid index of
the wanted name can only be a remainder: it is dropped and built anew.
"""

from __future__ import annotations

from typing import cast

import asyncpg

from shardwright.migrating.connecting import Connection, fetch_rows
from shardwright.migrating.files import Migration
from shardwright.migrating.locking import hold_for_session
from shardwright.migrating.pace import Pace
from shardwright.migrating.parsing import Statement, parse
from shardwright.migrating.targets import Target
from shardwright.migrating.writing import quote

_FIND_INDEX = """
SELECT x.indisvalid FROM pg_catalog.pg_index x
JOIN pg_catalog.pg_class c ON c.oid = x.indexrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = $1 AND c.relname = $2
"""
# REINDEX CONCURRENTLY builds beside the index, under its name with this ending.
_FIND_REMAINDERS = """
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
    connection: Connection, target: Target, migration: Migration, pace: Pace
) -> bool:
    """The target has the migration, however far an earlier attempt got; False if another migrator was faster."""
    async with hold_for_session(connection, target):
        query = f"SELECT checksum, applied_at FROM {target.schema}.schema_version WHERE number = $1"  # noqa: S608
        rows = await fetch_rows(connection, query, migration.number)
        if rows and rows[0]["applied_at"] is not None:
            return False
        # A file that failed may have been corrected since; what it made before proves nothing then.
        is_repeat = bool(rows) and rows[0]["checksum"] == migration.checksum
        await _record(connection, target, migration, "NULL")
        for statement in parse(migration.sql):
            await _run(connection, target, statement, migration, pace, is_repeat=is_repeat)
        await _record(connection, target, migration, "clock_timestamp()")
    return True


async def _record(connection: Connection, target: Target, migration: Migration, applied_at: str) -> None:
    await connection.execute(
        f"INSERT INTO {target.schema}.schema_version (number, name, checksum)"  # noqa: S608
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
    pace: Pace,
    *,
    is_repeat: bool,
) -> None:
    await _drop_invalid(connection, target, statement)
    if is_repeat and await _recover(connection, target, statement):
        return
    # A concurrent build makes nobody wait, and must itself outwait the transactions it finds; a time-out would
    # only leave an invalid index.
    lock_timeout = 0 if statement.is_concurrent else pace.lock_timeout_ms
    timeout = migration.statement_timeout or ("0" if statement.is_concurrent else pace.statement_timeout)
    await connection.execute(f"SET lock_timeout = {lock_timeout}; SET statement_timeout = '{timeout}'")
    try:
        await connection.execute(statement.sql)
    except asyncpg.PostgresError:
        # An invalid index still costs every write, and a unique one still refuses rows.
        if not connection.is_closed():
            await _drop_invalid(connection, target, statement)
        raise


async def _recover(connection: Connection, target: Target, statement: Statement) -> bool:
    """Clear away what an interrupted attempt left; True when the statement has already taken effect."""
    node = statement.node
    if node.kind == "IndexStmt":
        return await _find_index(connection, target, node.text("idxname")) is not None
    if node.kind == "ReindexStmt":
        for row in await fetch_rows(connection, _FIND_REMAINDERS, target.schema):
            await connection.execute(f"DROP INDEX CONCURRENTLY {target.schema}.{quote(row['relname'])}")
    if node.text("removeType") == "OBJECT_INDEX":
        names = [item.strings("items")[-1] for item in node.children("objects")]
        found = [await _find_index(connection, target, name) for name in names]
        return all(is_valid is None for is_valid in found)
    if node.kind == "AlterTableStmt" and statement.is_concurrent:
        return await _finish_detaching(connection, target, statement)
    return False


async def _finish_detaching(connection: Connection, target: Target, statement: Statement) -> bool:
    """A partition half detached is detached; False when detaching had not begun."""
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
