"""What must be true of the old database and of the shards before an adoption begins, and before it is switched.

Every problem is reported, with what to do about it.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import TYPE_CHECKING

import asyncpg

from shardwright.adopt.catalog import Table, read_tables
from shardwright.adopt.errors import AdoptRefused
from shardwright.adopt.routes import Routes
from shardwright.adopt.session import Session
from shardwright.migrations import COMMON_SCHEMA
from shardwright.topology import fetch_rows, fetch_value

if TYPE_CHECKING:
    from asyncpg import Connection

MIN_SOURCE = 13
MIN_SERVER = 15
_SHOWN = 8
_SETTINGS = """\
SELECT current_setting('server_version_num')::integer / 10000 AS major, current_setting('wal_level') AS wal_level,
  (SELECT rolsuper OR rolreplication FROM pg_roles WHERE rolname = current_user) AS may_replicate,
  current_setting('max_replication_slots')::integer - (SELECT count(*) FROM pg_replication_slots) AS free_slots,
  (SELECT pg_encoding_to_char(encoding) FROM pg_database WHERE datname = current_database()) AS encoding
"""
_OWNED = """\
SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = $1 AND c.relname = ANY ($2::text[]) AND NOT pg_has_role(c.relowner, 'USAGE')
"""
_INTEGERS = ("integer", "smallint")


async def check_start(session: Session, routes: Routes) -> None:
    """Return when the adoption can begin; otherwise raise with everything that is in its way."""
    _raise([problem async for problem in _start_problems(session, routes)], "the adoption cannot begin")


async def check_return(session: Session, routes: Routes) -> None:
    """Return when the old database could take back what shards write; otherwise raise."""
    problems = [problem async for problem in _return_problems(session, routes)]
    _raise(
        problems,
        "what is written to shards could not return to the old database (--no-return switches all the same)",
    )


def _raise(problems: Sequence[str], what: str) -> None:
    if problems:
        listed = "\n".join(f"- {problem}" for problem in problems)
        raise AdoptRefused(f"{what}:\n{listed}")


async def _start_problems(session: Session, routes: Routes) -> AsyncGenerator[str]:
    async for problem in _source_problems(session.source, routes):
        yield problem
    if 0 not in session.shard_map.owners:
        yield "there is no shard 0: create shards first, with `shardwright init` or `ensure_shards`"
        return
    async for problem in _target_problems(session, routes):
        yield problem


async def _source_problems(source: "Connection", routes: Routes) -> AsyncGenerator[str]:
    row = (await fetch_rows(source, _SETTINGS))[0]
    if row["major"] < MIN_SOURCE:
        yield f"the old database runs PostgreSQL {row['major']}: {MIN_SOURCE} or later is needed"
    if row["wal_level"] != "logical":
        yield f"the old database has wal_level {row['wal_level']}: set wal_level = logical, and restart it"
    if not row["may_replicate"]:
        yield "the role that signs in to the old database may not replicate: ALTER ROLE … REPLICATION"
    if row["free_slots"] < 1:
        yield "the old database has none of max_replication_slots left: raise it, and restart"
    if row["encoding"] != "UTF8":
        yield f"the old database has the encoding {row['encoding']}: only UTF8 can be adopted"
    names = list(routes.tables)
    for each in await fetch_rows(source, _OWNED, routes.plan.schema, names):
        yield f"{each['name']} belongs to another role in the old database: sign in as its owner"
    for table in routes.tables.values():
        for problem in _identity_problems(table):
            yield problem


def _identity_problems(table: Table) -> list[str]:
    found: list[str] = []
    if not table.key:
        found.append(
            f"{table.name} has no primary key, by which rows are recognised: add one, or let it stay"
        )
    elif table.identity not in {"d", "f"}:
        found.append(f"{table.name} has another replica identity: ALTER TABLE … REPLICA IDENTITY DEFAULT")
    if table.is_unlogged:
        found.append(f"{table.name} is unlogged, so its changes are not kept: set it LOGGED, or let it stay")
    return found


async def _target_problems(session: Session, routes: Routes) -> AsyncGenerator[str]:
    _, shards = session.sides(routes)
    schemas = {place for places in shards.places.values() for place in places}
    reported = 0
    for place in sorted(schemas):
        conn = session.servers[place.server]
        names = routes.plan.lookups if place.schema == COMMON_SCHEMA else routes.plan.followers
        found = await read_tables(conn, place.schema)
        problems = [
            each
            for name in names
            for each in await _table_problems(conn, place.table(name), routes, found.get(name), name)
        ]
        for problem in problems:
            reported += 1
            if reported <= _SHOWN:
                yield f"{problem} (server {place.server})"
        if reported > _SHOWN:
            yield "and more of this kind"
            return


async def _table_problems(
    conn: "Connection", where: str, routes: Routes, found: Table | None, name: str
) -> list[str]:
    if found is None:
        return [f"there is no table {where}: create it by a migration (`shardwright migrate`)"]
    wanted, problems = routes.tables[name], list[str]()
    for column in wanted.stored:
        if column not in found.columns or found.columns[column].is_generated:
            problems.append(
                f"{where} has no column {column}, which the old database has: add it by a migration"
            )
    problems += [
        f"{where} has a column {column.name} that the old database lacks, without a default: give it one"
        for column in found.columns.values()
        if column.name not in wanted.columns and column.is_not_null and not column.is_generated
    ]
    if set(found.key) != set(wanted.key):
        problems.append(f"{where} has another primary key than the old table ({', '.join(wanted.key)})")
    if name in routes.plan.followers and not routes.is_constant:
        problems += [
            f"{where} takes its {key} from a sequence of each shard, so shards would repeat values: DEFAULT next_id()"
            for key in found.key
            if found.columns[key].has_sequence
        ]
    if not problems and await fetch_value(conn, f"SELECT EXISTS (SELECT FROM {where})"):
        problems.append(f"{where} has rows already: an adoption needs empty tables")
    return problems


async def _return_problems(session: Session, routes: Routes) -> AsyncGenerator[str]:
    try:
        await session.source.execute("SET session_replication_role = replica")
    except asyncpg.InsufficientPrivilegeError:
        yield (
            "the role that signs in to the old database may not set session_replication_role: use a superuser, or "
            "GRANT SET ON PARAMETER session_replication_role"
        )
    else:
        await session.source.execute("RESET session_replication_role")
    narrow = sorted(_narrow_columns(routes.tables, await _drawing_ids(session, routes)))
    if narrow:
        yield (
            f"new rows have ids of 8 bytes, and {', '.join(narrow[:_SHOWN])} have 4: run `shardwright widen "
            f"{' '.join(narrow[:_SHOWN])} --database DSN` and `widen finish` before, and start the adoption anew"
        )


async def _drawing_ids(session: Session, routes: Routes) -> set[str]:
    """The tables of shards whose keys come from the shard's ids."""
    place = session.sides(routes)[1].places[routes.plan.tenant][0]
    rows = await fetch_rows(
        session.servers[place.server],
        "SELECT DISTINCT c.relname AS name FROM pg_attrdef d JOIN pg_class c ON c.oid = d.adrelid "
        "JOIN pg_namespace n ON n.oid = c.relnamespace "
        "WHERE n.nspname = $1 AND pg_get_expr(d.adbin, d.adrelid) LIKE '%next_id()%'",
        place.schema,
    )
    return {row["name"] for row in rows} & set(routes.plan.followers)


def _narrow_columns(tables: Mapping[str, Table], drawing: set[str]) -> list[str]:
    """The integer keys of tables whose new ids are long."""
    return [
        f"{name}.{column}"
        for name in drawing
        for column in tables[name].key
        if tables[name].columns[column].type in _INTEGERS
    ]
