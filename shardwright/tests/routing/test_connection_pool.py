"""Connection pool: limits, groups, timeouts, and recovery after cancellations."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping

import asyncpg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from routing_test_cluster import QUERIES, Cluster, OpenShards, make_cluster, open_one_connection

from shardwright.errors import ServerUnavailable, SetupInvalid
from shardwright.local import LocalServer
from shardwright.routing import DeadlineExceeded, OutcomeUnknown, PoolOptions, Shards, connection_pool
from shardwright.routing.connection_groups import ConnectionGroups
from shardwright.topology import fetch_value, open_connection


@given(
    st.lists(st.sets(st.integers(0, 500)), min_size=1, max_size=5),
    st.integers(1, 64),
    st.integers(1, 16),
    st.integers(1, 32),
)
def test_shards_are_spread_evenly_over_groups_and_stay_in_their_group(
    rounds: list[set[int]], per_group: int, max_groups: int, wanted: int
) -> None:
    options = {"shards_per_group": per_group, "max_groups": max_groups, "wanted_groups": wanted}
    groups = ConnectionGroups(**options)
    for before, numbers in zip([set[int](), *rounds], rounds, strict=False):
        kept = {number: groups.for_shard(number) for number in before & numbers}
        groups.assign_shards(numbers)

        assert {number for group in groups.all for number in group.shards} == numbers
        assert sum(len(group.shards) for group in groups.all) == len(numbers)
        assert all(groups.for_shard(number) is group for number, group in kept.items())
        assert len(groups.all) <= max_groups
    fresh = ConnectionGroups(**options)
    fresh.assign_shards(rounds[-1])
    sizes = [len(group.shards) for group in fresh.all]
    assert max(sizes) - min(sizes) <= 1
    assert max(sizes) <= per_group or len(sizes) == max_groups
    assert len(sizes) >= min(wanted, max_groups, len(rounds[-1]))


def test_invalid_options_are_refused() -> None:
    with pytest.raises(SetupInvalid, match="max_connections"):
        PoolOptions(max_connections=0)
    with pytest.raises(SetupInvalid, match="statement_timeout_s"):
        PoolOptions(statement_timeout_s=-1)


def most_touched(shards: Shards, kind: str) -> int:
    connections = [pooled for _, each, pool in shards.pools() if each == kind for pooled in pool.connections]
    return max((len(pooled.shards_touched) for pooled in connections), default=0)


@pytest.mark.slow
async def test_no_connection_touches_more_shards_than_it_may(
    servers: Mapping[str, LocalServer],
    fresh_database: Callable[[LocalServer], Awaitable[str]],
    open_shards: OpenShards,
) -> None:
    """With 200 shards: each server has 100, each connection may touch 30, so each server needs 4 groups."""
    dsns = {name: await fresh_database(server) for name, server in servers.items()}
    cluster = await make_cluster(dsns, 200)
    shards = await open_shards(
        cluster,
        max_connections=8,
        shards_per_connection=30,
        gather_connections=2,
        shards_per_gather_connection=60,
    )
    chance = random.Random(7)  # noqa: S311  # the same chance every time
    shards_touched: list[int] = []

    async def work(_: int) -> None:
        numbers = [chance.randrange(200) for _ in range(40)]
        for number in numbers:
            await shards.shard(number).fetch_value(QUERIES.whoami)
            shards_touched.append(most_touched(shards, "point"))
        async with shards.shard(numbers[0]).begin() as transaction:
            await transaction.fetch_value(QUERIES.whoami)
        await shards.gather(QUERIES.get, [(1 << 40) | (number << 10) for number in numbers[:10]])

    await asyncio.gather(*map(work, range(30)))
    assert max(shards_touched) <= 30
    assert most_touched(shards, "gather") <= 60
    for _, kind, pool in shards.pools():
        assert len(pool.connections) <= (8 + 4 if kind == "point" else 2)
        assert len(pool.groups.all) == (4 if kind == "point" else 2)
    await cluster.directory.close()


async def test_a_connection_that_touched_enough_is_replaced(
    cluster: Cluster, open_shards: OpenShards
) -> None:
    """One group of eight shards, three per connection: the limit holds by replacing connections."""
    shards = await open_shards(cluster, max_connections=1, spare_connections=0, shards_per_connection=3)
    pids: set[int] = set()
    for number in [*range(16), *range(16)]:
        pids.add(await shards.shard(number).fetch_value(QUERIES.whoami))
        assert most_touched(shards, "point") <= 3

    assert len(pids) >= 10


async def test_connections_are_reused_without_a_round_trip_in_between(
    cluster: Cluster, open_shards: OpenShards
) -> None:
    shards = await open_shards(cluster, max_connections=1, spare_connections=0)
    shard = shards.shard(0)
    pid = await shard.fetch_value(QUERIES.whoami)
    conn = await open_connection(cluster.dsns[shard.server], "server")
    for _ in range(5):
        assert await shard.fetch_value(QUERIES.whoami) == pid
        last = await fetch_value(conn, "SELECT query FROM pg_stat_activity WHERE pid = $1", pid)
        assert "q_whoami" in last
    await conn.close()


async def test_callers_wait_when_all_connections_are_busy(cluster: Cluster, open_shards: OpenShards) -> None:
    shards = await open_shards(cluster, max_connections=2, spare_connections=0)
    pids = await asyncio.gather(*(shards.shard(0).fetch_value(QUERIES.whoami) for _ in range(200)))

    assert len(set(pids)) <= 2


async def test_waiting_for_a_connection_times_out(cluster: Cluster, open_shards: OpenShards) -> None:
    shards = await open_shards(cluster, max_connections=1, spare_connections=0, acquire_timeout_s=0.1)
    shard = shards.shard(0)
    await open_one_connection(shards, 0)
    async with shard.begin():
        with pytest.raises(ServerUnavailable, match="became free within"):
            await shard.fetch_value(QUERIES.whoami)

    assert await shard.fetch_value(QUERIES.whoami)


@pytest.mark.slow
async def test_a_statement_that_takes_too_long_is_cancelled_by_the_server(
    cluster: Cluster, open_shards: OpenShards
) -> None:
    shards = await open_shards(cluster, statement_timeout_s=0.2)

    with pytest.raises(asyncpg.QueryCanceledError):
        await shards.shard(0).fetch_value(QUERIES.nap, seconds=30.0)
    assert await shards.shard(0).fetch_value(QUERIES.whoami)


@pytest.mark.slow
async def test_a_connection_that_outlives_the_statement_timeout_is_terminated(
    cluster: Cluster, open_shards: OpenShards, caption: str
) -> None:
    shards = await open_shards(cluster)
    shard = shards.shard(0)
    read = asyncio.create_task(shard.fetch_value(QUERIES.nap, seconds=30.0))
    write = asyncio.create_task(shard.fetch_value(QUERIES.slow_add, seconds=30.0, caption=caption))
    pool = shards.server_for(0).point_pool
    while sum(pooled.busy_since is not None for pooled in pool.connections) < 2:  # noqa: ASYNC110  # until both are sent
        await asyncio.sleep(0.01)
    for pooled in pool.connections:
        pooled.busy_since = pooled.busy_since and pooled.busy_since - 1000.0

    with pytest.raises(DeadlineExceeded):
        await read
    with pytest.raises(OutcomeUnknown):
        await write
    assert await shard.fetch_value(QUERIES.whoami)


@pytest.mark.slow
async def test_a_storm_of_cancellations_leaves_no_broken_connection(
    cluster: Cluster, open_shards: OpenShards, caption: str
) -> None:
    shards = await open_shards(cluster, max_connections=4, spare_connections=0)
    chance = random.Random(3)  # noqa: S311  # likewise

    async def one(number: int) -> None:
        shard = shards.shard(number % 16)
        kind = number % 4
        if kind == 0:
            await shard.fetch_value(QUERIES.nap, seconds=0.02)
        elif kind == 1:
            await shard.fetch_value(QUERIES.add, author_id=1, caption=caption)
        elif kind == 2:
            async with shard.begin() as transaction:
                await transaction.execute(QUERIES.add, author_id=1, caption=caption)
                await transaction.fetch_value(QUERIES.nap, seconds=0.01)
        else:
            await shards.gather(QUERIES.get, [(1 << 40) | (n << 10) for n in range(16)])

    tasks = [asyncio.create_task(one(number)) for number in range(400)]
    while any(not task.done() for task in tasks):
        await asyncio.sleep(0.002)
        for task in chance.sample(tasks, 20):
            task.cancel()
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    assert {type(each) for each in outcomes} <= {asyncio.CancelledError, type(None), int}
    assert sum(isinstance(each, asyncio.CancelledError) for each in outcomes) > 50

    for number in [*range(16)] * 3:
        assert await shards.shard(number).fetch_value(QUERIES.whoami)
    await settle(shards)
    for _, _, pool in shards.pools():
        assert pool.idle == len(pool.connections) == sum(group.size for group in pool.groups.all)
        assert not [pooled for pooled in pool.connections if pooled.conn.is_in_transaction()]


async def test_a_cancelled_transaction_is_rolled_back(
    cluster: Cluster, open_shards: OpenShards, caption: str
) -> None:
    shards = await open_shards(cluster, max_connections=1, spare_connections=0)
    shard = shards.shard(0)
    ids: list[int] = []

    async def work() -> None:
        async with shard.begin() as transaction:
            ids.append(await transaction.fetch_value(QUERIES.add, author_id=1, caption=caption))
            await asyncio.sleep(30)

    task = asyncio.create_task(work())
    while not ids:  # noqa: ASYNC110  # until the row is in
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert await shard.fetch_one(QUERIES.find, id=ids[0]) is None


async def test_cancelling_while_waiting_gives_the_connection_to_the_next(
    cluster: Cluster, open_shards: OpenShards
) -> None:
    shards = await open_shards(cluster, max_connections=1, spare_connections=0)
    shard = shards.shard(0)
    async with shard.begin():
        waiting = [asyncio.create_task(shard.fetch_value(QUERIES.whoami)) for _ in range(10)]
        await asyncio.sleep(0.02)
        for task in waiting[:9]:
            task.cancel()

    assert await waiting[9]
    await asyncio.gather(*waiting, return_exceptions=True)


async def settle(shards: Shards) -> None:
    """Wait until the background recovery of connections has finished."""
    async with asyncio.timeout(20):
        while any(pool.idle < len(pool.connections) or pool._tasks for _, _, pool in shards.pools()):  # noqa: ASYNC110 - waits for another process
            await asyncio.sleep(0.01)


async def test_idle_connections_are_closed(cluster: Cluster, open_shards: OpenShards) -> None:
    shards = await open_shards(cluster, idle_s=0.0)
    await shards.shard(0).fetch_value(QUERIES.whoami)
    for _, _, pool in shards.pools():
        pool.close_idle()

    assert [len(pool.connections) for _, _, pool in shards.pools()] == [0, 0, 0, 0]
    assert await shards.shard(0).fetch_value(QUERIES.whoami)


async def test_old_connections_are_replaced(cluster: Cluster, open_shards: OpenShards) -> None:
    shards = await open_shards(cluster, max_age_s=0.0, max_connections=1)
    pids = [await shards.shard(0).fetch_value(QUERIES.whoami) for _ in range(3)]

    assert len(set(pids)) == 3


async def test_each_new_connection_is_set_up(cluster: Cluster, open_shards: OpenShards) -> None:
    async def setup(conn: asyncpg.Connection) -> None:
        await conn.set_type_codec("text", encoder=str, decoder=str.upper, schema="pg_catalog")

    shards = await open_shards(cluster, setup=setup)
    new_id = await shards.shard(0).fetch_value(QUERIES.add, author_id=1, caption="quiet")
    found = await shards.shard(0).fetch_one(QUERIES.find, id=new_id)

    assert found is not None
    assert found["caption"] == "QUIET"


async def test_a_closed_router_refuses_and_leaves_no_connection(
    cluster: Cluster, open_shards: OpenShards
) -> None:
    shards = await open_shards(cluster, application_name="closing")
    await asyncio.gather(*(shards.shard(n % 16).fetch_value(QUERIES.whoami) for n in range(50)))
    await shards.close()

    with pytest.raises(ServerUnavailable, match="closed"):
        await shards.shard(0).fetch_value(QUERIES.whoami)
    conn = await open_connection(cluster.dsns["a"], "a")
    async with asyncio.timeout(20):
        count = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'closing'"
        while await fetch_value(conn, count):  # noqa: ASYNC110  # waits for the server, not for us
            await asyncio.sleep(0.01)
    await conn.close()


async def test_a_busy_connection_does_not_block_its_shards(cluster: Cluster, open_shards: OpenShards) -> None:
    shards = await open_shards(cluster, max_connections=1, spare_connections=1)
    shard = shards.shard(0)
    async with shard.begin() as transaction:
        held = await transaction.fetch_value(QUERIES.whoami)
        assert await shard.fetch_value(QUERIES.whoami) != held


async def test_whoever_waits_for_the_first_connection_does_not_get_a_spare_one_too(
    cluster: Cluster, open_shards: OpenShards, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Opening takes longer than the pause after which a busy connection is given company."""
    monkeypatch.setattr(connection_pool, "OPEN_SPARE_AFTER_S", 0.001)
    shards = await open_shards(cluster, max_connections=1, spare_connections=2, idle_s=0.0)
    pool = shards.server_for(0).point_pool
    pool.close_idle()
    connect, opened = pool._connector.connect, 0  # to make it slow

    async def connect_slowly() -> tuple[object, bool]:
        nonlocal opened
        opened += 1
        await asyncio.sleep(0.05)
        return await connect()

    monkeypatch.setattr(pool._connector, "connect", connect_slowly)
    assert await shards.shard(0).fetch_value(QUERIES.whoami)

    assert opened == 1


@pytest.mark.slow
async def test_spare_connections_go_where_they_are_needed(cluster: Cluster, open_shards: OpenShards) -> None:
    """Two groups of four shards, one connection each and one to spare, which moves from one group to the other."""
    shards = await open_shards(cluster, max_connections=2, spare_connections=1, shards_per_connection=4)
    pool = shards.server_for(0).point_pool
    first, second = [min(group.shards) for group in pool.groups.all]
    for number in (first, second, first):
        async with shards.shard(number).begin():
            assert await shards.shard(number).fetch_value(QUERIES.whoami)
        assert len(pool.connections) <= 3


async def test_a_spare_connection_that_nobody_needs_is_closed_soon(
    cluster: Cluster, open_shards: OpenShards, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_pool, "SPARE_IDLE_S", 0.0)
    shards = await open_shards(cluster, max_connections=1, spare_connections=2, idle_s=3_600.0)
    shard, pool = shards.shard(0), shards.server_for(0).point_pool
    async with shard.begin(), shard.begin():
        assert await shard.fetch_value(QUERIES.whoami)
    assert len(pool.connections) == 3

    pool.close_idle()

    assert len(pool.connections) == 1
    assert await shard.fetch_value(QUERIES.whoami)
