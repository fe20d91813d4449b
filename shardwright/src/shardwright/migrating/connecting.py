"""Connections of the migrator's own: it changes schemas beside the pools that serve, never through them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Iterable
from contextlib import asynccontextmanager
from typing import Any, TypeVar, cast

import asyncpg

from shardwright.errors import ServerUnavailable
from shardwright.topology import Server

Connection = asyncpg.Connection
Result = TypeVar("Result")

CONNECT_TIMEOUT_S = 15

# What a lost server, a refused login or a missing database look like from asyncpg.
CONNECTION_FAULTS = (
    OSError,
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.TargetServerAttributeNotMatched,  # only a standby answers
    TimeoutError,
)


@asynccontextmanager
async def connected(server: Server) -> AsyncGenerator[Connection]:
    """A connection to a server for as long as the block lasts."""
    connection = await connect(server.dsn, server.name)
    try:
        yield connection
    except BaseException:
        # Whatever ran may still be running there: a polite goodbye would wait for it.
        connection.terminate()
        raise
    await connection.close()


async def connect(dsn: str, name: str) -> Connection:
    """A connection to the primary, without prepared statements: a schema in motion would invalidate them."""
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
    except (*CONNECTION_FAULTS, asyncpg.PostgresError) as fault:
        reason = str(fault) or type(fault).__name__
        raise ServerUnavailable(f"server {name} cannot be reached: {reason}") from fault


async def fetch_rows(connection: Connection, query: str, *arguments: object) -> list[asyncpg.Record]:
    """What `fetch` returns, with the type that asyncpg does not declare."""
    return cast("list[asyncpg.Record]", await connection.fetch(query, *arguments))


async def in_parallel(works: Iterable[Coroutine[Any, Any, Result]]) -> list[Result]:
    """What all of them return; the first fault ends the others and is raised as it is."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(work) for work in works]
    except ExceptionGroup as faults:
        raise faults.exceptions[0] from None
    return [task.result() for task in tasks]
