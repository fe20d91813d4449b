"""One deadline for a whole call: what it covers, what its error says, and what it leaves behind."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from routing_test_cluster import QUERIES, Cluster, OpenShards, open_one_connection

from shardwright.errors import ServerUnavailable, SetupInvalid
from shardwright.routing import (
    DeadlineExceeded,
    OutcomeUnknown,
    PoolExhausted,
    Queries,
    Shards,
    Transaction,
    WriteDeadlineExceeded,
    deadline,
)
from shardwright.routing.pooled_connection import PooledConnection
from shardwright.topology import fetch_value, open_connection

Call = Callable[[Shards], Awaitable[object]]
LIMIT_S = 0.3
NAPPING = (
    "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND wait_event = 'PgSleep' AND datname = $1"
)


async def settle(shards: Shards) -> None:
    """Wait until the background recovery of connections has finished."""
    async with asyncio.timeout(20):
        while any(pool.idle < len(pool.connections) or pool._tasks for _, _, pool in shards.pools()):  # noqa: ASYNC110 - waits for another process
            await asyncio.sleep(0.01)


async def is_clean(shards: Shards, cluster: Cluster) -> bool:
    """Whether no connection is held, broken or in a transaction, and no statement of a call goes on."""
    await settle(shards)
    for server, dsn in cluster.dsns.items():
        conn = await open_connection(dsn, server)
        async with asyncio.timeout(10):
            while await fetch_value(conn, NAPPING, dsn.rpartition("/")[2].partition("?")[0]):  # noqa: ASYNC110 - waits for another process
                await asyncio.sleep(0.01)
        await conn.close()
    return all(
        pool.idle == len(pool.connections) == sum(group.size for group in pool.groups.all)
        and not [pooled for pooled in pool.connections if pooled.conn.is_in_transaction()]
        for _, _, pool in shards.pools()
    )


async def nap(shards: Shards) -> None:
    await shards.shard(0).fetch_value(QUERIES.nap, seconds=30.0, deadline_s=LIMIT_S)


async def nap_in_a_block(shards: Shards) -> None:
    with deadline(60), deadline(LIMIT_S), deadline(60):
        await shards.shard(0).fetch(QUERIES.nap, seconds=30.0)


async def nap_in_a_transaction(shards: Shards) -> None:
    async with shards.shard(0).begin(deadline_s=LIMIT_S) as transaction:
        await transaction.fetch_value(QUERIES.nap, seconds=30.0)


async def nap_in_a_repeated_transaction(shards: Shards) -> None:
    async def body(transaction: Transaction) -> None:
        await transaction.execute(QUERIES.nap, seconds=30.0)

    with deadline(LIMIT_S):
        await shards.shard(0).transact(body)


async def nap_under_a_savepoint(shards: Shards) -> None:
    async with shards.shard(0).begin(deadline_s=LIMIT_S) as transaction, transaction.savepoint():
        await transaction.fetch(QUERIES.nap, seconds=30.0)


async def nap_in_a_block_in_a_transaction(shards: Shards) -> None:
    async with shards.shard(0).begin() as transaction:
        with deadline(LIMIT_S):
            await transaction.fetch(QUERIES.nap, seconds=30.0)


@pytest.mark.parametrize(
    "call",
    [
        nap_in_a_block_in_a_transaction,
        nap,
        nap_in_a_block,
        nap_in_a_transaction,
        nap_in_a_repeated_transaction,
        nap_under_a_savepoint,
    ],
)
@pytest.mark.slow
async def test_a_slow_statement_ends_with_the_deadline_on_both_sides(
    cluster: Cluster, open_shards: OpenShards, call: Call
) -> None:
    shards = await open_shards(cluster)
    with pytest.raises(DeadlineExceeded) as caught:
        await call(shards)

    error = caught.value
    assert error.waited_for == f"the answer of server {shards.shard(0).server}"
    assert error.waited_s > LIMIT_S - 0.05
    assert error.limit_s == pytest.approx(LIMIT_S, abs=0.05)
    assert "nap" in str(error)
    assert not isinstance(error, OutcomeUnknown)
    assert await is_clean(shards, cluster)
    assert await shards.shard(0).fetch_value(QUERIES.whoami, deadline_s=10.0)


@pytest.mark.slow
async def test_the_default_of_the_options_ends_a_call(cluster: Cluster, open_shards: OpenShards) -> None:
    shards = await open_shards(cluster, deadline_s=LIMIT_S)
    with pytest.raises(DeadlineExceeded, match=r"exceeded its deadline of 0\.3 s"):
        await shards.shard(0).fetch_value(QUERIES.nap, seconds=30.0)
    gathered = await shards.gather(QUERIES.get, [(1 << 40) | (n << 10) for n in range(16)])

    assert gathered.is_complete
    assert await is_clean(shards, cluster)


@pytest.mark.slow
async def test_a_write_that_was_sent_has_an_unknown_outcome(
    cluster: Cluster, open_shards: OpenShards, caption: str
) -> None:
    shards = await open_shards(cluster)
    with pytest.raises(WriteDeadlineExceeded, match="unknown") as caught:
        await shards.shard(0).execute(QUERIES.slow_add, seconds=30.0, caption=caption, deadline_s=LIMIT_S)

    assert isinstance(caught.value, OutcomeUnknown)
    assert isinstance(caught.value, DeadlineExceeded)
    assert await is_clean(shards, cluster)


async def test_nothing_is_sent_when_the_time_was_over_before(
    cluster: Cluster, open_shards: OpenShards, caption: str
) -> None:
    shards = await open_shards(cluster)
    shard = shards.shard(0)
    calls = shards.counts[shard.server].calls
    with deadline(0):
        with pytest.raises(DeadlineExceeded, match="before it began"):
            await shard.execute(QUERIES.add, author_id=1, caption=caption)
        with pytest.raises(DeadlineExceeded, match="before it began"):
            async with shard.begin():
                pass

    assert shards.counts[shard.server].calls == calls


@pytest.mark.slow
async def test_a_transaction_whose_time_is_over_is_not_committed(
    cluster: Cluster, open_shards: OpenShards, caption: str
) -> None:
    shards = await open_shards(cluster)
    shard = shards.shard(0)
    with pytest.raises(DeadlineExceeded) as caught:
        async with shard.begin(deadline_s=LIMIT_S) as transaction:
            await transaction.execute(QUERIES.add, author_id=1, caption=caption)
            await asyncio.sleep(LIMIT_S)

    assert not isinstance(caught.value, OutcomeUnknown)
    assert await is_clean(shards, cluster)
    assert caption not in {row["caption"] for row in await shard.fetch(QUERIES.captions)}


@pytest.mark.slow
async def test_acquiring_takes_as_long_as_the_option_says(cluster: Cluster, open_shards: OpenShards) -> None:
    """Once for a call, not once for each of its attempts: the pool is asked a single time."""
    shards = await open_shards(cluster, max_connections=1, spare_connections=0, acquire_timeout_s=LIMIT_S)
    shard = shards.shard(0)
    await open_one_connection(shards, 0)
    pool, waits = shards.server_for(0).point_pool, list[float]()
    acquire = pool.acquire

    async def counted(number: int, waited_s: float = 0.0) -> PooledConnection:
        waits.append(waited_s)
        return await acquire(number, waited_s)

    pool.acquire = counted
    async with shard.begin():
        for call in (shard.fetch_value(QUERIES.whoami), shard.begin().__aenter__()):
            with pytest.raises(PoolExhausted, match=r"within 0\.3 s"):
                await call

    assert waits == [0.0, 0.0]

    assert await is_clean(shards, cluster)


@pytest.mark.slow
async def test_a_deadline_ends_the_wait_for_a_connection(cluster: Cluster, open_shards: OpenShards) -> None:
    shards = await open_shards(cluster, max_connections=1, spare_connections=0)
    shard = shards.shard(0)
    async with shard.begin():
        for call in (
            shard.fetch_value(QUERIES.whoami, deadline_s=LIMIT_S),
            shard.execute(QUERIES.add, author_id=1, caption="", deadline_s=LIMIT_S),
            shard.begin(deadline_s=LIMIT_S).__aenter__(),
        ):
            with pytest.raises(DeadlineExceeded) as caught:
                await call
            assert caught.value.waited_for == f"a connection to server {shard.server}"
            assert not isinstance(caught.value, OutcomeUnknown)

    assert not shards.server_for(0).breaker.failures  # the server is well, the pool is small
    assert await is_clean(shards, cluster)


@pytest.mark.slow
async def test_a_deadline_ends_the_wait_for_a_shard_that_is_being_moved(
    own_cluster: Cluster, open_shards: OpenShards, caption: str
) -> None:
    shards = await open_shards(own_cluster)
    shard = shards.shard(1)
    await own_cluster.set_owned(shard.server, 1, owned=False)

    async def body(transaction: Transaction) -> None:
        await transaction.execute(QUERIES.add, author_id=1, caption=caption)

    with pytest.raises(DeadlineExceeded) as caught:
        await shard.execute(QUERIES.add, author_id=1, caption=caption, deadline_s=LIMIT_S)
    assert not isinstance(caught.value, OutcomeUnknown)
    with pytest.raises(DeadlineExceeded):
        await shard.transact(body, deadline_s=LIMIT_S)

    await own_cluster.set_owned(shard.server, 1, owned=True)
    assert await is_clean(shards, own_cluster)
    assert await shard.fetch(QUERIES.captions) == []


@pytest.mark.slow
async def test_a_block_limits_gathers_and_broadcasts(cluster: Cluster, open_shards: OpenShards) -> None:
    shards = await open_shards(cluster)
    queries = Queries.parse(
        "-- name: slow\nSELECT id FROM unnest(:ids::bigint[]) AS id, pg_sleep(30);\n"
        "-- name: slow_put\nINSERT INTO posts (author_id, caption) SELECT 1, 'x' FROM pg_sleep(30) RETURNING id;"
    )
    with deadline(LIMIT_S):
        gathered = await shards.gather(queries.slow, [(1 << 40) | (n << 10) for n in range(16)])
    with deadline(LIMIT_S):
        broadcast = await shards.everywhere().fetch(QUERIES.nap, seconds=30.0)
    written = await shards.everywhere(deadline_s=LIMIT_S).execute(queries.slow_put)

    for each in (gathered, broadcast, written):
        assert set(each.failed) == {"a", "b"}
        assert all(isinstance(error, DeadlineExceeded) for error in each.failed.values())
    assert all(isinstance(error, OutcomeUnknown) for error in written.failed.values())
    assert not any(isinstance(error, OutcomeUnknown) for error in broadcast.failed.values())
    assert await is_clean(shards, cluster)


@pytest.mark.slow
async def test_the_caller_s_own_timeout_is_not_taken_for_a_deadline(
    cluster: Cluster, open_shards: OpenShards
) -> None:
    shards = await open_shards(cluster)
    with pytest.raises(TimeoutError) as caught:
        async with asyncio.timeout(LIMIT_S):
            await shards.shard(0).fetch_value(QUERIES.nap, seconds=30.0, deadline_s=30.0)

    assert not isinstance(caught.value, DeadlineExceeded)
    assert await is_clean(shards, cluster)


@pytest.mark.slow
async def test_a_longer_deadline_than_the_default_is_allowed(
    cluster: Cluster, open_shards: OpenShards
) -> None:
    shards = await open_shards(
        cluster, deadline_s=LIMIT_S, max_connections=1, spare_connections=0, acquire_timeout_s=60.0
    )
    shard = shards.shard(0)
    async with shard.begin():
        waiting = asyncio.create_task(shard.fetch_value(QUERIES.whoami, deadline_s=30.0))
        with pytest.raises(DeadlineExceeded):
            await shard.fetch_value(QUERIES.whoami)

    assert await waiting


async def test_many_calls_with_short_deadlines_leave_no_broken_connection(
    cluster: Cluster, open_shards: OpenShards, caption: str
) -> None:
    shards = await open_shards(cluster, max_connections=4, spare_connections=0, breaker_failures=10_000)

    async def one(number: int) -> None:
        shard, limit_s = shards.shard(number % 16), number % 7 / 100
        if number % 3 == 0:
            await shard.fetch_value(QUERIES.nap, seconds=0.02, deadline_s=limit_s)
        elif number % 3 == 1:
            await shard.fetch_value(QUERIES.slow_add, caption=caption, seconds=0.02, deadline_s=limit_s)
        else:
            async with shard.begin(deadline_s=limit_s) as transaction:
                await transaction.execute(QUERIES.add, author_id=1, caption=caption)
                await transaction.fetch_value(QUERIES.nap, seconds=0.01)

    outcomes = await asyncio.gather(*map(one, range(300)), return_exceptions=True)
    assert {type(each) for each in outcomes} <= {type(None), DeadlineExceeded, WriteDeadlineExceeded}
    assert sum(isinstance(each, DeadlineExceeded) for each in outcomes) > 50
    assert await is_clean(shards, cluster)


def test_a_query_parameter_may_not_be_called_like_the_argument() -> None:
    with pytest.raises(SetupInvalid, match="deadline_s"):
        Queries.parse("-- name: late\nSELECT 1 AS one WHERE :deadline_s::int > 0")


def test_an_exhausted_pool_is_an_unavailable_server() -> None:
    assert issubclass(PoolExhausted, ServerUnavailable)
