"""Scatter-gather: rows of many shards, and partial results when a server does not answer."""

import asyncio
import gc
import warnings
from typing import Any

import asyncpg
import pytest
from routing_test_cluster import QUERIES, Cluster, OpenShards

from shardwright.errors import SetupInvalid
from shardwright.routing import PartialResult, Queries, Shards


async def add_everywhere(shards: Shards, caption: str) -> list[int]:
    return [
        await shards.shard(number).fetch_value(QUERIES.add, author_id=1, caption=caption)
        for number in [*range(16), 3, 3, 7]
    ]


@pytest.mark.parametrize("name", ["get", "get_hot"])
async def test_rows_of_all_shards_come_back(shards: Shards, caption: str, name: str) -> None:
    ids = await add_everywhere(shards, caption)
    params: dict[str, Any] = {"except": "nothing"} if name == "get_hot" else {}
    gathered = await shards.gather(getattr(QUERIES, name), ids, **params)

    assert gathered.is_complete
    assert sorted(row["id"] for row in gathered) == sorted(ids)
    assert {row["caption"] for row in gathered.complete()} == {caption}


async def test_each_server_gets_one_statement(shards: Shards, caption: str) -> None:
    ids = await add_everywhere(shards, caption)
    await shards.gather(QUERIES.get, ids)
    before = {name: counts.calls for name, counts in shards.counts.items()}
    await shards.gather(QUERIES.get, ids)

    assert {name: counts.calls - before[name] for name, counts in shards.counts.items()} == {"a": 1, "b": 1}


async def test_gathering_no_ids_sends_nothing(shards: Shards) -> None:
    before = {name: counts.calls for name, counts in shards.counts.items()}

    assert len(await shards.gather(QUERIES.get, [])) == 0
    assert {name: counts.calls for name, counts in shards.counts.items()} == before


async def test_ids_that_do_not_exist_are_left_out(shards: Shards, caption: str) -> None:
    new_id = await shards.shard(4).fetch_value(QUERIES.add, author_id=1, caption=caption)
    gathered = await shards.gather(QUERIES.get, [new_id, new_id + 1, 5, new_id])

    assert [row["id"] for row in gathered] == [new_id]


@pytest.mark.slow
async def test_many_gathers_at_once_get_their_own_rows(shards: Shards, caption: str) -> None:
    ids = await add_everywhere(shards, caption)

    async def one(new_id: int) -> bool:
        found = await shards.gather(QUERIES.get, [new_id, ids[0]])
        return {row["id"] for row in found} == {new_id, ids[0]}

    assert all(await asyncio.gather(*(one(new_id) for new_id in ids * 10)))


async def test_only_reads_with_ids_can_gather(cluster: Cluster) -> None:
    queries = Queries.parse(
        "-- name: no_ids\nSELECT id FROM posts;\n"
        "-- name: one_id\nSELECT id FROM posts WHERE id = :ids;\n"
        "-- name: writing\nUPDATE posts SET author_id = 1 WHERE id = ANY(:ids) RETURNING id;\n"
    )
    async with await Shards.open(cluster.directory_dsn, queries=[queries]) as shards:
        for query in (queries.no_ids, queries.one_id, queries.writing):
            with pytest.raises(SetupInvalid):
                await shards.gather(query, [1 << 40])


async def test_an_invalid_statement_raises_instead_of_giving_a_partial_result(
    own_cluster: Cluster, open_shards: OpenShards
) -> None:
    queries = Queries.parse("-- name: divide\nSELECT id / 0 AS x FROM posts WHERE id = ANY(:ids)")
    shards = await open_shards(own_cluster)
    ids = [await shards.shard(n).fetch_value(QUERIES.add, author_id=1, caption="x") for n in range(4)]

    with pytest.raises(asyncpg.DivisionByZeroError):
        await shards.gather(queries.divide, ids)


@pytest.mark.slow
async def test_a_late_server_does_not_lose_the_other_rows(shards: Shards, caption: str) -> None:
    ids = await add_everywhere(shards, caption)
    late = [new_id for new_id in ids if shards.owner(new_id).server == "b"]
    queries = Queries.parse(
        "-- name: slowly\nSELECT p.id FROM posts p "
        "WHERE p.id = ANY(:ids) AND (p.id < :late OR pg_sleep(30) IS NOT NULL)"
    )
    # Ids of one shard compare by time: the sleeping row is the newest of all, on one server.
    newest = max(late)
    gathered = await shards.gather(
        queries.slowly, [i for i in ids if i < newest] + [newest], deadline_s=0.5, late=newest
    )

    assert list(gathered.failed) == ["b"]
    assert {row["id"] for row in gathered} == {new_id for new_id in ids if shards.owner(new_id).server == "a"}
    with pytest.raises(PartialResult, match="no answer from b"):
        gathered.complete()
    assert len(await shards.gather(QUERIES.get, ids)) == len(ids)


@pytest.mark.slow
async def test_a_gather_cancelled_before_it_starts_leaves_nothing_running(
    shards: Shards, caption: str
) -> None:
    ids = await add_everywhere(shards, caption)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        asking = asyncio.create_task(shards.gather(QUERIES.get, ids))
        await asyncio.sleep(0)  # the gather has made its parts, none of which has begun
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        gc.collect()

    assert [str(each.message) for each in seen if "never awaited" in str(each.message)] == []
    assert len(await shards.gather(QUERIES.get, ids)) == len(ids)
