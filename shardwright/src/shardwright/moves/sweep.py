"""Finds what moves have left behind on servers: slots, publications, subscriptions, marker tables and old copies.

A move cleans up after itself, also when it is resumed or aborted after a crash. What remains belongs to a directory or
server that was lost, or restored from a backup.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shardwright.ids import shard_number
from shardwright.moves import links
from shardwright.moves.errors import MoveRefused
from shardwright.moves.journal import PREFIX, read_moves
from shardwright.moves.models import Move
from shardwright.moves.old_copies import drop_copies
from shardwright.moves.session import open_server
from shardwright.topology import Directory, ShardMap, fetch_rows, with_primaries

if TYPE_CHECKING:
    from asyncpg import Connection

_FIND = f"""\
SELECT 'subscription' AS kind, s.subname::text AS name FROM pg_subscription s JOIN pg_database d ON d.oid = s.subdbid
WHERE d.datname = current_database() AND s.subname ~ '^{PREFIX}'
UNION ALL SELECT 'publication', pubname::text FROM pg_publication WHERE pubname ~ '^{PREFIX}'
UNION ALL SELECT 'slot', slot_name::text FROM pg_replication_slots
WHERE database = current_database() AND (slot_name ~ '^{PREFIX}' OR slot_name ~ '^pg_[0-9]+_sync_[0-9]+_[0-9]+$')
UNION ALL SELECT 'marker', relname::text FROM pg_class
WHERE relnamespace = to_regnamespace('{links.SCHEMA}') AND relkind = 'r'
UNION ALL SELECT 'copy', n.nspname::text FROM pg_namespace n
WHERE n.nspname ~ '^s[0-9]{{4}}$'
  AND EXISTS (SELECT FROM pg_proc p WHERE p.pronamespace = n.oid AND p.proname = 'guard')
ORDER BY 1 DESC, 2
"""  # noqa: S608 - constants of the library
_SUBSCRIPTIONS = """\
SELECT s.oid::text AS oid, (SELECT system_identifier FROM pg_control_system())::text AS system FROM pg_subscription s
UNION ALL SELECT '', (SELECT system_identifier FROM pg_control_system())::text
"""


@dataclass(frozen=True)
class Leftover:
    """Something on a server that no move of the journal and no line of the map accounts for."""

    server: str
    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name} on server {self.server}"


async def find_leftovers(directory: Directory) -> list[Leftover]:
    """What is left of moves on all servers; raises when one does not answer, for it may need what another has."""
    shard_map = await _load(directory)
    moves = await read_moves(directory)
    conns = {name: await open_server(server) for name, server in sorted(shard_map.servers.items())}
    try:
        live: dict[str, set[str]] = {}
        for conn in conns.values():
            for row in await fetch_rows(conn, _SUBSCRIPTIONS):
                live.setdefault(row["system"], set()).add(row["oid"])
        return [
            each
            for name, conn in conns.items()
            for each in [Leftover(name, row["kind"], row["name"]) for row in await fetch_rows(conn, _FIND)]
            if _is_left(each, shard_map, moves, live)
        ]
    finally:
        for conn in conns.values():
            conn.terminate()


async def _load(directory: Directory) -> ShardMap:
    shard_map = await directory.load()
    return await with_primaries(shard_map, shard_map.servers)


def _is_left(each: Leftover, shard_map: ShardMap, moves: Sequence[Move], live: dict[str, set[str]]) -> bool:
    if each.kind == "copy":
        number = shard_number(each.name)
        is_moving = any(number in move.shards and each.server in {move.source, move.target} for move in moves)
        return number in shard_map.owners and shard_map.owners[number] != each.server and not is_moving
    if each.kind == "slot" and not each.name.startswith(PREFIX):
        _, oid, _, _, system = each.name.split("_")
        return system in live and oid not in live[system]  # of a subscription that is gone
    return not any(each.name.startswith(f"{move.name}_") for move in moves)


async def drop_leftovers(directory: Directory, leftovers: Sequence[Leftover]) -> None:
    """Drop these, subscriptions first; a copy that accepts writes is never dropped."""
    shard_map = await _load(directory)
    current = set(await find_leftovers(directory))
    order = ("subscription", "publication", "slot", "marker", "copy")
    for each in sorted(leftovers, key=lambda each: order.index(each.kind)):
        if each not in current:
            raise MoveRefused(f"the {each} is in use meanwhile: look again")
        conn = await open_server(shard_map.servers[each.server])
        try:
            await _drop(conn, each)
        finally:
            conn.terminate()


async def _drop(conn: "Connection", each: Leftover) -> None:
    if each.kind == "subscription":
        await links.unsubscribe(conn, each.name)
    elif each.kind == "publication":
        await conn.execute(f"DROP PUBLICATION IF EXISTS {each.name}")
    elif each.kind == "slot":
        await links.drop_slots(conn, f"^{each.name}$")
    elif each.kind == "marker":
        await links.drop_marker(conn, each.name)
    else:
        await drop_copies(conn, [shard_number(each.name)])
