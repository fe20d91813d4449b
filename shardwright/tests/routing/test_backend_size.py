"""Backends that have grown are replaced, whether the role may ask for their size or not."""

import pytest
from routing_test_cluster import QUERIES, Cluster, OpenShards

from shardwright.routing import PoolOptions, Shards, connection_pool
from shardwright.routing.backend_size import FUNCTION, BackendSizes, estimate
from shardwright.routing.connection_pool import ConnectionPool
from shardwright.routing.pooled_connection import PooledConnection
from shardwright.topology import RoleSet, ensure_roles, open_connection

MIB = 2**20


@pytest.fixture
def at_every_release(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection is measured whenever it is released."""
    monkeypatch.setattr(connection_pool, "MEASURE_EVERY_S", 0.0)


def pools(shards: Shards) -> list[ConnectionPool]:
    return [pool for _, kind, pool in shards.pools() if kind == "point"]


async def only_connection(shards: Shards) -> PooledConnection:
    """The open connection of the first shard's server."""
    pool = shards.server_for(0).point_pool
    await shards.shard(0).fetch_value(QUERIES.whoami)
    (pooled,) = pool.connections
    return pooled


@pytest.mark.usefixtures("at_every_release")
async def test_a_backend_that_has_grown_is_replaced(cluster: Cluster, open_shards: OpenShards) -> None:
    shards = await open_shards(cluster, max_connections=1, spare_connections=0, max_backend_bytes=0)
    before = await BackendSizes().read(await only_connection(shards))
    await shards.close()
    shards = await open_shards(
        cluster, max_connections=1, spare_connections=0, max_backend_bytes=before + 2 * MIB
    )
    pid = await shards.shard(0).fetch_value(QUERIES.whoami)
    assert await shards.shard(0).fetch_value(QUERIES.whoami) == pid

    async with shards.shard(0).begin() as transaction:
        await transaction.connection.execute(f"PREPARE grown AS SELECT '{'x' * 4 * MIB}'")

    assert await shards.shard(0).fetch_value(QUERIES.whoami) != pid
    assert sum(pool.recycled for pool in pools(shards)) >= 1
    assert all(len(pool.connections) <= 1 for pool in pools(shards))


@pytest.mark.usefixtures("at_every_release")
async def test_zero_lets_a_backend_grow(cluster: Cluster, open_shards: OpenShards) -> None:
    shards = await open_shards(cluster, max_connections=1, spare_connections=0, max_backend_bytes=0)
    pids = {await shards.shard(0).fetch_value(QUERIES.whoami) for _ in range(3)}

    assert len(pids) == 1


async def test_a_backend_is_not_measured_with_every_statement(
    cluster: Cluster, open_shards: OpenShards
) -> None:
    shards = await open_shards(cluster, max_connections=1, spare_connections=0, max_backend_bytes=1)
    pids = {await shards.shard(0).fetch_value(QUERIES.whoami) for _ in range(20)}

    assert len(pids) == 1


ROLES = RoleSet("measured")


@pytest.fixture
async def runtime_dsns(own_cluster: Cluster) -> dict[str, str]:
    """The databases as the application's own role."""
    for dsn in own_cluster.dsns.values():
        await ensure_roles(dsn, ROLES, dict.fromkeys(ROLES.logins, "secret"))
    return {
        name: f"postgresql://{ROLES.runtime}:secret@{dsn.rpartition('@')[2]}"
        for name, dsn in own_cluster.dsns.items()
    }


async def test_the_application_may_ask_for_the_size_of_its_own_backend(
    own_cluster: Cluster, runtime_dsns: dict[str, str]
) -> None:
    async with await Shards.open(
        runtime_dsns["a"], dsns=runtime_dsns, options=PoolOptions(max_connections=1)
    ) as shards:
        pooled = await only_connection(shards)
        sizes = BackendSizes()
        measured = await sizes.read(pooled)
        await pooled.conn.execute(f"SELECT count(*) FROM {FUNCTION}")

    assert MIB // 2 < measured < 64 * MIB
    assert measured != estimate(pooled)


async def test_a_role_that_may_not_ask_goes_by_what_it_has_done(
    own_cluster: Cluster, runtime_dsns: dict[str, str]
) -> None:
    for dsn in own_cluster.dsns.values():
        admin = await open_connection(dsn, "a server")
        await admin.execute(f"REVOKE EXECUTE ON FUNCTION {FUNCTION} FROM {ROLES.runtime}")
        await admin.close()
    options = PoolOptions(max_connections=1, spare_connections=0)
    async with await Shards.open(runtime_dsns["a"], dsns=runtime_dsns, options=options) as shards:
        pooled = await only_connection(shards)
        sizes = BackendSizes()
        before = await sizes.read(pooled)
        assert before == estimate(pooled)
        number = max(shards.server_for(0).point_pool.groups.all[0].shards)
        await shards.shard(number).fetch(QUERIES.find_hot, id=1)

        assert await sizes.read(pooled) > before
        assert await pooled.conn.fetchval("SELECT 1") == 1  # nothing failed on the way
