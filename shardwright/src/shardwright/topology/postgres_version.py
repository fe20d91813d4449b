"""The oldest PostgreSQL that servers of shards may run."""

from typing import TYPE_CHECKING

from shardwright.errors import SetupInvalid
from shardwright.topology.connections import fetch_value

if TYPE_CHECKING:
    from asyncpg import Connection

MIN_POSTGRESQL = 15


async def check_version(conn: "Connection", name: str) -> None:
    """Return, or raise `SetupInvalid` for a server that is too old."""
    major = int(await fetch_value(conn, "SHOW server_version_num")) // 10_000
    if major < MIN_POSTGRESQL:
        raise SetupInvalid(
            f"server {name} runs PostgreSQL {major}: upgrade it to {MIN_POSTGRESQL} or later, then add it again"
        )
