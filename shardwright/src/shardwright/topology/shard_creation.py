"""Creates shards and prepares servers for them: schemas, id functions and guards, many at a time.

A shard is created in one transaction, so a schema that exists is complete and an interrupted run continues where it
stopped. Batches of shards share a transaction and a round trip; servers work in parallel.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from shardwright.errors import SetupInvalid
from shardwright.ids import (
    MAX_SHARDS,
    Layout,
    install_functions,
    schema_name,
    server_functions_sql,
    shard_sql,
)
from shardwright.topology.connections import fetch_rows, fetch_value
from shardwright.topology.directory_tables import SCHEMA, read_map
from shardwright.topology.guard_events import install_guard_events
from shardwright.topology.guards import guard_sql
from shardwright.topology.library_version import (
    LIBRARY_SCHEMA,
    LIBRARY_VERSION,
    read_library_versions,
    refuse_newer,
    refuse_older,
    version_sql,
)
from shardwright.topology.placement import spread_shards
from shardwright.topology.postgres_version import check_version
from shardwright.topology.primary_address import open_primary
from shardwright.topology.role_grants import restrict_writes_sql
from shardwright.topology.shard_map import Server, ShardMap

if TYPE_CHECKING:
    from asyncpg import Connection

Planned = dict[int, str]  # shard number → server name
Prepare = Callable[["Connection", int], Awaitable[None]]
Progress = Callable[[int, int], None]  # shards done, shards in all

# A transaction locks every object it creates; 32 shards stay far below the default lock table.
BATCH = 32
LOCK = "SELECT pg_advisory_xact_lock(hashtext('shardwright'))"  # concurrent set-ups take turns

# `common` is the application's own per-server schema. The identity row prevents two server names, or two
# directories, from sharing one database by mistake.
_PREPARE = """\
CREATE SCHEMA IF NOT EXISTS common;
CREATE TABLE IF NOT EXISTS shardwright.identity (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  directory_id uuid NOT NULL,
  server_name text NOT NULL
);
-- What replicas show of their primary: the timeline that a router last found it on, and how often shards came or went.
CREATE TABLE IF NOT EXISTS shardwright.replication (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  timeline integer NOT NULL DEFAULT 0,
  ownership bigint NOT NULL DEFAULT 0
);
INSERT INTO shardwright.replication DEFAULT VALUES ON CONFLICT DO NOTHING;
CREATE OR REPLACE FUNCTION shardwright.lookup_shard(key text, lookup_shards integer) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT AS $$
  SELECT ((('x' || encode(substr(sha256(convert_to(key, 'UTF8')), 1, 4), 'hex'))::bit(32)::bigint
           % lookup_shards))::integer
$$;
""" + "".join(restrict_writes_sql(f"shardwright.{table}") for table in ("identity", "replication"))


async def prepare_server(server: Server, directory_id: str, layout: Layout) -> None:
    """Create the functions and schemas that shards rely on, and record the server's name in its database.

    Functions of an earlier release stay as they are until `shardwright upgrade` brings them forward.
    """
    conn = await open_primary(server)
    try:
        await check_version(conn, server.name)
        async with conn.transaction():
            await conn.execute(LOCK)
            if not await _is_behind(conn, server):
                await install_server_sql(conn, layout)
            await _claim(conn, server.name, directory_id)
    finally:
        await conn.close()


async def install_server_sql(conn: "Connection", layout: Layout, version: int = LIBRARY_VERSION) -> None:
    """Create or replace everything that a server has beside its shards, and record the version; hold `LOCK`."""
    await install_functions(conn, layout)
    await conn.execute(_PREPARE + version_sql(LIBRARY_SCHEMA, version))
    await install_guard_events(conn)


def server_sql(layout: Layout) -> str:
    """The statements of `install_server_sql`, to compare a server with."""
    return server_functions_sql(layout) + _PREPARE


async def _is_behind(conn: "Connection", server: Server) -> bool:
    if not await fetch_value(conn, "SELECT to_regclass('shardwright.identity') IS NOT NULL"):
        return False  # it is new
    version = (await read_library_versions(conn, [LIBRARY_SCHEMA]))[LIBRARY_SCHEMA]
    refuse_newer(f"server {server.name}", version)
    return version < LIBRARY_VERSION


async def _claim(conn: "Connection", name: str, directory_id: str) -> None:
    await conn.execute(
        "INSERT INTO shardwright.identity (directory_id, server_name) VALUES ($1, $2) ON CONFLICT DO NOTHING",
        directory_id,
        name,
    )
    found = await fetch_rows(conn, "SELECT directory_id::text, server_name FROM shardwright.identity")
    if tuple(found[0]) != (directory_id, name):
        raise SetupInvalid(
            f"that database already belongs to server {found[0]['server_name']!r}, not {name!r}"
        )


async def plan_shards(conn: "Connection", count: int, *, in_all: bool = False) -> None:
    """Reserve the next free shard numbers and assign them to servers, without creating anything there.

    With `in_all`, `count` is the total wanted, including shards that are planned or ready.
    """
    async with conn.transaction():
        await conn.execute(f"SELECT FROM {SCHEMA}.settings FOR UPDATE")  # one planner at a time
        taken = {number for (number,) in await fetch_rows(conn, f"SELECT number FROM {SCHEMA}.shards")}  # noqa: S608 - names come from the library, values are parameters
        wanted = max(0, count - len(taken)) if in_all else count
        free = list(islice((number for number in range(MAX_SHARDS) if number not in taken), wanted))
        if len(free) < wanted:
            raise SetupInvalid(f"there can be {MAX_SHARDS} shards at most, and {len(taken)} exist")
        held = {**(await read_map(conn)).owners, **await planned_shards(conn)}
        await _write_plan(conn, held, free)


async def _write_plan(conn: "Connection", held: Planned, numbers: list[int]) -> None:
    placed = spread_shards((await read_map(conn)).with_owners(held), numbers) if numbers else {}
    await conn.execute(
        f"INSERT INTO {SCHEMA}.shards (number, server) SELECT * FROM unnest($1::integer[], $2::text[])",  # noqa: S608 - names come from the library, values are parameters
        list(placed),
        list(placed.values()),
    )
    if numbers:
        await conn.execute(
            f"UPDATE {SCHEMA}.settings SET lookup_shards = coalesce(lookup_shards, $1)",  # noqa: S608 - names come from the library, values are parameters
            len(numbers),
        )


async def planned_shards(conn: "Connection") -> Planned:
    """Return the shards that were planned and are not ready yet."""
    rows = await fetch_rows(
        conn,
        f"SELECT number, server FROM {SCHEMA}.shards WHERE NOT is_ready ORDER BY number",  # noqa: S608 - names come from the library, values are parameters
    )
    return {row["number"]: row["server"] for row in rows}


def with_planned(current: ShardMap, planned: Planned) -> ShardMap:
    """Return the map with the planned shards added; one that was finished, and perhaps moved, meanwhile is kept."""
    return current.with_owners({**planned, **current.owners})


async def create_shards(
    current: ShardMap, planned: Planned, *, prepare: Prepare | None, progress: Progress | None
) -> None:
    """Create every planned shard on its server, with id functions and a guard, and call `prepare` for it."""
    count = _Count(len(planned), progress)
    numbers: dict[str, list[int]] = {}
    for number, server in planned.items():
        numbers.setdefault(server, []).append(number)
    try:
        async with asyncio.TaskGroup() as group:
            for server, own in numbers.items():
                group.create_task(_create_on(current.servers[server], own, current.layout, prepare, count))
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from failures  # the others are its siblings, mostly cancelled


class _Count:
    """Progress over all servers."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self._done, self._total, self._progress = 0, total, progress

    def add(self, number: int) -> None:
        self._done += number
        if self._progress is not None:
            self._progress(self._done, self._total)


async def _create_on(
    server: Server, numbers: Sequence[int], layout: Layout, prepare: Prepare | None, count: _Count
) -> None:
    conn = await open_primary(server)
    try:
        for start in range(0, len(numbers), BATCH):
            batch = numbers[start : start + BATCH]
            await _create_batch(conn, server, batch, layout)
            for number in batch:
                if prepare is not None:
                    await prepare(conn, number)
            count.add(len(batch))
    finally:
        await conn.close()


async def _create_batch(conn: "Connection", server: Server, batch: Sequence[int], layout: Layout) -> None:
    async with conn.transaction():
        await conn.execute(LOCK)
        versions = await read_library_versions(conn, [LIBRARY_SCHEMA])
        for version in versions.values():
            refuse_newer(f"server {server.name}", version)
            refuse_older(f"server {server.name}", version)
        found = await fetch_rows(
            conn,
            "SELECT nspname FROM pg_namespace WHERE nspname = ANY($1)",
            [schema_name(number) for number in batch],
        )
        present = {name for (name,) in found}
        missing = [number for number in batch if schema_name(number) not in present]
        if missing:
            await conn.execute("".join(creation_sql(number, layout) for number in missing))


def creation_sql(number: int, layout: Layout, *, owned: bool = True) -> str:
    """The statements that create a shard: its schema, id functions, and a guard that allows writes here, or refuses."""
    schema = f"CREATE SCHEMA {schema_name(number)};\n"
    return f"{schema}{shard_sql(number, layout)}\n{guard_sql(number, owned=owned)}{version_sql(schema_name(number))}"
