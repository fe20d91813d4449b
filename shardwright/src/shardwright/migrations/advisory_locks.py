"""Advisory locks: one migrator per target at a time.

Migrators never wait inside PostgreSQL for an advisory lock: a waiting statement holds a snapshot, and a concurrent
index build waits for all snapshots, so the two would deadlock. They try the lock and retry later instead.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import asyncpg

from shardwright.migrations.backoff import Busy
from shardwright.migrations.connections import Connection
from shardwright.migrations.options import MigratorOptions
from shardwright.migrations.targets import Target

# The letters SWMI distinguish these locks from others in the two-number space. Whatever moves a shard holds the same
# lock, to keep migrations away from it.
LOCK_CLASS = 0x53574D49


async def lock_for_transaction(connection: Connection, target: Target, options: MigratorOptions) -> None:
    """Lock the target until the transaction ends, and set its search_path and timeouts; raises `Busy`."""
    await connection.execute(
        f"SET LOCAL search_path = {target.search_path};"
        f"SET LOCAL lock_timeout = '{options.lock_timeout_ms}ms';"
        f"SET LOCAL statement_timeout = '{options.statement_timeout}';"
    )
    query = "SELECT pg_try_advisory_xact_lock($1, $2)"
    if not await connection.fetchval(query, LOCK_CLASS, target.lock_number):
        raise Busy


@asynccontextmanager
async def lock_for_session(connection: Connection, target: Target) -> AsyncGenerator[None]:
    """Lock the target outside a transaction; the connection must not go through a transaction pooler."""
    if not await connection.fetchval("SELECT pg_try_advisory_lock($1, $2)", LOCK_CLASS, target.lock_number):
        raise Busy
    try:
        await connection.execute(f"SET search_path = {target.search_path}")
        yield
    except asyncpg.PostgresError:
        # Any other error closes the connection, and with it its locks and settings.
        if not connection.is_closed():
            await _release(connection)
        raise
    await _release(connection)


async def _release(connection: Connection) -> None:
    await connection.execute("RESET ALL")
    await connection.execute("SELECT pg_advisory_unlock_all()")
