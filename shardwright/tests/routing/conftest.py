"""Two servers with sixteen shards that hold posts, and routers onto them."""

import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from shardwright.local import LocalServer
from shardwright.routing import PoolOptions, Queries, Shards
from shardwright.topology import open_connection

sys.path.insert(0, str(Path(__file__).parent))  # tests are not packages; their helper lies beside them
from routing_test_cluster import QUERIES, Cluster, OpenShards, make_cluster, make_posts, open_cluster


@pytest.fixture
def queries() -> Queries:
    return QUERIES


@pytest.fixture(scope="session")
async def cluster(servers: Mapping[str, LocalServer]) -> AsyncIterator[Cluster]:
    """Shared by the tests of one worker: add rows, but leave servers, map and guards as they are."""
    dsns: dict[str, str] = {}
    for name, server in servers.items():
        database = f"running_{os.getpid()}"
        conn = await open_connection(server.dsn(), name)
        await conn.execute(f"CREATE DATABASE {database} STRATEGY file_copy")
        await conn.close()
        dsns[name] = server.dsn(database)
    cluster = await make_cluster(dsns, 16)
    yield cluster
    await cluster.directory.close()


@pytest.fixture
async def own_cluster(
    prepared_directory: Callable[..., Awaitable[dict[str, str]]],
) -> AsyncIterator[Cluster]:
    """A cluster for one test alone, with four shards, whose guards and map it may change."""

    cluster = await open_cluster(await prepared_directory(4, make_posts))
    yield cluster
    await cluster.directory.close()


@pytest.fixture
async def open_shards() -> AsyncIterator[OpenShards]:
    """Open routers that are closed with the test: `await open_shards(cluster, max_connections=2)`."""
    opened: list[Shards] = []

    async def make(
        cluster: Cluster,
        *,
        queries: Queries = QUERIES,
        dsns: Mapping[str, str] | None = None,
        registry: CollectorRegistry | None = None,
        **options: Any,  # those of PoolOptions
    ) -> Shards:
        shards = await Shards.open(
            cluster.directory_dsn,
            queries=[queries],
            options=PoolOptions(**options),
            dsns=dsns,
            registry=registry,
        )
        opened.append(shards)
        return shards

    yield make
    for shards in opened:
        await shards.close()


@pytest.fixture
async def shards(cluster: Cluster, open_shards: OpenShards) -> Shards:
    return await open_shards(cluster)


_captions = count(1)


@pytest.fixture
def caption() -> str:
    """A caption that no other test uses."""
    return f"caption {os.getpid()} {next(_captions)}"
