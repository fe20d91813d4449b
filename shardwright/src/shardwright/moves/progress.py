"""Measures how far a move is: tables, rows and bytes copied, and how far the target lags."""

from typing import Any

from shardwright.moves.errors import MoveFailed
from shardwright.moves.links import lag_bytes
from shardwright.moves.models import Move, MoveProgress
from shardwright.moves.row_copy import Copied
from shardwright.moves.session import Session
from shardwright.topology import fetch_rows

_COPIED = """\
SELECT count(*) FILTER (WHERE r.srsubstate = 'r') AS copied, count(*) AS tables,
  coalesce(max(t.apply_error_count + t.sync_error_count), 0) AS errors
FROM pg_catalog.pg_subscription s JOIN pg_catalog.pg_subscription_rel r ON r.srsubid = s.oid
LEFT JOIN pg_catalog.pg_stat_subscription_stats t ON t.subid = s.oid
WHERE s.subname = $1
"""
_SIZE = """\
SELECT coalesce(sum(pg_relation_size(c.oid)), 0)::bigint AS size_bytes,
  coalesce(sum(greatest(c.reltuples, t.n_live_tup, 0)), 0)::bigint AS rows
FROM pg_catalog.pg_namespace n JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relkind = 'r'
LEFT JOIN pg_catalog.pg_stat_all_tables t ON t.relid = c.oid WHERE n.nspname = ANY ($1::text[])
"""
_COPYING = """\
SELECT coalesce(sum(p.tuples_processed), 0)::bigint AS rows FROM pg_catalog.pg_stat_progress_copy p
JOIN pg_catalog.pg_class c ON c.oid = p.relid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE p.datname = current_database() AND n.nspname = ANY ($1::text[])
"""


async def measure(session: Session, move: Move, copy: Copied | None = None) -> MoveProgress:
    """How far the move is now, or its copy that is under way."""
    linked = await _row(session.target, _COPIED, move.link)
    there = await _row(session.target, _SIZE, move.schemas)
    copying = await _row(session.target, _COPYING, move.schemas)
    here = await _row(session.source, _SIZE, move.schemas)
    lag = await lag_bytes(session.source, move.link)
    if lag is None:
        raise MoveFailed(
            f"server {session.source_server.name} has removed WAL that {move} needs, or was replaced by a replica: "
            "abort the move, raise max_slot_wal_keep_size in the first case, and start it again"
        )
    return MoveProgress(
        move,
        tables_copied=copy.tables_copied if copy else linked["copied"],
        tables=copy.tables if copy else linked["tables"],
        rows=(copy.rows if copy else there["rows"]) + copying["rows"],
        rows_total=here["rows"],
        size_bytes=there["size_bytes"],
        size_total_bytes=here["size_bytes"],
        lag_bytes=lag,
        errors=linked["errors"],
    )


async def _row(conn: Any, sql: str, *args: Any) -> Any:  # asyncpg's connection and record ship without types
    return (await fetch_rows(conn, sql, *args))[0]
