"""A shard is moved while routers have a stale map: no write is lost, duplicated or sent to the wrong server."""

import asyncio
import itertools

import pytest
from routing_test_cluster import QUERIES, Cluster, OpenShards

from shardwright.errors import NotOwner
from shardwright.ids import last_tick_sql, resume_above_sql
from shardwright.routing import Queries, Shards
from shardwright.topology import fetch_rows, open_connection


def other(server: str) -> str:
    return {"a": "b", "b": "a"}[server]


async def test_a_refused_write_follows_its_shard(
    own_cluster: Cluster, open_shards: OpenShards, caption: str
) -> None:
    shards = await open_shards(own_cluster, poll_s=3600)
    shard = shards.shard(2)
    source, target = shard.server, other(shard.server)
    await own_cluster.prepare_move(2, target)
    await own_cluster.set_owned(source, 2, owned=False)
    await own_cluster.set_owned(target, 2, owned=True)
    await own_cluster.flip_map(2, target)
    new_id = await shard.fetch_value(QUERIES.add, author_id=1, caption=caption)

    assert shard.server == target
    conn = await open_connection(own_cluster.dsns[target], target)
    assert [tuple(row) for row in await fetch_rows(conn, "SELECT id FROM s0002.posts")] == [(new_id,)]
    await conn.close()


@pytest.mark.slow
async def test_ids_of_a_router_with_a_stale_map_come_from_the_owner_alone(
    own_cluster: Cluster, open_shards: OpenShards
) -> None:
    queries = Queries.parse("-- name: draw\nSELECT next_ids(100) AS id")
    stale = await open_shards(own_cluster, queries=queries, poll_s=3600)
    shard = stale.shard(2)
    source, target = shard.server, other(shard.server)
    drawn = [row["id"] for row in await shard.fetch(queries.draw)]
    await own_cluster.prepare_move(2, target)
    await own_cluster.set_owned(source, 2, owned=False)
    source_conn = await open_connection(own_cluster.dsns[source], source)
    ((tick,),) = await fetch_rows(source_conn, last_tick_sql(2))
    await source_conn.close()
    await own_cluster.run(target, resume_above_sql(2, tick))
    await own_cluster.set_owned(target, 2, owned=True)
    await own_cluster.flip_map(2, target)

    drawn += [row["id"] for row in await shard.fetch(queries.draw)]

    assert shard.server == target
    assert drawn == sorted(set(drawn))


@pytest.mark.slow
async def test_a_write_waits_for_a_shard_that_is_being_moved(
    own_cluster: Cluster, open_shards: OpenShards, caption: str
) -> None:
    shards = await open_shards(own_cluster)
    shard = shards.shard(1)
    source = shard.server
    await own_cluster.set_owned(source, 1, owned=False)
    write = asyncio.create_task(shard.fetch_value(QUERIES.add, author_id=1, caption=caption))
    await asyncio.sleep(0.1)
    assert not write.done()
    await own_cluster.set_owned(source, 1, owned=True)

    assert await write


@pytest.mark.slow
async def test_a_write_to_a_shard_without_an_owner_times_out(
    own_cluster: Cluster, open_shards: OpenShards, caption: str
) -> None:
    shards = await open_shards(own_cluster, not_owner_wait_s=0.2)
    await own_cluster.set_owned(shards.shard(1).server, 1, owned=False)

    with pytest.raises(NotOwner, match="no server has owned shard 1"):
        await shards.shard(1).execute(QUERIES.add, author_id=1, caption=caption)


@pytest.mark.slow
async def test_a_read_follows_a_shard_whose_old_copy_is_gone(
    own_cluster: Cluster, open_shards: OpenShards, caption: str
) -> None:
    shards = await open_shards(own_cluster, poll_s=3600)
    shard = shards.shard(3)
    source, target = shard.server, other(shard.server)
    await own_cluster.prepare_move(3, target)
    await own_cluster.set_owned(target, 3, owned=True)
    await shards._directory.close()  # this router hears of nothing
    await own_cluster.flip_map(3, target)
    await own_cluster.run(source, "DROP SCHEMA s0003 CASCADE")
    assert shard.server == source

    assert await shard.fetch(QUERIES.captions) == []
    assert shard.server == target
    new_id = await shard.fetch_value(QUERIES.add, author_id=1, caption=caption)
    shards._apply_map(await own_cluster.directory.load())
    assert [row["id"] for row in await shards.gather(QUERIES.get, [new_id])] == [new_id]


@pytest.mark.slow
async def test_a_gather_follows_a_shard_whose_old_copy_is_gone(
    own_cluster: Cluster, open_shards: OpenShards, caption: str
) -> None:
    shards = await open_shards(own_cluster)
    ids = [await shards.shard(n).fetch_value(QUERIES.add, author_id=1, caption=caption) for n in range(4)]
    target = other(shards.shard(0).server)
    await own_cluster.prepare_move(0, target)
    await own_cluster.set_owned(target, 0, owned=True)
    await shards._directory.close()
    await own_cluster.flip_map(0, target)
    await own_cluster.run(shards.shard(0).server, "DROP SCHEMA s0000 CASCADE")
    gathered = await shards.gather(QUERIES.get, ids)

    assert gathered.is_complete
    assert sorted(row["id"] for row in gathered) == sorted(ids[1:])  # the move of this test copied no rows


@pytest.mark.slow
async def test_everywhere_follows_a_shard_whose_old_copy_is_gone(
    own_cluster: Cluster, open_shards: OpenShards
) -> None:
    shards = await open_shards(own_cluster)
    target = other(shards.shard(0).server)
    await own_cluster.prepare_move(0, target)
    await own_cluster.set_owned(target, 0, owned=True)
    await shards._directory.close()
    await own_cluster.flip_map(0, target)
    await own_cluster.run(shards.shard(0).server, "DROP SCHEMA s0000 CASCADE")
    queries = Queries.parse("-- name: count\nSELECT count(*) AS posts FROM posts")
    found = await shards.everywhere().fetch(queries.count)

    assert sorted(row["shard_number"] for row in found.complete()) == [0, 1, 2, 3]


@pytest.mark.slow
async def test_writes_of_many_stale_routers_survive_moves_back_and_forth(
    own_cluster: Cluster, open_shards: OpenShards
) -> None:
    routers = [await open_shards(own_cluster, max_connections=4) for _ in range(3)]
    source = routers[0].shard(0).server
    await own_cluster.prepare_move(0, other(source))
    done = asyncio.Event()
    acknowledged: list[int] = []

    async def write(shards: Shards, worker: int) -> None:
        for number in itertools.count():
            if done.is_set():
                return
            key = worker * 1_000_000 + number + 1
            await shards.shard(0).execute(QUERIES.put, id=key, author_id=worker, caption="moving")
            acknowledged.append(key)

    async def move_back_and_forth() -> None:
        owner = source
        for _ in range(12):
            await asyncio.sleep(0.05)
            await own_cluster.set_owned(owner, 0, owned=False)
            owner = other(owner)
            await own_cluster.set_owned(owner, 0, owned=True)
            await own_cluster.flip_map(0, owner)
        while len(acknowledged) < 100:  # noqa: ASYNC110  # so that there is something to lose
            await asyncio.sleep(0.01)
        done.set()

    async with asyncio.TaskGroup() as group:
        group.create_task(move_back_and_forth())
        for worker in range(6):
            group.create_task(write(routers[worker % 3], worker))

    found: list[int] = []
    for name, dsn in own_cluster.dsns.items():
        conn = await open_connection(dsn, name)
        found += [row["id"] for row in await fetch_rows(conn, "SELECT id FROM s0000.posts")]
        await conn.close()
    assert sorted(found) == sorted(acknowledged)
