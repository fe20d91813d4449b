"""How much room a server's disk has, as far as that can be known.

PostgreSQL does not tell. It is measured where the data directory lies on this machine, which the contents of
postmaster.pid prove; for other servers the operator says it. No program is run on a database server for this.
"""

import asyncio
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import asyncpg

from shardwright.topology import ShardMap, fetch_rows, fetch_value, open_connection

if TYPE_CHECKING:
    from asyncpg import Connection

COPY_FACTOR = 1.2
"""A copy may be larger than the original while indexes are built; its WAL comes on top."""

_WHERE = "SELECT current_setting('data_directory') AS folder, pg_read_file('postmaster.pid') AS pid_file"
_MAX_WAL = "SELECT pg_size_bytes(current_setting('max_wal_size'))"


async def measure_room(conn: "Connection") -> int | None:
    """The free bytes of the disk that holds the server's data; None when the server is elsewhere."""
    try:
        row = (await fetch_rows(conn, _WHERE))[0]
    except asyncpg.PostgresError:  # not a superuser, or a service that keeps its files to itself
        return None
    return await asyncio.to_thread(_measure_here, Path(row["folder"]), row["pid_file"])


def _measure_here(folder: Path, pid_file: str) -> int | None:
    try:
        if (folder / "postmaster.pid").read_text() != pid_file:
            return None
        return shutil.disk_usage(folder).free
    except OSError:
        return None


async def measure_rooms(shard_map: ShardMap, known: Mapping[str, int]) -> dict[str, int]:
    """How large shards each server can take in, by name, where that is known or can be measured."""
    found: dict[str, int] = {}
    for name, server in shard_map.servers.items():
        conn = await open_connection(server.dsn, f"server {name}")
        try:
            room = known.get(name)
            room = await measure_room(conn) if room is None else room
            if room is not None:
                found[name] = max(0, int((room - await fetch_value(conn, _MAX_WAL)) / COPY_FACTOR))
        finally:
            await conn.close()
    return found


async def needed_room(conn: "Connection", size_bytes: int) -> int:
    """What a server needs to take in shards of this size, with the WAL that this writes."""
    return int(size_bytes * COPY_FACTOR) + await fetch_value(conn, _MAX_WAL)
