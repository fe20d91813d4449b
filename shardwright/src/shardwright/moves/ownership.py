"""Takes shards from one server and gives them to another: fence, sequences, ids, activation."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from shardwright.ids import last_tick_sql, resume_above_sql
from shardwright.moves.links import send_marker
from shardwright.moves.models import Move, MoveOptions
from shardwright.moves.session import Session
from shardwright.topology import fetch_rows, fetch_value, is_owned, set_owned

if TYPE_CHECKING:
    from asyncpg import Connection

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
    # Autovacuum is asked to leave a table only after deadlock_timeout, and so before ours is over.
    await conn.execute(
        f"SET LOCAL lock_timeout = '{options.lock_timeout_ms}ms'; "
        f"SET LOCAL deadlock_timeout = '{max(10, options.lock_timeout_ms // 4)}ms'"
    )
    await _lock_tables(conn, move.schemas, ["r", "p"], "SHARE ROW EXCLUSIVE")
    for number in move.shards:
        await set_owned(conn, number, owned=False)
    return await send_marker(conn, move.link)


async def _lock_tables(conn: "Connection", schemas: Sequence[str], kinds: Sequence[str], mode: str) -> None:
    rows = await fetch_rows(conn, _TABLES, list(schemas), [kind.encode() for kind in kinds])
    if rows:
        await conn.execute(f"LOCK TABLE {', '.join(row['name'] for row in rows)} IN {mode} MODE")


async def own(conn: "Connection", numbers: Sequence[int]) -> None:
    """Make the server the owner of these shards; its WAL is on disk when this returns, also what was applied before."""
    async with conn.transaction():
        await conn.execute("SET LOCAL synchronous_commit = 'on'")
        for number in numbers:
            await set_owned(conn, number, owned=True)


async def owned_shards(conn: "Connection", numbers: Sequence[int]) -> list[int]:
    """Those of the shards that the server accepts writes to."""
    return [number for number in numbers if await is_owned(conn, number)]


async def carry_sequences(session: Session, move: Move) -> None:
    """Make ids and sequences of the target go on above those of the source, which is fenced."""
    ticks = {number: await fetch_value(session.source, last_tick_sql(number)) for number in move.shards}
    rows = await fetch_rows(session.source, _SEQUENCES, move.schemas)
    statements = [resume_above_sql(number, tick) for number, tick in ticks.items()]
    for row in rows:
        beyond = row["last_value"] + SEQUENCE_MARGIN * row["increment_by"]
        value = beyond if row["min_value"] <= beyond <= row["max_value"] else row["last_value"]
        statements.append(f"SELECT setval('{row['name']}', {value})")
    await session.target.execute(";\n".join(statements))
