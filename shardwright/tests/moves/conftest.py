"""Two servers with four shards that have rows, a load on two of them, and coordinators in this process or their own."""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from shardwright.moves import Mover
from shardwright.topology import Directory

sys.path.insert(0, str(Path(__file__).parent))  # tests are not packages; their helper lies beside them
from move_test_load import QUICK, Load, make_tables, remove_links

PreparedDirectory = Callable[..., Awaitable[dict[str, str]]]
StartLoad = Callable[[], Awaitable[Load]]


@pytest.fixture
async def dsns(prepared_directory: PreparedDirectory) -> AsyncIterator[dict[str, str]]:
    dsns = await prepared_directory(4, make_tables)
    yield dsns
    await remove_links(dsns)


@pytest.fixture
async def directory(dsns: dict[str, str]) -> AsyncIterator[Directory]:
    directory = await Directory.open(dsns["a"])
    yield directory
    await directory.close()


@pytest.fixture
def mover(directory: Directory) -> Mover:
    return Mover(directory, options=QUICK)


@pytest.fixture
async def load(dsns: dict[str, str]) -> AsyncIterator[Load]:
    load = Load(dsns)
    await load.start()
    yield load
    if not load.is_over:
        await asyncio.wait_for(load.stop(), 60)
