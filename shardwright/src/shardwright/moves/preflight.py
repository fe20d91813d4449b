"""What must be true of both servers and of the shards' tables before a move begins; every problem is reported."""

from collections.abc import AsyncGenerator, Sequence
from typing import TYPE_CHECKING

from rich.filesize import decimal

from shardwright.ids import schema_name
from shardwright.migrations import COMMON_SCHEMA, read_versions
from shardwright.moves.errors import MoveRefused
from shardwright.moves.grants import read_grants
from shardwright.moves.models import Move, MoveOptions
from shardwright.moves.room import measure_room, needed_room
from shardwright.moves.session import Session
from shardwright.moves.structure import existing_schemas
from shardwright.topology import (
    LIBRARY_SCHEMA,
    LIBRARY_VERSION,
    fetch_rows,
    fetch_value,
    owned_numbers,
    read_library_versions,
)

if TYPE_CHECKING:
    from asyncpg import Connection, Record

MIN_POSTGRESQL = 16
"""Since then a subscription can leave out what came from elsewhere."""

_SETTINGS = """\
SELECT current_setting('server_version_num')::integer / 10000 AS major, current_setting('wal_level') AS wal_level,
  (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) AS is_superuser,
  current_setting('max_replication_slots')::integer - (SELECT count(*) FROM pg_replication_slots) AS free_slots,
  current_setting('max_wal_senders')::integer - (SELECT count(*) FROM pg_stat_replication) AS free_senders,
  current_setting('max_logical_replication_workers')::integer
    - (SELECT count(*) FROM pg_stat_subscription WHERE pid IS NOT NULL) AS free_workers,
  (SELECT pg_encoding_to_char(encoding) || ' ' || datcollate FROM pg_database
   WHERE datname = current_database()) AS locale
"""
_TABLES = """\
SELECT c.oid::regclass::text AS name, c.relkind::text AS kind, c.relpersistence::text AS persistence,
  CASE c.relreplident WHEN 'f' THEN true WHEN 'n' THEN false
    WHEN 'i' THEN EXISTS (SELECT FROM pg_index x WHERE x.indrelid = c.oid AND x.indisreplident)
    ELSE EXISTS (SELECT FROM pg_index x WHERE x.indrelid = c.oid AND x.indisprimary AND x.indisvalid)
  END AS has_identity
FROM pg_catalog.pg_namespace n
JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relkind IN ('r', 'f', 'm')
WHERE n.nspname = ANY ($1::text[]) ORDER BY name
"""
_ELSEWHERE = """\
SELECT c.oid::regclass::text AS name FROM pg_catalog.pg_namespace n
JOIN pg_catalog.pg_class p ON p.relnamespace = n.oid AND p.relkind = 'p'
CROSS JOIN LATERAL pg_catalog.pg_partition_tree(p.oid) AS t JOIN pg_catalog.pg_class c ON c.oid = t.relid
WHERE n.nspname = ANY ($1::text[]) AND c.relnamespace <> n.oid
"""
_LONG = """\
SELECT pid::text AS who, extract(epoch FROM clock_timestamp() - xact_start)::integer AS age_s FROM pg_stat_activity
WHERE xact_start < clock_timestamp() - make_interval(secs => $1) AND backend_type = 'client backend'
UNION ALL
SELECT gid, extract(epoch FROM clock_timestamp() - prepared)::integer FROM pg_prepared_xacts
WHERE prepared < clock_timestamp() - make_interval(secs => $1)
"""
_SIZE = """\
SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_catalog.pg_namespace n
JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relkind = 'r' WHERE n.nspname = ANY ($1::text[])
"""


async def check_move(session: Session, move: Move, options: MoveOptions) -> None:
    """Return when the move can begin; otherwise raise with everything that is in its way."""
    problems = [problem async for problem in _problems(session, move, options)]
    if problems:
        listed = "\n".join(f"- {problem}" for problem in problems)
        raise MoveRefused(f"{move} cannot begin:\n{listed}")


async def _problems(session: Session, move: Move, options: MoveOptions) -> AsyncGenerator[str]:
    sides = ((session.source_server.name, session.source), (session.target_server.name, session.target))
    rows = [(await fetch_rows(conn, _SETTINGS))[0] for _, conn in sides]
    for (name, conn), row in zip(sides, rows, strict=True):
        async for problem in _server_problems(name, conn, row, options):
            yield problem
    if rows[0]["locale"] != rows[1]["locale"]:
        yield f"the databases differ in encoding or collation: {rows[0]['locale']} and {rows[1]['locale']}"
    async for problem in _difference_problems(session, move):
        yield problem
    async for problem in _table_problems(session.source, move.schemas):
        yield problem
    async for problem in _room_problems(session, move, options):
        yield problem
    for schema in sorted(await existing_schemas(session.target, move.schemas)):
        yield (
            f"server {session.target_server.name} has a schema {schema} already, perhaps an old copy: "
            "see `shardwright move sweep`"
        )
    for number in sorted(set(move.shards) - set(await owned_numbers(session.source, move.shards))):
        yield f"server {session.source_server.name} does not own {schema_name(number)}, which the map says it does"


async def _server_problems(
    name: str, conn: "Connection", row: "Record", options: MoveOptions
) -> AsyncGenerator[str]:
    if row["major"] < MIN_POSTGRESQL:
        yield f"server {name} runs PostgreSQL {row['major']}: moves need {MIN_POSTGRESQL} or later"
    if row["wal_level"] != "logical":
        yield f"server {name} has wal_level {row['wal_level']}: set wal_level = logical, and restart it"
    if not row["is_superuser"]:
        yield f"the role that signs in to server {name} is no superuser, which publications of schemas need"
    for what, needed in (("free_slots", 2), ("free_senders", 2), ("free_workers", 2)):
        if row[what] < needed:
            setting = {
                "free_slots": "max_replication_slots",
                "free_senders": "max_wal_senders",
                "free_workers": "max_logical_replication_workers",
            }[what]
            yield f"server {name} has {row[what]} of {setting} left, and a move needs {needed}: raise it, and restart"
    for each in await fetch_rows(conn, _LONG, options.long_transaction_s):
        yield f"a transaction on server {name} ({each['who']}) is open for {each['age_s']} s: wait for it, or end it"


async def _difference_problems(session: Session, move: Move) -> AsyncGenerator[str]:
    name, other = session.source_server.name, session.target_server.name
    here = await read_library_versions(session.source, [LIBRARY_SCHEMA, *move.schemas])
    there = await read_library_versions(session.target, [LIBRARY_SCHEMA])
    if set(here.values()) | set(there.values()) != {LIBRARY_VERSION}:
        yield "shardwright's own SQL has other versions than this release: run `shardwright upgrade` first"
    mine, theirs = [
        [
            each.number
            for each in (await read_versions(conn, [COMMON_SCHEMA]))[COMMON_SCHEMA]
            if each.is_applied
        ]
        for conn in (session.source, session.target)
    ]
    if mine != theirs:
        yield (
            f"server {other} does not have the server migrations of {name} ({theirs[-1:]} instead of {mine[-1:]}): "
            "run `shardwright migrate` first"
        )
    for what, sql in (("extension", "SELECT extname::text AS name FROM pg_extension"),):
        found = [
            {row["name"] for row in await fetch_rows(conn, sql)} for conn in (session.source, session.target)
        ]
        for missing in sorted(found[0] - found[1]):
            yield f"server {other} lacks the {what} {missing}: create it there"
    owners = await fetch_rows(
        session.source,
        "SELECT DISTINCT nspowner::regrole::text AS name FROM pg_namespace WHERE nspname = ANY ($1)",
        move.schemas,
    )
    named = {row["name"] for row in owners} | {
        each.grantee for each in await read_grants(session.source, move.schemas)
    }
    for role in sorted(named - {"PUBLIC"}):
        if not await fetch_value(session.target, "SELECT to_regrole($1) IS NOT NULL", role):
            yield f"server {other} lacks the role {role}, which owns shards or may use them: run `shardwright roles`"


async def _table_problems(conn: "Connection", schemas: Sequence[str]) -> AsyncGenerator[str]:
    for row in await fetch_rows(conn, _TABLES, list(schemas)):
        if row["kind"] == "f":
            yield f"{row['name']} is a foreign table: its rows are elsewhere; drop it first"
        elif row["kind"] == "m":
            yield f"{row['name']} is a materialized view, whose rows are not replicated; drop it first"
        elif row["persistence"] == "u":
            yield f"{row['name']} is unlogged, and its rows are not replicated: ALTER TABLE … SET LOGGED"
        elif not row["has_identity"]:
            yield f"{row['name']} has no primary key: add one, or ALTER TABLE … REPLICA IDENTITY"
    for row in await fetch_rows(conn, _ELSEWHERE, list(schemas)):
        yield f"the partition {row['name']} is in another schema than its shard: move it there"


async def _room_problems(session: Session, move: Move, options: MoveOptions) -> AsyncGenerator[str]:
    name = session.target_server.name
    room = options.room_bytes.get(name)
    if room is None:
        room = await measure_room(session.target)
    if room is None:
        return  # nobody can tell
    size = await fetch_value(session.source, _SIZE, move.schemas)
    needed = await needed_room(session.target, size)
    if room < needed:
        yield (
            f"server {name} has room for {decimal(room)}, and the shards need {decimal(needed)} with the WAL of their "
            "copy: make room, or move fewer at a time"
        )
