"""The same router, unchanged, behind PgBouncer in transaction mode."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import pytest
from pgbouncer import run_pgbouncer
from routing_test_cluster import QUERIES, Cluster, OpenShards

from shardwright.routing import Shards
from shardwright.topology import Directory, fetch_value


@pytest.fixture(scope="module")
def pooled_dsns(cluster: Cluster, run_directory: Path) -> Iterator[dict[str, str]]:
    """The cluster's servers, reached through PgBouncer."""
    with run_pgbouncer(cluster.dsns, run_directory) as dsns:
        yield dsns


@pytest.fixture
async def pooled(cluster: Cluster, pooled_dsns: dict[str, str], open_shards: OpenShards) -> Shards:
    return await open_shards(cluster, dsns=pooled_dsns)


async def test_the_pooler_is_detected(pooled: Shards, shards: Shards) -> None:
    for each in (pooled, shards):
        await each.shard(0).fetch_value(QUERIES.whoami)
    kinds = [
        {pooled.is_behind_pooler for _, _, pool in each.pools() for pooled in pool.connections}
        for each in (pooled, shards)
    ]

    assert kinds == [{True}, {False}]


async def test_reads_writes_gathers_and_transactions_work(pooled: Shards, caption: str) -> None:
    ids = [await pooled.shard(n).fetch_value(QUERIES.add, author_id=1, caption=caption) for n in range(16)]
    for new_id in ids:
        assert await pooled.owner(new_id).fetch_one(QUERIES.find_hot, id=new_id) is not None
        async with pooled.owner(new_id).begin() as transaction:
            assert await transaction.execute(QUERIES.change, id=new_id, caption=f"{caption}!") == 1
            timeout = await fetch_value(transaction.connection, "SHOW statement_timeout")
            assert timeout == "10s"

    gathered = await pooled.gather(QUERIES.get, ids)
    assert {row["caption"] for row in gathered.complete()} == {f"{caption}!"}
    assert len(await pooled.everywhere().fetch(QUERIES.whoami)) == 16


async def test_hot_writes_are_dispatched_behind_the_pooler(
    cluster: Cluster, pooled: Shards, shards: Shards, caption: str
) -> None:
    """Nothing stays prepared there, where the next client would meet it; rows, counts and hooks are the same."""
    told: list[str] = []

    async def hook(server: str) -> None:
        told.append(server)

    for number in (0, 1, 0):
        shard = pooled.shard(number)
        new_id = await shard.fetch_value(QUERIES.add, author_id=1, caption=caption)
        assert await shard.execute(QUERIES.change_hot, id=new_id, caption="x", after_commit=hook) == 1
        assert await shard.execute(QUERIES.change_hot, id=1, caption="x") == 0
        assert await shard.fetch(QUERIES.change_hot, id=new_id, caption="x") == []
        copied = await shard.fetch_one(QUERIES.copy_hot, id=new_id, caption=caption)
        assert copied is not None
        assert copied["author_id"] == 2
        async with shard.begin() as transaction:
            assert await transaction.execute(QUERIES.change_hot, id=copied["id"], caption=f"{caption}!") == 1
            found = await transaction.fetch_one(QUERIES.find_hot, id=copied["id"])
            assert found is not None
            assert found["caption"] == f"{caption}!"
            assert (
                await fetch_value(transaction.connection, "SELECT count(*) FROM pg_prepared_statements") == 0
            )
    server = shards.shard(3).server
    await cluster.set_owned(server, 3, owned=False)
    try:
        refused = asyncio.create_task(pooled.shard(3).execute(QUERIES.change_hot, id=1, caption="x"))
        while not pooled.counts[server].errors["SW001"]:  # noqa: ASYNC110 - refused by the server
            await asyncio.sleep(0.005)
    finally:
        await cluster.set_owned(server, 3, owned=True)

    assert await refused == 0
    assert told == [shards.shard(number).server for number in (0, 1, 0)]


@pytest.mark.slow
async def test_many_clients_on_few_server_connections_get_their_own_answers(
    cluster: Cluster, pooled_dsns: dict[str, str], open_shards: OpenShards, caption: str
) -> None:
    """Two routers, one with another order of statements, share two backends per server."""
    patience_s = 60.0  # the last of 300 waits for all the others
    limits = dict.fromkeys(("acquire_timeout_s", "deadline_s", "gather_deadline_s"), patience_s)
    routers = [await open_shards(cluster, dsns=pooled_dsns, max_connections=8, **limits) for _ in range(2)]
    ids = [
        await routers[0].shard(n).fetch_value(QUERIES.add, author_id=n, caption=caption) for n in range(16)
    ]

    async def check(number: int) -> None:
        shards, new_id = routers[number % 2], ids[number % 16]
        found = await shards.owner(new_id).fetch_one(QUERIES.find, id=new_id)
        assert found is not None
        assert (found["id"], found["author_id"]) == (new_id, number % 16)
        async with shards.owner(new_id).begin() as transaction:
            again = await transaction.fetch_one(QUERIES.find, id=new_id)
            assert again == found
            path = await fetch_value(transaction.connection, "SHOW search_path")
            assert path.startswith(shards.owner(new_id).schema)
        gathered = await shards.gather(QUERIES.get, ids[:3])
        assert sorted(row["id"] for row in gathered.complete()) == sorted(ids[:3])

    await asyncio.gather(*map(check, range(300)))


async def test_cancellations_leave_no_broken_connection_behind_the_pooler(
    pooled: Shards, shards: Shards
) -> None:
    tasks = [
        asyncio.create_task(pooled.shard(n % 16).fetch_value(QUERIES.nap, seconds=30.0)) for n in range(12)
    ]
    # Cancelled while statements run on the server and others wait for a connection of the pooler.
    while not await shards.shard(0).fetch_value(QUERIES.count_naps):  # noqa: ASYNC110 - waits for the server, not for us
        await asyncio.sleep(0.02)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)

    assert all(await asyncio.gather(*(pooled.shard(n % 16).fetch_value(QUERIES.whoami) for n in range(50))))


@pytest.mark.slow
async def test_a_statement_that_takes_too_long_is_cancelled_through_the_pooler(
    cluster: Cluster, pooled_dsns: dict[str, str], open_shards: OpenShards
) -> None:
    shards = await open_shards(cluster, dsns=pooled_dsns, statement_timeout_s=0.5)

    with pytest.raises((TimeoutError, asyncpg.QueryCanceledError)):
        await shards.shard(0).fetch_value(QUERIES.nap, seconds=30.0)
    assert await shards.shard(0).fetch_value(QUERIES.whoami)


async def test_the_directory_may_lie_behind_the_pooler(pooled_dsns: dict[str, str]) -> None:
    directory = await Directory.open(pooled_dsns["a"])
    found = await directory.load()

    assert len(found.owners) == 16
    assert await directory.add_server("b", found.servers["b"].dsn) == found
    await directory.close()
