"""Clusters for tests with other libraries: the same as the router's own tests use."""

import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(
    0, str(Path(__file__).parents[1] / "routing")
)  # tests are not packages; their helpers lie there
from pgbouncer import run_pgbouncer
from routing_test_cluster import Cluster, make_cluster, open_cluster


@pytest.fixture
async def own_cluster(
    prepared_databases: Callable[..., Awaitable[dict[str, str]]],
) -> AsyncIterator[Cluster]:
    """A cluster for one test alone, with four shards, whose guards and map it may change."""

    async def build(dsns: dict[str, str]) -> None:
        await (await make_cluster(dsns, 4)).directory.close()

    cluster = await open_cluster(await prepared_databases("cluster", build))
    yield cluster
    await cluster.directory.close()


@pytest.fixture
def pooled_dsns(own_cluster: Cluster, run_directory: Path) -> Iterator[dict[str, str]]:
    """The servers of `own_cluster`, reached through PgBouncer."""
    with run_pgbouncer(own_cluster.dsns, run_directory) as dsns:
        yield dsns
