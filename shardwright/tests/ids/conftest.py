"""Shard 42, on the server's clock or on one that tests set."""

import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path

import pytest

from shardwright.local import LocalServer

sys.path.insert(0, str(Path(__file__).parent))  # for id_drawing: test folders are not packages

from id_drawing import Drawing, open_drawing

FreshDatabase = Callable[[LocalServer], Awaitable[str]]


@pytest.fixture
async def drawing(
    servers: Mapping[str, LocalServer], fresh_database: FreshDatabase
) -> AsyncIterator[Drawing]:
    """Shard 42 on the server's own clock."""
    async with open_drawing(await fresh_database(servers["a"]), "clock_timestamp()") as each:
        yield each


@pytest.fixture
async def timed(servers: Mapping[str, LocalServer], fresh_database: FreshDatabase) -> AsyncIterator[Drawing]:
    """Shard 42 on a clock that shows what `set_clock` says."""
    async with open_drawing(await fresh_database(servers["a"]), "clock.shown()") as each:
        yield each
