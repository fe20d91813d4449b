"""Short-lived database connections of commands."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg

from shardwright.errors import ServerUnavailable

_CONNECT_TIMEOUT_S = 10
_CLOSE_TIMEOUT_S = 5


@asynccontextmanager
async def open_connection(
    dsn: str, *, name: str = "the server"
) -> AsyncGenerator[Any]:  # asyncpg ships without types
    """A connection for the duration of the block; it may go through a pooler."""
    try:
        driver: Any = asyncpg
        connection = await driver.connect(
            dsn,
            timeout=_CONNECT_TIMEOUT_S,
            statement_cache_size=0,
            server_settings={"application_name": "shardwright command"},
        )
    except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        raise ServerUnavailable(f"{name} does not answer: {error or type(error).__name__}") from error
    try:
        yield connection
    except BaseException:
        connection.terminate()  # a statement may still be running there, and a graceful close would wait for it
        raise
    await connection.close(timeout=_CLOSE_TIMEOUT_S)
