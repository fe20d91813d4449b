"""Shard 42, on the server's clock or on one that tests set."""

import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path

import pytest

from shardwright.local import LocalServer

sys.path.insert(0, str(Path(__file__).parent))  # for id_test_shard: test folders are not packages

from id_test_shard import IdShard, open_id_shard

FreshDatabase = Callable[[LocalServer], Awaitable[str]]


@pytest.fixture
async def id_shard(
    servers: Mapping[str, LocalServer], fresh_database: FreshDatabase
) -> AsyncIterator[IdShard]:
    """Shard 42 on the server's own clock."""
    async with open_id_shard(await fresh_database(servers["a"]), "clock_timestamp()") as each:
        yield each


@pytest.fixture
async def timed(servers: Mapping[str, LocalServer], fresh_database: FreshDatabase) -> AsyncIterator[IdShard]:
    """Shard 42 on a clock set by `set_clock`."""
    async with open_id_shard(await fresh_database(servers["a"]), "clock.shown()") as each:
        yield each
