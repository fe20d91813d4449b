"""Connections to a PostgreSQL server outside the router's pools: a relay holds one for as long as it runs."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import cast

import asyncpg

CONNECT_TIMEOUT_S = 10
COMMAND_TIMEOUT_S = 30


@asynccontextmanager
async def connect_to_server(dsn: str) -> AsyncGenerator[asyncpg.Connection]:
    """A connection for the length of the block; without a statement cache, so that a pooler may stand in between."""
    connection = await _connect(dsn)
    try:
        yield connection
    finally:
        await connection.close(timeout=1)


async def _connect(dsn: str) -> asyncpg.Connection:
    try:
        return cast(
            "asyncpg.Connection",
            await asyncpg.connect(
                dsn,
                timeout=CONNECT_TIMEOUT_S,
                command_timeout=COMMAND_TIMEOUT_S,
                statement_cache_size=0,
                target_session_attrs="primary",  # an address may name a server and its standbys
            ),
        )
    except asyncpg.TargetServerAttributeNotMatched as error:
        raise ConnectionError("only a standby answers") from error
