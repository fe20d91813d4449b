"""One migrator per target at a time, told by advisory locks, and no lock on a table waited for at length.

Nobody waits inside PostgreSQL for an advisory lock: a waiting statement holds a snapshot, and a concurrent
index build waits for all snapshots, so the two would wait for each other. Locks are tried for instead.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import asyncpg

from shardwright.migrating.connecting import Connection
from shardwright.migrating.pace import Busy, Pace
from shardwright.migrating.targets import Target

# "SWMI": keeps these locks apart from any others in the two-number space. A mover of shards holds the same
# lock to keep migrations away from a shard on its way.
LOCK_CLASS = 0x53574D49


async def hold_for_transaction(connection: Connection, target: Target, pace: Pace) -> None:
    """Until the transaction ends the target is ours, names mean what they should, and locks time out soon."""
    await connection.execute(
        f"SET LOCAL search_path = {target.search_path};"
        f"SET LOCAL lock_timeout = '{pace.lock_timeout_ms}ms';"
        f"SET LOCAL statement_timeout = '{pace.statement_timeout}';"
    )
    query = "SELECT pg_try_advisory_xact_lock($1, $2)"
    if not await connection.fetchval(query, LOCK_CLASS, target.lock_number):
        raise Busy


@asynccontextmanager
async def hold_for_session(connection: Connection, target: Target) -> AsyncGenerator[None]:
    """The target is ours, outside a transaction; the connection must not pass through a transaction pooler."""
    if not await connection.fetchval("SELECT pg_try_advisory_lock($1, $2)", LOCK_CLASS, target.lock_number):
        raise Busy
    try:
        await connection.execute(f"SET search_path = {target.search_path}")
        yield
    except asyncpg.PostgresError:
        # Any other fault ends the connection, and its locks and settings with it.
        if not connection.is_closed():
            await _release(connection)
        raise
    await _release(connection)


async def _release(connection: Connection) -> None:
    await connection.execute("RESET ALL")
    await connection.execute("SELECT pg_advisory_unlock_all()")
