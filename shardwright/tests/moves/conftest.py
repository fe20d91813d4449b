"""Two servers with four shards that have rows, a load on two of them, and coordinators in this process or their own."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from itertools import count
from pathlib import Path

import pytest

from shardwright.local import LocalServer
from shardwright.moves import Mover
from shardwright.topology import Directory

sys.path.insert(0, str(Path(__file__).parent))  # tests are not packages; their helper lies beside them
from move_test_coordinator import Coordinators
from move_test_load import QUICK, Load, make_tables, remove_links
from move_test_site import SERVERS, Site, build_template

PreparedDirectory = Callable[..., Awaitable[dict[str, str]]]
OwnServers = Callable[..., AbstractContextManager[LocalServer]]


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


@pytest.fixture(scope="session")
def mortal_servers(own_servers: OwnServers) -> Iterator[Mapping[str, LocalServer]]:
    """Three servers of this process that may crash: those of a move and the directory's."""
    with ExitStack() as stack:
        yield {name: stack.enter_context(own_servers(is_copy=name != "a")) for name in SERVERS}


@pytest.fixture(scope="session")
async def faults_template(mortal_servers: Mapping[str, LocalServer]) -> None:
    await build_template(mortal_servers)


@pytest.fixture(scope="session")
async def coordinators() -> AsyncIterator[Coordinators]:
    coordinators = Coordinators()
    yield coordinators
    await coordinators.close()


_numbers = count(1)


@pytest.fixture
async def site(
    mortal_servers: Mapping[str, LocalServer], faults_template: None, coordinators: Coordinators
) -> AsyncIterator[Site]:
    """Shards under load on servers that may crash, and coordinators that may be killed."""
    site = Site(mortal_servers, coordinators, f"faults_{os.getpid()}_{next(_numbers)}")
    async with site.opened():
        yield site
