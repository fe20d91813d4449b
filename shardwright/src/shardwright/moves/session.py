"""The coordinator's connections to both servers of a move, which keep migrations and other coordinators away.

Each holds the advisory locks of the move's shards for as long as it is open, and everything that changes an owner runs
over these connections: who has lost them can change nothing, and who wants to take over has to get them first.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from shardwright.migrations import LOCK_CLASS
from shardwright.moves.errors import MoveRefused
from shardwright.moves.models import Move, MoveOptions
from shardwright.topology import Server, ShardMap, fetch_value, open_connection

if TYPE_CHECKING:
    from asyncpg import Connection

APPLICATION = "shardwright move"
# A coordinator that is gone must not keep its locks: its servers look for it every second.
_SETTINGS = {
    "application_name": APPLICATION,
    "synchronous_commit": "on",  # an owner changes for good, with everything that was applied before
    "client_connection_check_interval": "1s",
    "tcp_keepalives_idle": "10",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "3",
    "idle_in_transaction_session_timeout": "0",
    "statement_timeout": "0",
    "lock_timeout": "0",
}
_TRY_LOCKS = (
    "SELECT coalesce(bool_and(pg_try_advisory_lock($1, number)), true) FROM unnest($2::integer[]) AS number"
)
_TRANSACTION_TIMEOUT_SINCE = 17
_PAUSE_S = 0.1
_NO_MORE: Mapping[str, str] = MappingProxyType({})


@dataclass
class Session:
    """Both servers of a move's current turn."""

    source_server: Server
    target_server: Server
    source: "Connection"
    target: "Connection"

    def turned(self) -> "Session":
        """The same connections with their parts exchanged."""
        return Session(self.target_server, self.source_server, self.target, self.source)


async def open_server(server: Server, more: Mapping[str, str] = _NO_MORE) -> "Connection":
    """A connection to one server, with the settings of a coordinator and more."""
    conn = await open_connection(server.dsn, f"server {server.name}", server_settings={**_SETTINGS, **more})
    if conn.get_server_version().major >= _TRANSACTION_TIMEOUT_SINCE:
        await conn.execute("SET transaction_timeout = 0")
    return conn


@asynccontextmanager
async def open_session(shard_map: ShardMap, move: Move, options: MoveOptions) -> AsyncGenerator[Session]:
    """Connect to both servers and lock the move's shards there, for the duration of the block."""
    servers = shard_map.servers[move.source], shard_map.servers[move.target]
    async with (
        open_locked(servers[0], move, options) as source,
        open_locked(servers[1], move, options) as target,
    ):
        yield Session(*servers, source, target)


@asynccontextmanager
async def open_locked(server: Server, move: Move, options: MoveOptions) -> AsyncGenerator["Connection"]:
    """Connect to one server and lock the move's shards there, for the duration of the block."""
    conn = await open_server(server)
    try:
        await _lock(conn, server, move, options)
        yield conn
    finally:
        conn.terminate()  # a statement may still be running, and a graceful close would wait for it


async def _lock(conn: "Connection", server: Server, move: Move, options: MoveOptions) -> None:
    deadline = time.monotonic() + options.busy_timeout_s
    while not await fetch_value(conn, _TRY_LOCKS, LOCK_CLASS, list(move.shards)):
        await conn.execute("SELECT pg_advisory_unlock_all()")
        if time.monotonic() > deadline:
            raise MoveRefused(
                f"a migration or another coordinator works on shards of {move} on server {server.name}: "
                "try again when it has ended"
            )
        await asyncio.sleep(_PAUSE_S)
