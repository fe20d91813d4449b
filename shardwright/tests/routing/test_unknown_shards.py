"""Ids of shards that a router's map does not have: new ones are found, others are refused or left out."""

import asyncio
import itertools

import pytest
from routing_test_cluster import QUERIES, Cluster, OpenShards, make_posts

from shardwright.errors import InvalidId, ServerUnavailable
from shardwright.routing import Shards


async def cut_off(shards: Shards) -> None:
    """From now on this router gets no notifications, and does not poll."""
    await shards._directory.close()


def count_loads(shards: Shards) -> list[float]:
    """When the router loads the map, from now on."""
    loads: list[float] = []
    load = shards._directory.load

    async def counted() -> object:
        loads.append(shards._refresher._began_at)
        return await load()

    shards._directory.load = counted  # pyright: ignore[reportAttributeAccessIssue]  # to count
    return loads


@pytest.fixture
async def behind(own_cluster: Cluster, open_shards: OpenShards) -> Shards:
    """A router with four shards in its map, of a cluster that has eight since."""
    shards = await open_shards(own_cluster)
    await cut_off(shards)
    await own_cluster.directory.add_shards(4, prepare=make_posts)
    return shards


async def test_a_new_shard_is_found_by_its_first_statement(
    behind: Shards, own_cluster: Cluster, open_shards: OpenShards, caption: str
) -> None:
    ahead = await open_shards(own_cluster)
    ids = [await ahead.shard(n).fetch_value(QUERIES.add, author_id=1, caption=caption) for n in range(8)]

    assert await behind.owner(ids[5]).fetch_value(QUERIES.find, id=ids[5]) == ids[5]
    assert behind.map.version == ahead.map.version


@pytest.mark.slow
async def test_a_new_shard_is_found_by_a_transaction_and_by_a_gather(
    behind: Shards, own_cluster: Cluster, open_shards: OpenShards, caption: str
) -> None:
    ahead = await open_shards(own_cluster)
    ids = [await ahead.shard(n).fetch_value(QUERIES.add, author_id=1, caption=caption) for n in range(8)]
    gathered = await behind.gather(QUERIES.get, ids)
    assert {row["id"] for row in gathered.complete()} == set(ids)
    assert gathered.unknown == []

    await own_cluster.directory.add_shards(1, prepare=make_posts)
    async with behind.shard(8).begin() as transaction:
        await transaction.execute(QUERIES.add, author_id=1, caption=caption)
    with pytest.raises(InvalidId, match="shard 9 is not in the map"):
        async with behind.shard(9).begin():
            pass


@pytest.mark.slow
async def test_what_is_no_id_does_not_fail_a_gather(
    own_cluster: Cluster, open_shards: OpenShards, caption: str
) -> None:
    shards = await open_shards(own_cluster)
    real = [await shards.shard(n).fetch_value(QUERIES.add, author_id=1, caption=caption) for n in range(4)]
    made_up = [(1 << 40) | (4000 << 10), -5, 1 << 63, (1 << 40) | (77 << 10), (1 << 40) | (77 << 10) | 1]
    gathered = await shards.gather(QUERIES.get, [*made_up[:3], *real, *made_up[3:]])

    assert {row["id"] for row in gathered.complete()} == set(real)
    assert sorted(gathered.unknown) == sorted(made_up)
    only = await shards.gather(QUERIES.get, made_up)
    assert (only.rows, sorted(only.unknown), only.is_complete) == ([], sorted(made_up), True)


@pytest.mark.slow
async def test_ids_that_somebody_made_up_do_not_keep_the_directory_busy(
    own_cluster: Cluster, open_shards: OpenShards
) -> None:
    interval_s = 0.5
    shards = await open_shards(own_cluster, unknown_shard_refresh_s=interval_s)
    await cut_off(shards)
    loads = count_loads(shards)

    async def one(number: int) -> None:
        shard = shards.shard(4 + number)
        with pytest.raises(InvalidId):
            if number % 2:
                await shard.fetch_value(QUERIES.whoami)
            else:
                async with shard.begin():
                    pass
        assert len((await shards.gather(QUERIES.get, [(1 << 40) | (shard.number << 10)])).unknown) == 1

    await asyncio.gather(*map(one, range(300)))
    assert all(after - before >= interval_s for before, after in itertools.pairwise(loads))
    assert 2 <= len(loads) < 300


@pytest.mark.slow
async def test_a_shard_made_a_moment_after_it_was_refused_is_found(
    own_cluster: Cluster, open_shards: OpenShards
) -> None:
    shards = await open_shards(own_cluster)
    await cut_off(shards)
    with pytest.raises(InvalidId):
        await shards.shard(4).fetch_value(QUERIES.whoami)
    await own_cluster.directory.add_shards(1, prepare=make_posts)

    assert await shards.shard(4).fetch_value(QUERIES.whoami)


@pytest.mark.slow
async def test_without_the_directory_an_unknown_id_is_not_called_invalid(
    own_cluster: Cluster, open_shards: OpenShards, caption: str
) -> None:
    shards = await open_shards(own_cluster)
    real = [await shards.shard(n).fetch_value(QUERIES.add, author_id=1, caption=caption) for n in range(4)]
    await cut_off(shards)
    shards._directory._primary.dsn = "postgresql://nobody@127.0.0.1:1/none"

    with pytest.raises(ServerUnavailable, match="the directory does not answer"):
        await shards.shard(4).fetch_value(QUERIES.whoami)
    gathered = await shards.gather(QUERIES.get, [*real, (1 << 40) | (4 << 10)])
    assert {row["id"] for row in gathered} == set(real)
    assert list(gathered.failed) == ["directory"]
    assert gathered.unknown == [(1 << 40) | (4 << 10)]
