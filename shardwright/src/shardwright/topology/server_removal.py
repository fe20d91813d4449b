"""What is in the way of removing a server: shards, moves, replicas, the directory, leftovers of moves."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from shardwright.errors import SetupInvalid
from shardwright.ids import schema_name, shard_number
from shardwright.topology.connections import fetch_rows, fetch_value
from shardwright.topology.directory_tables import SCHEMA, read_map, write_map
from shardwright.topology.primary_address import open_primary
from shardwright.topology.shard_map import Server, ShardMap, check_map

if TYPE_CHECKING:
    from asyncpg import Connection, Record

_SHOWN = 4
REMOVED_SERVERS = f"""\
SELECT ARRAY(SELECT jsonb_array_elements_text(to_jsonb(s) -> 'removed_servers')) FROM {SCHEMA}.settings AS s
"""  # noqa: S608 - a constant
_PLANNED = f"SELECT count(*) FROM {SCHEMA}.shards WHERE server = $1 AND NOT is_ready"  # noqa: S608 - a constant
_MOVES = f"""\
SELECT id, step FROM {SCHEMA}.moves WHERE ended_at IS NULL AND $1 IN (source, target) ORDER BY id
"""  # noqa: S608 - likewise
_COPIES = """\
SELECT n.nspname::text FROM pg_namespace AS n
WHERE n.nspname ~ '^s[0-9]{4}$'
  AND EXISTS (SELECT FROM pg_proc AS p WHERE p.pronamespace = n.oid AND p.proname = 'guard')
ORDER BY 1
"""
_HAS_DIRECTORY = f"SELECT to_regclass('{SCHEMA}.settings') IS NOT NULL"
_OWN_DIRECTORY = f"""\
SELECT EXISTS (SELECT FROM {SCHEMA}.settings AS s JOIN shardwright.identity AS i USING (directory_id))
"""  # noqa: S608 - likewise


async def remove_from_map(conn: "Connection", name: str, on_server: Sequence[str]) -> ShardMap:
    """Remove a server from the map, within a transaction; raises with what is in the way, there or on the server."""
    await conn.execute(f"SELECT FROM {SCHEMA}.settings FOR UPDATE")
    old = await read_map(conn)
    refuse_removal(name, [*await directory_obstacles(conn, old, old.get_server(name)), *on_server])
    new = replace(old.without_server(name), version=old.version + 1)
    check_map(new, old)
    await write_map(conn, new, old)
    return new


async def directory_obstacles(conn: "Connection", shard_map: ShardMap, server: Server) -> list[str]:
    """All that the directory knows to be on a server, each with what to do about it."""
    name, found = server.name, list[str]()
    if numbers := shard_map.shards_on(name):
        found.append(f"it owns {_some(numbers)}: run `shardwright drain {name}`")
    if planned := await fetch_value(conn, _PLANNED, name):
        found.append(f"{planned} shards are about to be created on it: run `shardwright init`")
    for move in await _moves_of(conn, name):
        how = f"finish {move['id']}" if move["step"] == "keep" else f"resume {move['id']}"
        what = (
            "keeps old copies that it has, or that follow it" if move["step"] == "keep" else "has not ended"
        )
        found.append(
            f"move {move['id']} {what}: run `shardwright move {how}`; if a server of it is lost, `move finish` or "
            "`move abort` with --lost"
        )
    found += [
        f"it has a replica at {_shown(each)}: run `shardwright remove-replica {name} {_shown(each)}`"
        for each in server.replicas
    ]
    return found


async def server_obstacles(server: Server, known: Collection[int]) -> list[str]:
    """What the server itself says to have beside these shards; raises when it does not answer."""
    found: list[str] = []
    conn = await open_primary(server)
    try:
        if await fetch_value(conn, _HAS_DIRECTORY) and await fetch_value(conn, _OWN_DIRECTORY):
            found.append(
                "the directory, with the map and the journal of moves, is in its database, and stays there"
            )
        left = [row[0] for row in await fetch_rows(conn, _COPIES)]
        if copies := [schema for schema in left if shard_number(schema) not in known]:
            listed = ", ".join(copies[:_SHOWN]) + (" …" if len(copies) > _SHOWN else "")
            found.append(
                f"it has copies of shards that no move accounts for ({listed}): look at them, and run "
                "`shardwright move sweep --drop`"
            )
    finally:
        await conn.close()
    return found


async def release_server(server: Server) -> None:
    """Free the database of a server that was removed: it may be added again, under any name."""
    conn = await open_primary(server)
    try:
        await conn.execute("DELETE FROM shardwright.identity WHERE server_name = $1", server.name)
    finally:
        await conn.close()


def refuse_removal(name: str, obstacles: Sequence[str]) -> None:
    """Raise if there are any obstacles."""
    if obstacles:
        listed = "".join(f"\n- {each}" for each in obstacles)
        raise SetupInvalid(f"server {name} cannot be removed:{listed}")


async def _moves_of(conn: "Connection", name: str) -> "list[Record]":
    if not await fetch_value(conn, f"SELECT to_regclass('{SCHEMA}.moves') IS NOT NULL"):
        return []  # a directory of an earlier release, which could not move any
    return await fetch_rows(conn, _MOVES, name)


def _some(numbers: Sequence[int]) -> str:
    shown = ", ".join(schema_name(number) for number in numbers[:_SHOWN])
    return f"{len(numbers)} shards ({shown}{' …' if len(numbers) > _SHOWN else ''})"


def _shown(address: str) -> str:
    """The address without a password."""
    head, at, tail = address.rpartition("@")
    return f"{head.rpartition(':')[0]}:…@{tail}" if at and head.count(":") > 1 else address
