"""Routing by id, by lookup key and to all shards."""

import asyncio
import re
from pathlib import Path

import asyncpg
import pytest
from prometheus_client import CollectorRegistry
from routing_test_cluster import QUERIES, Cluster, OpenShards, make_posts

from shardwright.errors import InvalidId, ServerUnavailable, SetupInvalid, ShardKeyMissing
from shardwright.routing import Queries, Shards
from shardwright.topology import fetch_value, open_connection


async def test_a_row_is_found_by_its_id_alone(shards: Shards, caption: str) -> None:
    made = [await shards.place().fetch_value(QUERIES.add, author_id=7, caption=caption) for _ in range(30)]

    for new_id in made:
        for query in (QUERIES.find, QUERIES.find_hot):
            row = await shards.owner(new_id).fetch_one(query, id=new_id)
            assert row is not None
            assert dict(row) == {"id": new_id, "author_id": 7, "caption": caption}
    assert len({shards.owner(new_id).server for new_id in made}) == 2


async def test_a_missing_row_is_none(shards: Shards) -> None:
    assert await shards.shard(3).fetch_one(QUERIES.find, id=1) is None
    assert await shards.shard(3).fetch_value(QUERIES.find, id=1) is None
    assert await shards.shard(3).fetch(QUERIES.find, id=1) == []


async def test_a_write_without_returning_gives_the_number_of_changed_rows(
    shards: Shards, caption: str
) -> None:
    shard = shards.shard(2)
    new_id = await shard.fetch_value(QUERIES.add, author_id=1, caption=caption)

    assert await shard.execute(QUERIES.change, id=new_id, caption=caption) == 1
    assert await shard.execute(QUERIES.change, id=1, caption=caption) == 0
    assert await shard.fetch(QUERIES.change, id=new_id, caption=caption) == []
    assert await shard.fetch_value(QUERIES.change, id=new_id, caption=caption) is None
    assert await shard.execute(QUERIES.find, id=new_id) == 1


async def test_a_key_is_always_on_the_same_shard(shards: Shards) -> None:
    assert [shards.of(key).number for key in ("ana", b"ana", "bo")] == [15, 15, shards.of("bo").number]


async def test_legacy_ids_are_on_shard_zero(shards: Shards) -> None:
    assert shards.owner(12).number == 0
    assert shards.owner(2**31 - 1).number == 0


@pytest.mark.slow
async def test_an_id_of_an_unknown_shard_is_refused(shards: Shards) -> None:
    with pytest.raises(InvalidId):
        shards.owner(-5)
    with pytest.raises(InvalidId):
        shards.owner(1 << 63)
    with pytest.raises(InvalidId):
        shards.shard(8192)
    with pytest.raises(InvalidId, match="shard 4000 is not in the map"):
        await shards.owner((1 << 40) | (4000 << 10)).fetch_value(QUERIES.whoami)
    with pytest.raises(InvalidId, match="shard 16 is not in the map"):
        async with shards.shard(16).begin():
            pass


async def test_a_statement_without_a_shard_is_refused(shards: Shards) -> None:
    for method in (shards.fetch, shards.fetch_one, shards.fetch_value, shards.execute):
        with pytest.raises(ShardKeyMissing, match="everywhere"):
            await method(QUERIES.captions)


async def test_everywhere_reads_every_shard_and_is_counted(cluster: Cluster, open_shards: OpenShards) -> None:
    registry = CollectorRegistry()
    shards = await open_shards(cluster, registry=registry)
    whoami = await shards.everywhere().fetch(QUERIES.whoami)

    assert sorted(row["shard_number"] for row in whoami) == list(range(16))
    assert registry.get_sample_value("shardwright_everywhere_total") == 1


async def test_everywhere_writes_shard_by_shard(
    own_cluster: Cluster, open_shards: OpenShards, caption: str
) -> None:
    shards = await open_shards(own_cluster)
    with pytest.raises(ShardKeyMissing, match="use execute"):
        await shards.everywhere().fetch(QUERIES.add, author_id=1, caption=caption)
    made = await shards.everywhere().execute(QUERIES.add, author_id=1, caption=caption)

    assert sorted(shards.owner(row["id"]).number for row in made) == [0, 1, 2, 3]
    found = await shards.everywhere().fetch(QUERIES.captions)
    assert [row["caption"] for row in found] == [caption] * 4


async def test_queries_whose_tables_come_later_are_installed_at_first_use(
    own_cluster: Cluster, open_shards: OpenShards
) -> None:
    queries = Queries.parse("-- name: later\nSELECT count(*) AS number FROM later;")
    shards = await open_shards(own_cluster, queries=queries)
    shard = shards.shard(0)
    with pytest.raises(asyncpg.UndefinedTableError):
        await shard.fetch_value(queries.later)
    for number in range(4):
        await own_cluster.run(shards.shard(number).server, f"CREATE TABLE s{number:04d}.later (id bigint)")

    assert await shard.fetch_value(queries.later) == 0


@pytest.mark.slow
async def test_a_query_that_cannot_work_fails_when_opening(cluster: Cluster) -> None:
    for sql in ("SELECT FROM FROM posts", "SELECT id, id FROM posts", "SELECT 1 + 1"):
        with pytest.raises((asyncpg.PostgresSyntaxError, SetupInvalid)):
            await Shards.open(cluster.directory_dsn, queries=[Queries.parse(f"-- name: bad\n{sql}")])


@pytest.mark.slow
async def test_many_routers_install_at_once(own_cluster: Cluster) -> None:
    routers = await asyncio.gather(
        *(Shards.open(own_cluster.directory_dsn, queries=[QUERIES]) for _ in range(6))
    )
    conn = await open_connection(own_cluster.dsns["a"], "a")
    functions = await fetch_value(conn, "SELECT count(*) FROM pg_proc WHERE proname ~ '^q_.*_[0-9a-f]{16}$'")
    await conn.close()

    assert functions == len(QUERIES)
    for router in routers:
        await router.close()


async def test_a_router_opens_while_a_server_is_down(cluster: Cluster, open_shards: OpenShards) -> None:
    away = {"b": "postgresql://nobody@127.0.0.1:9/none"}
    shards = await open_shards(cluster, dsns=away, breaker_failures=100)
    on_b = next(shards.shard(number) for number in range(16) if shards.shard(number).server == "b")
    on_a = next(shards.shard(number) for number in range(16) if shards.shard(number).server == "a")

    assert await on_a.fetch_value(QUERIES.whoami)
    with pytest.raises(ServerUnavailable):
        await on_b.fetch_value(QUERIES.whoami)


async def test_an_address_that_leads_to_another_server_is_refused(cluster: Cluster) -> None:
    with pytest.raises(SetupInvalid, match="leads to server a"):
        await Shards.open(cluster.directory_dsn, queries=[QUERIES], dsns={"b": cluster.dsns["a"]})


async def test_calls_rows_and_errors_are_counted_by_server(cluster: Cluster, open_shards: OpenShards) -> None:
    registry = CollectorRegistry()
    shards = await open_shards(cluster, registry=registry)
    shard = shards.shard(3)
    new_id = await shard.fetch_value(QUERIES.add, author_id=1, caption="counted")
    with pytest.raises(asyncpg.UniqueViolationError):
        await shard.execute(QUERIES.put, id=new_id, author_id=1, caption="again")
    label = {"server": shard.server}

    assert registry.get_sample_value("shardwright_calls_total", label) == 2
    assert registry.get_sample_value("shardwright_rows_total", label) == 1
    assert registry.get_sample_value("shardwright_errors_total", label | {"kind": "23505"}) == 1
    assert (registry.get_sample_value("shardwright_connections", label | {"pool": "point"}) or 0) >= 1
    # A second one where this call was the first to create the functions.
    assert registry.get_sample_value("shardwright_shards_touched", label | {"pool": "point"}) in {1, 2}
    await shards.close()
    assert registry.get_sample_value("shardwright_calls_total", label) is None


async def test_the_page_lists_every_metric(cluster: Cluster, open_shards: OpenShards) -> None:
    registry = CollectorRegistry()
    await open_shards(cluster, registry=registry)
    page = (Path(__file__).parents[2] / "docs" / "routing.md").read_text()
    listed = re.findall(r"^\| `(shardwright_\w+)` \| (\w+) \| [^|]+ \| (.+) \|$", page, re.MULTILINE)

    exposed = [
        (f"{each.name}_total" if each.type == "counter" else each.name, each.type, each.documentation)
        for each in registry.collect()
    ]
    assert sorted(listed) == sorted(exposed)


async def test_arguments_of_the_wrong_type_leave_the_connection_usable(shards: Shards) -> None:
    shard = shards.shard(0)
    pid = await shard.fetch_value(QUERIES.whoami)
    with pytest.raises(asyncpg.DataError):
        await shard.fetch_one(QUERIES.find, id="not a number")

    assert await shard.fetch_value(QUERIES.whoami) == pid


@pytest.mark.slow
async def test_shards_added_later_are_reached_without_reopening(
    own_cluster: Cluster, open_shards: OpenShards, caption: str
) -> None:
    shards = await open_shards(own_cluster)
    await own_cluster.directory.add_shards(2, prepare=make_posts)
    async with asyncio.timeout(20):
        while 5 not in shards.map.owners:  # noqa: ASYNC110  # the router tells nobody that it learned
            await asyncio.sleep(0.01)

    new_id = await shards.shard(5).fetch_value(QUERIES.add, author_id=1, caption=caption)
    assert shards.owner(new_id).number == 5


async def test_a_hot_query_may_unpack_a_list(shards: Shards, caption: str) -> None:
    shard = shards.shard(1)
    made = [await shard.fetch_value(QUERIES.add, author_id=1, caption=caption) for _ in range(3)]

    assert sorted(row["id"] for row in await shard.fetch(QUERIES.list_hot, ids=[*made, 1])) == made
