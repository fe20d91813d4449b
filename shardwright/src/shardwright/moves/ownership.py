"""Takes shards from one server and gives them to another: fence, sequences, ids, activation."""

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

import asyncpg

from shardwright.ids import last_tick_sql, resume_above_sql
from shardwright.moves.links import send_marker
from shardwright.moves.models import Move, MoveOptions
from shardwright.moves.session import Session
from shardwright.topology import fetch_rows, owned_numbers, set_owned

if TYPE_CHECKING:
    from asyncpg import Connection

log = logging.getLogger(__name__)

NOT_FREE = (asyncpg.LockNotAvailableError, asyncpg.DeadlockDetectedError, asyncpg.QueryCanceledError)
"""Writers did not end in time."""
SEQUENCE_MARGIN = 1024
"""Values that clients may have drawn from a sequence without a write that the fence would have refused."""

_TABLES = """\
SELECT c.oid::regclass::text AS name FROM pg_catalog.pg_namespace n
JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relkind = ANY ($2::"char"[])
WHERE n.nspname = ANY ($1::text[]) ORDER BY n.nspname, c.relname
"""
# The sequences of ids have their own way; the others go on a little above.
_SEQUENCES = """\
SELECT format('%I.%I', schemaname, sequencename) AS name, last_value, increment_by, min_value, max_value
FROM pg_catalog.pg_sequences
WHERE schemaname = ANY ($1::text[]) AND last_value IS NOT NULL
  AND sequencename NOT IN ('ids', 'ids_gate', 'ids_horizon')
"""


async def freeze_partitions(conn: "Connection", move: Move) -> None:
    """Keep partitions from being created and dropped until the transaction ends; rows are still written."""
    await _lock_tables(conn, move.schemas, ["p"], "SHARE UPDATE EXCLUSIVE")


async def fence(conn: "Connection", move: Move, options: MoveOptions) -> int:
    """Wait for writers, refuse further ones and close the ids, from the commit on; returns the last marker.

    Everything that was written is committed before the marker. Raises when writers do not end in time.
    """
    await lock_writers(conn, move, options)
    await set_owned(conn, *move.shards, owned=False)
    return await send_marker(conn, move.link)


async def fence_again(conn: "Connection", move: Move) -> None:
    """Make the server of an old copy refuse writes if it does not: a replica promoted there may lack the fence."""
    if owned := await owned_numbers(conn, move.shards):
        log.warning("move.fenced_again: %s: %s accepted writes to shard %s", move, move.source, owned[0])
        await set_owned(conn, *owned, owned=False)


async def lock_writers(conn: "Connection", move: Move, options: MoveOptions) -> None:
    """Wait for writers to end, and make further ones wait until the transaction ends; raises when they do not end."""
    # Autovacuum is asked to leave a table only after deadlock_timeout, and so before ours is over.
    await conn.execute(
        f"SET LOCAL lock_timeout = '{options.lock_timeout_ms}ms'; "
        f"SET LOCAL deadlock_timeout = '{max(10, options.lock_timeout_ms // 4)}ms'"
    )
    await _lock_tables(conn, move.schemas, ["r", "p"], "SHARE ROW EXCLUSIVE")


async def _lock_tables(conn: "Connection", schemas: Sequence[str], kinds: Sequence[str], mode: str) -> None:
    rows = await fetch_rows(conn, _TABLES, list(schemas), [kind.encode() for kind in kinds])
    if rows:
        await conn.execute(f"LOCK TABLE {', '.join(row['name'] for row in rows)} IN {mode} MODE")


async def own(conn: "Connection", numbers: Sequence[int]) -> None:
    """Make the server the owner of these shards; its WAL is on disk when this returns, also what was applied before."""
    async with conn.transaction():
        await conn.execute("SET LOCAL synchronous_commit = 'on'")
        await set_owned(conn, *numbers, owned=True)


async def carry_sequences(session: Session, move: Move) -> None:
    """Make ids and sequences of the target go on above those of the source, which is fenced."""
    ticks = await fetch_rows(session.source, " UNION ALL ".join(map(_numbered_tick_sql, move.shards)))
    rows = await fetch_rows(session.source, _SEQUENCES, move.schemas)
    statements = [resume_above_sql(row["number"], row["tick"]) for row in ticks]
    for row in rows:
        beyond = row["last_value"] + SEQUENCE_MARGIN * row["increment_by"]
        value = beyond if row["min_value"] <= beyond <= row["max_value"] else row["last_value"]
        statements.append(f"SELECT setval('{row['name']}', {value})")
    await session.target.execute(";\n".join(statements))


def _numbered_tick_sql(number: int) -> str:
    return f"SELECT {number} AS number, ({last_tick_sql(number)}) AS tick"
