"""The migrator's own connections: it never uses the pools that serve requests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Iterable
from contextlib import asynccontextmanager
from typing import Any, TypeVar, cast

import asyncpg

from shardwright.errors import ServerUnavailable
from shardwright.topology import Server, locate_primary

Connection = asyncpg.Connection
Result = TypeVar("Result")

CONNECT_TIMEOUT_S = 15

# What asyncpg raises for a lost server, a refused login or a missing database.
CONNECTION_ERRORS = (
    OSError,
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.TargetServerAttributeNotMatched,  # only a standby answers
    TimeoutError,
)


@asynccontextmanager
async def open_connection(server: Server) -> AsyncGenerator[Connection]:
    """A connection to a server's primary, for the duration of the block: a replica may have been promoted."""
    connection = await connect((await locate_primary(server)).dsn, server.name)
    try:
        yield connection
    except BaseException:
        # A statement may still be running there, and a graceful close would wait for it.
        connection.terminate()
        raise
    await connection.close()


async def connect(dsn: str, name: str) -> Connection:
    """Connect to the primary, without a statement cache: schema changes would invalidate it."""
    settings = {"application_name": "shardwright migrate"}
    try:
        return cast(
            "Connection",
            await asyncpg.connect(
                dsn,
                timeout=CONNECT_TIMEOUT_S,
                statement_cache_size=0,
                server_settings=settings,
                target_session_attrs="primary",
            ),
        )
    except (*CONNECTION_ERRORS, asyncpg.PostgresError) as error:
        reason = str(error) or type(error).__name__
        raise ServerUnavailable(f"server {name} cannot be reached: {reason}") from error


async def fetch_rows(connection: Connection, query: str, *arguments: object) -> list[asyncpg.Record]:
    """The rows of a query, with the type that asyncpg does not declare."""
    return cast("list[asyncpg.Record]", await connection.fetch(query, *arguments))


async def in_parallel(works: Iterable[Coroutine[Any, Any, Result]]) -> list[Result]:
    """Run all of them concurrently and return their results; the first error cancels the others and is raised."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(work) for work in works]
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return [task.result() for task in tasks]
