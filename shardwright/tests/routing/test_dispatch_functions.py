"""Dispatch functions: created from the query as PostgreSQL parsed it, one for all shards."""

import asyncio
import contextlib
import json
from datetime import UTC, datetime
from typing import Any

import asyncpg
import pytest
from routing_test_cluster import QUERIES, Cluster, OpenShards

from shardwright.errors import SetupInvalid
from shardwright.routing import Queries, Shards
from shardwright.routing.dispatch_functions import FunctionKey, FunctionKind
from shardwright.routing.function_installer import FunctionInstaller, drop_unused
from shardwright.topology import fetch_value, open_connection

ODD = Queries.parse("""
-- name: casts
SELECT id::text AS "an ""odd"" name", '12:30 :no'::text AS quoted, $q$ $1 :no $q$ AS dollars, :n::numeric(9,2) AS n
FROM posts WHERE id = :id;

-- name: with_write
WITH gone AS (DELETE FROM posts WHERE id = :id RETURNING caption) SELECT g.caption FROM gone AS g;

-- name: upsert
INSERT INTO posts AS p (id, author_id, caption) VALUES (:id, :author_id, :caption)
ON CONFLICT (id) DO UPDATE SET caption = excluded.caption || '+' WHERE p.author_id = :author_id
RETURNING p.id, p.caption, (xmax = 0) AS is_new;

-- name: merge
MERGE INTO posts p USING (SELECT :id::bigint AS id) v ON p.id = v.id
WHEN MATCHED THEN UPDATE SET caption = 'merged' WHEN NOT MATCHED THEN DO NOTHING;

-- name: draw
SELECT next_id() AS id, shardwright.id_shard(next_id()) AS shard;

-- name: draw_many
SELECT n AS id FROM next_ids(:count) AS n;

-- name: arrays
SELECT :texts::text[] AS texts, :json::jsonb AS json, :at::timestamptz AS at;

-- name: lock
SELECT id FROM posts WHERE id = :id FOR UPDATE;

-- name: own_tables
SELECT 's0000.posts'::text AS text, count(*) AS posts FROM posts AS s0000 WHERE s0000.id > 0;

-- name: by_regclass
SELECT 'posts'::regclass::oid = 'posts'::regclass::oid AS same, 'posts'::regclass::text AS name;

-- name: shared
SELECT body FROM shared_notes;
""")


@pytest.fixture
async def odd(cluster: Cluster, open_shards: OpenShards) -> Shards:
    for name in cluster.dsns:
        await cluster.run(
            name,
            "CREATE TABLE IF NOT EXISTS common.shared_notes (body text); "
            f"TRUNCATE common.shared_notes; INSERT INTO common.shared_notes VALUES ('{name}')",
        )
    return await open_shards(cluster, queries=ODD)


async def test_every_kind_of_statement_passes_through(odd: Shards, shards: Shards, caption: str) -> None:
    for number in (0, 5):
        shard = odd.shard(number)
        new_id = await shards.shard(number).fetch_value(QUERIES.add, author_id=1, caption=caption)

        row = await shard.fetch_one(ODD.casts, id=new_id, n=3)
        assert row is not None
        assert tuple(map(str, row.values())) == (str(new_id), "12:30 :no", " $1 :no ", "3.00")
        assert list(row.keys())[0] == 'an "odd" name'  # noqa: RUF015 - the test is about the first key
        upserted = await shard.fetch_one(ODD.upsert, id=new_id, author_id=1, caption="x")
        assert tuple(upserted or ()) == (new_id, "x+", False)
        assert await shard.execute(ODD.merge, id=new_id) == 1
        assert await shard.fetch_value(ODD.lock, id=new_id) == new_id
        assert await shard.fetch_value(ODD.with_write, id=new_id) == "merged"
        assert await shard.fetch(ODD.with_write, id=new_id) == []


async def test_names_of_the_shard_are_those_of_the_shard(odd: Shards) -> None:
    for number in (0, 1, 9):
        shard = odd.shard(number)
        drawn = await shard.fetch_one(ODD.draw)
        assert drawn is not None
        assert (odd.owner(drawn["id"]).number, drawn["shard"]) == (number, number)
        many = await shard.fetch(ODD.draw_many, count=5)
        assert {odd.owner(row["id"]).number for row in many} == {number}
        own = await shard.fetch_one(ODD.own_tables)
        assert own is not None
        assert own["text"] == "s0000.posts"
        named = await shard.fetch_one(ODD.by_regclass)
        assert tuple(named or ()) == (True, f"{shard.schema}.posts")
        assert await shard.fetch_value(ODD.shared) == shard.server


async def test_arguments_keep_their_types(odd: Shards) -> None:
    now = datetime.now(UTC)
    row = await odd.shard(1).fetch_one(ODD.arrays, texts=["a", "b"], json=json.dumps({"c": 1}), at=now)

    assert row is not None
    assert (row["texts"], json.loads(row["json"]), row["at"]) == (["a", "b"], {"c": 1}, now)


async def test_a_read_cannot_write_by_accident(own_cluster: Cluster, open_shards: OpenShards) -> None:
    """Functions of reads are STABLE: PostgreSQL itself refuses a write in them."""
    shards = await open_shards(own_cluster)
    conn = await open_connection(own_cluster.dsns["a"], "a")
    kinds = await fetch_value(
        conn, "SELECT array_agg(DISTINCT provolatile::text) FROM pg_proc WHERE proname LIKE 'q_find%'"
    )
    await conn.close()

    assert kinds == ["s"]
    assert shards.map.owners


@pytest.mark.slow
async def test_a_column_that_changes_its_type_is_followed(
    own_cluster: Cluster, open_shards: OpenShards
) -> None:
    shards = await open_shards(own_cluster)
    for number in range(4):
        new_id = await shards.shard(number).fetch_value(QUERIES.add, author_id=5, caption="x")
        await shards.shard(number).fetch(QUERIES.captions)
        await shards.shard(number).fetch(QUERIES.find_hot, id=new_id)
        await own_cluster.run(
            shards.shard(number).server, f"ALTER TABLE s{number:04d}.posts ALTER caption TYPE varchar(80)"
        )

    for number in range(4):
        assert [row["caption"] for row in await shards.shard(number).fetch(QUERIES.captions)] == ["x"]
        assert await shards.shard(number).fetch(QUERIES.find_hot, id=1) == []
    again = await open_shards(own_cluster)
    assert [row["caption"] for row in await again.shard(2).fetch(QUERIES.captions)] == ["x"]


async def test_a_dropped_function_is_installed_again(own_cluster: Cluster, open_shards: OpenShards) -> None:
    shards = await open_shards(own_cluster)
    await shards.shard(0).fetch_value(QUERIES.whoami)
    drop = (
        "DO $$ DECLARE f text; BEGIN FOR f IN SELECT oid::regprocedure FROM pg_proc WHERE proname ~ '^q_' LOOP "
        "EXECUTE 'DROP FUNCTION ' || f; END LOOP; END $$"
    )
    await own_cluster.run(shards.shard(0).server, drop)

    assert await shards.shard(0).fetch_value(QUERIES.add, author_id=1, caption="x")
    assert await shards.shard(0).fetch_value(QUERIES.whoami)


async def test_unused_functions_are_dropped(own_cluster: Cluster, open_shards: OpenShards) -> None:
    shards = await open_shards(own_cluster)
    old = Queries.parse("-- name: old\nSELECT id AS old FROM posts")
    await shards.shard(0).fetch(old.old)
    server = shards.shard(0).server
    conn = await open_connection(own_cluster.dsns[server], server)
    assert await drop_unused(conn) == 0
    await conn.execute(
        "UPDATE shardwright.dispatch_functions SET asked_at = now() - interval '31 days' WHERE key LIKE '% old %'"
    )
    assert await drop_unused(conn) == 1
    assert await fetch_value(conn, "SELECT count(*) FROM pg_proc WHERE proname LIKE 'q_old_%'") == 0
    await conn.close()

    # A router that still asks simply makes it again.
    assert await shards.shard(0).fetch(old.old) == []


async def test_functions_in_use_are_marked_daily(own_cluster: Cluster, open_shards: OpenShards) -> None:
    shards = await open_shards(own_cluster)
    server = shards.server_for(0)
    conn = await open_connection(own_cluster.dsns[server.server.name], "server")
    await conn.execute("UPDATE shardwright.dispatch_functions SET asked_at = now() - interval '31 days'")
    server._refresh_at = 0.0
    await server.refresh_functions()

    marked = "SELECT count(*) FROM shardwright.dispatch_functions WHERE asked_at > now() - interval '1 hour'"
    assert await fetch_value(conn, marked) == len(QUERIES)
    assert await drop_unused(conn) == 0
    await conn.close()


async def test_types_of_a_single_shard_are_refused(own_cluster: Cluster) -> None:
    directory = await own_cluster.directory.load()
    for number, name in directory.owners.items():
        await own_cluster.run(
            name,
            f"CREATE TYPE s{number:04d}.mood AS ENUM ('sad', 'ok'); "
            f"CREATE TABLE s{number:04d}.moods (mood s{number:04d}.mood)",
        )
    moods = Queries.parse("-- name: moods\nSELECT mood FROM moods")

    with pytest.raises(SetupInvalid, match="create types in `common`"):
        await Shards.open(own_cluster.directory_dsn, queries=[moods])


async def test_types_shared_by_a_server_are_fine(own_cluster: Cluster, open_shards: OpenShards) -> None:
    directory = await own_cluster.directory.load()
    for name in own_cluster.dsns:
        await own_cluster.run(name, "CREATE TYPE common.mood AS ENUM ('sad', 'ok')")
    for number, name in directory.owners.items():
        await own_cluster.run(
            name, f"CREATE TABLE s{number:04d}.moods (mood common.mood, past common.mood[])"
        )
    moods = Queries.parse("-- name: feel\nINSERT INTO moods VALUES (:mood, :past) RETURNING mood, past")
    shards = await open_shards(own_cluster, queries=moods)
    felt: list[Any] = await asyncio.gather(
        *(shards.shard(number).fetch_one(moods.feel, mood="ok", past=["sad"]) for number in range(4))
    )

    assert [tuple(row) for row in felt] == [("ok", ["sad"])] * 4


async def test_a_hot_read_is_prepared_once_per_shard(cluster: Cluster, open_shards: OpenShards) -> None:
    shards = await open_shards(cluster, max_connections=1, spare_connections=0)
    for number in [0, 2, 4, 0, 2, 4] * 2:
        new_id = await shards.shard(number).fetch_value(QUERIES.add, author_id=1, caption="hot")
        assert await shards.shard(number).fetch_one(QUERIES.find_hot, id=new_id) is not None
    pools = {name: pool for name, kind, pool in shards.pools() if kind == "point"}
    held = [
        number
        for pool in pools.values()
        for pooled in pool.connections
        for query, number in pooled.hot
        if query.is_hot
    ]

    assert sorted(held) == [0, 2, 4]


@pytest.mark.slow
async def test_a_statement_rolled_back_for_a_conflict_is_retried(
    own_cluster: Cluster, open_shards: OpenShards
) -> None:
    """Two single statements that deadlock: the victim did not happen, so it may run again."""
    queries = Queries.parse(
        "-- name: cross\nWITH one AS (UPDATE posts SET caption = caption WHERE id = :first RETURNING pg_sleep(0.3)), "
        "two AS (UPDATE posts SET caption = caption || '!' WHERE id = :second AND (SELECT count(*) FROM one) = 1 "
        "RETURNING id) SELECT id FROM two"
    )
    shards = await open_shards(own_cluster)
    shard = shards.shard(0)
    a, b = [await shard.fetch_value(QUERIES.add, author_id=1, caption="x") for _ in range(2)]
    done = await asyncio.gather(
        shard.fetch_value(queries.cross, first=a, second=b),
        shard.fetch_value(queries.cross, first=b, second=a),
    )

    assert sorted(done) == sorted([a, b])
    assert {row["caption"] for row in await shard.fetch(QUERIES.captions)} == {"x!"}
    counted = shards.counts[shard.server].errors
    assert counted["40P01"] >= 1
    with pytest.raises(asyncpg.UniqueViolationError):
        await shard.execute(QUERIES.put, id=a, author_id=1, caption="again")


async def test_a_cancelled_install_leaves_a_connection_that_can_install(cluster: Cluster) -> None:
    conn = await open_connection(cluster.dsns["a"], "a")
    installer, wanted = FunctionInstaller(0), [FunctionKey(ODD.casts, FunctionKind.POINT)]
    for turns in range(12):  # somewhere between the first word and the last
        installing = asyncio.create_task(installer.install(conn, wanted))
        for _ in range(turns):
            await asyncio.sleep(0 if turns < 4 else 0.001)
        installing.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await installing
        await conn.execute("ROLLBACK")  # as whoever lent the connection does

        assert set(await installer.install(conn, wanted)) == set(wanted)
    await conn.close()
