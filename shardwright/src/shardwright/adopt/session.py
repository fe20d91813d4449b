"""The connections of a coordinator to the old database and to all servers, which keep other coordinators away.

Each holds an advisory lock of the adoption for as long as it is open, and everything is written over them: who has lost
them can change nothing, and who wants to take over has to get them first.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shardwright.adopt.errors import AdoptRefused
from shardwright.adopt.models import SOURCE, Adoption, AdoptOptions
from shardwright.adopt.routes import Routes
from shardwright.adopt.sides import TEXT_SETTINGS, Place, Side
from shardwright.ids import schema_name
from shardwright.migrations import COMMON_SCHEMA
from shardwright.topology import ShardMap, fetch_value, open_connection, open_primary

if TYPE_CHECKING:
    from asyncpg import Connection

LOCK_CLASS = 0x53574144
"""The letters SWAD distinguish these locks from others in the two-number space."""
APPLICATION = "shardwright adopt"
_SETTINGS = {
    **TEXT_SETTINGS,
    "application_name": APPLICATION,
    "search_path": "pg_catalog",
    "synchronous_commit": "on",  # the journal says what was applied, for good
    "tcp_keepalives_idle": "10",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "3",
    "idle_in_transaction_session_timeout": "0",
    "statement_timeout": "0",
    "lock_timeout": "0",
}
_SERVER_SETTINGS = {
    **_SETTINGS,
    "session_replication_role": "replica",
    "client_connection_check_interval": "1s",
}
_PAUSE_S = 0.1
_STATEMENTS = 300


@dataclass
class Session:
    """Both sides of an adoption, connected."""

    source: "Connection"
    servers: "Mapping[str, Connection]"
    shard_map: ShardMap

    def sides(self, routes: Routes) -> tuple[Side, Side]:
        """The old database and the shards, with the places of every table."""
        plan = routes.plan
        old = {name: [Place(SOURCE, plan.schema)] for name in plan.tables}
        shards = [
            Place(self.shard_map.server_of(number).name, schema_name(number)) for number in routes.shards
        ]
        commons = [Place(name, COMMON_SCHEMA) for name in self.servers]
        new = dict.fromkeys(plan.followers, shards) | dict.fromkeys(plan.lookups, commons)
        return Side({SOURCE: self.source}, old), Side(self.servers, new)


async def open_source(dsn: str) -> "Connection":
    """A connection to the old database."""
    return await open_connection(
        dsn, f"the {SOURCE}", server_settings=_SETTINGS, statement_cache_size=_STATEMENTS
    )


@asynccontextmanager
async def open_session(
    dsn: str, shard_map: ShardMap, adoption: Adoption, options: AdoptOptions
) -> AsyncGenerator[Session]:
    """Connect to the old database and every server and lock the adoption there, for the duration of the block."""
    opened: list[Connection] = []
    try:
        source = await open_source(dsn)
        opened.append(source)
        servers: dict[str, Connection] = {}
        for name in sorted(set(shard_map.owners.values())):
            servers[name] = await open_primary(
                shard_map.servers[name], server_settings=_SERVER_SETTINGS, statement_cache_size=_STATEMENTS
            )
            opened.append(servers[name])
        for conn in opened:
            # The old database may be one of the servers: its two connections take two locks.
            await _lock(conn, -adoption.id if conn is source else adoption.id, adoption, options)
        yield Session(source, servers, shard_map)
    finally:
        for conn in opened:
            conn.terminate()  # a statement may still be running, and a graceful close would wait for it


async def _lock(conn: "Connection", number: int, adoption: Adoption, options: AdoptOptions) -> None:
    deadline = time.monotonic() + options.busy_timeout_s
    while not await fetch_value(conn, "SELECT pg_try_advisory_lock($1, $2)", LOCK_CLASS, number):
        if time.monotonic() > deadline:
            raise AdoptRefused(
                f"another process works on {adoption} and does not let go: end it, and try again"
            )
        await asyncio.sleep(_PAUSE_S)
