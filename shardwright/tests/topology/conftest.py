"""A directory on server a, with both servers known and no shards yet."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

import pytest

from shardwright.local import LocalServer
from shardwright.topology import Directory

FreshDatabase = Callable[[LocalServer], Awaitable[str]]


@pytest.fixture
async def dsns(servers: Mapping[str, LocalServer], fresh_database: FreshDatabase) -> dict[str, str]:
    return {name: await fresh_database(server) for name, server in servers.items()}


@pytest.fixture
async def directory(dsns: dict[str, str]) -> AsyncIterator[Directory]:
    directory = await Directory.open(dsns["a"])
    await directory.create()
    for name, dsn in dsns.items():
        await directory.add_server(name, dsn)
    yield directory
    await directory.close()
