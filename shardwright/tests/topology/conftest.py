"""A directory on server a, with both servers known and no shards yet."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

import pytest

from shardwright.local import LocalServer
from shardwright.topology import Directory

FreshDatabase = Callable[[LocalServer], Awaitable[str]]


@pytest.fixture
async def empty_dsns(servers: Mapping[str, LocalServer], fresh_database: FreshDatabase) -> dict[str, str]:
    """An empty database on each server."""
    return {name: await fresh_database(server) for name, server in servers.items()}


@pytest.fixture
async def dsns(prepared_directory: Callable[[], Awaitable[dict[str, str]]]) -> dict[str, str]:
    """The databases of the directory."""
    return await prepared_directory()


@pytest.fixture
async def directory(dsns: dict[str, str]) -> AsyncIterator[Directory]:
    directory = await Directory.open(dsns["a"])
    yield directory
    await directory.close()
