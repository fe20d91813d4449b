"""One server with two streaming replicas, which may lag, and routers onto it."""

import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from shardwright.routing import PoolOptions, Shards
from shardwright.topology import Directory

sys.path.insert(0, str(Path(__file__).parent))  # tests are not packages; their helper lies beside them
from replica_test_cluster import QUERIES, OpenRouter, ReplicatedServer, start_replicated


@pytest.fixture(scope="session")
def shared_server(run_directory: Path, initialized_directory: Path) -> Iterator[ReplicatedServer]:
    """Shared by the tests of one worker: its replicas may lag for a while, but nothing is promoted or ended."""
    with start_replicated(run_directory, initialized_directory) as server:
        yield server


@pytest.fixture
async def replicated(shared_server: ReplicatedServer) -> AsyncIterator[ReplicatedServer]:
    """A fresh installation on the shared server, with both replicas in its map."""
    await shared_server.install()
    yield shared_server
    await shared_server.resume_all()


@pytest.fixture
async def own_replicated(run_directory: Path, initialized_directory: Path) -> AsyncIterator[ReplicatedServer]:
    """An installation like that for one test alone, which may promote and end what it likes."""
    with start_replicated(run_directory, initialized_directory) as server:
        await server.install()
        yield server


@pytest.fixture
async def directory(replicated: ReplicatedServer) -> AsyncIterator[Directory]:
    """The directory of the installation on the shared server."""
    directory = await Directory.open(replicated.dsn)
    yield directory
    await directory.close()


@pytest.fixture
async def open_router() -> AsyncIterator[OpenRouter]:
    """Open routers that are closed with the test, once their replicas are in use."""
    opened: list[Shards] = []

    async def make(server: ReplicatedServer, *, expected: int | None = None, **options: object) -> Shards:
        shards = await Shards.open(server.dsn, queries=[QUERIES], options=PoolOptions(**options))  # type: ignore[arg-type]  # any option
        opened.append(shards)
        await server.wait_for_replicas(shards, len(server.standbys) if expected is None else expected)
        return shards

    yield make
    for shards in opened:
        await shards.close()


@pytest.fixture
async def shards(replicated: ReplicatedServer, open_router: OpenRouter) -> Shards:
    """A router onto the installation on the shared server."""
    return await open_router(replicated)
