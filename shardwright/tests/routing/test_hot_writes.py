"""Hot writes: one round trip, prepared once per connection and shard, with the safety of every other write."""

import asyncio

import asyncpg
import pytest
from routing_test_cluster import Cluster, OpenShards

from shardwright.routing import OutcomeUnknown, Queries, Shards
from shardwright.topology import fetch_rows, fetch_value, open_connection

HOT = Queries.parse("""
-- name: add hot
INSERT INTO posts (author_id, caption) VALUES (:author_id, :caption) RETURNING id, caption;

-- name: add_many hot
INSERT INTO posts (author_id, caption) SELECT n, :caption FROM generate_series(1, :count) AS n;

-- name: change hot
UPDATE posts SET caption = :changed WHERE caption = :caption;

-- name: remove_and_copy hot
-- Three changes, one statement: none of them without the others.
WITH gone AS (DELETE FROM posts WHERE caption = :caption RETURNING author_id),
  copied AS (INSERT INTO posts (author_id, caption) SELECT author_id, :caption || '!' FROM gone RETURNING id)
SELECT (SELECT count(*) FROM gone) AS gone, (SELECT count(*) FROM copied) AS copied;

-- name: slow_add hot
INSERT INTO posts (author_id, caption) SELECT 1, :caption FROM pg_sleep(:seconds) RETURNING id;

-- name: find
SELECT id, author_id FROM posts WHERE caption = :caption;

-- name: whoami
SELECT pg_backend_pid() AS pid;
""")

ALWAYS = {"max_connections": 1, "spare_connections": 0}


async def prepared(shards: Shards, number: int) -> list[str]:
    """The statements that the backend of the shard's only connection keeps for one shard each."""
    (pooled,) = shards.server_for(number).point_pool.connections
    rows = await fetch_rows(
        pooled.conn, r"SELECT statement FROM pg_prepared_statements WHERE statement ~ '\ms\d{4}\.'"
    )
    return [row["statement"] for row in rows]


@pytest.mark.parametrize("hot_bytes", [0, 1 << 20])
async def test_rows_and_counts_are_those_of_other_writes(
    cluster: Cluster, open_shards: OpenShards, caption: str, hot_bytes: int
) -> None:
    """The same through the dispatch function, where nothing may be kept prepared."""
    shards = await open_shards(cluster, queries=HOT, hot_bytes=hot_bytes)
    for number in (0, 1, 0, 1):
        shard = shards.shard(number)
        added = await shard.fetch_one(HOT.add, author_id=1, caption=caption)
        assert added is not None
        assert (shards.owner(added["id"]).number, added["caption"]) == (number, caption)
        assert await shard.execute(HOT.add, author_id=2, caption=caption) == 1
        assert await shard.execute(HOT.add_many, count=3, caption=caption) == 3
        assert await shard.fetch(HOT.add_many, count=0, caption=caption) == []
        assert await shard.fetch_one(HOT.add_many, count=0, caption=caption) is None
        assert await shard.fetch_value(HOT.add_many, count=1, caption=caption) is None
        assert await shard.execute(HOT.change, caption="nobody's", changed="x") == 0
        both = await shard.fetch_one(HOT.remove_and_copy, caption=caption)
        assert tuple(both or ()) == (6, 6)
        assert await shard.execute(HOT.change, caption=f"{caption}!", changed="gone") == 6


async def test_a_hot_write_is_prepared_once_per_shard(
    cluster: Cluster, open_shards: OpenShards, caption: str
) -> None:
    shards = await open_shards(cluster, queries=HOT, **ALWAYS)
    for number in [0, 2, 0, 2, 0]:
        await shards.shard(number).execute(HOT.change, caption=caption, changed=caption)

    statements = await prepared(shards, 0)
    assert len(statements) == 2
    assert {statement.split(".")[0].split()[-1] for statement in statements} == {"s0000", "s0002"}


@pytest.mark.parametrize("is_in_transaction", [False, True])
async def test_a_write_runs_to_its_end_when_one_row_is_wanted(
    cluster: Cluster, open_shards: OpenShards, *, is_in_transaction: bool
) -> None:
    """PostgreSQL stops a SELECT after the rows asked for, also one whose function has side effects."""
    for name in cluster.dsns:
        await cluster.run(name, "CREATE SEQUENCE IF NOT EXISTS common.counted")
    queries = Queries.parse(
        "-- name: draw hot writes\nSELECT nextval('common.counted') AS n FROM generate_series(1, :count)"
    )
    shards = await open_shards(cluster, queries=queries)

    async def draw(count: int) -> int:
        if not is_in_transaction:
            return await shards.shard(0).fetch_value(queries.draw, count=count)
        async with shards.shard(0).begin() as transaction:
            return await transaction.fetch_value(queries.draw, count=count)

    first = await draw(50)

    assert await draw(1) == first + 50


async def test_the_hook_gets_the_server_that_has_committed(
    cluster: Cluster, open_shards: OpenShards, caption: str
) -> None:
    shards = await open_shards(cluster, queries=HOT)
    told: list[tuple[str, int]] = []

    async def hook(server: str) -> None:
        told.append((server, len(await shards.shard(1).fetch(HOT.find, caption=caption))))
        raise RuntimeError("the write stands all the same")

    await shards.shard(1).execute(HOT.add, author_id=1, caption=caption, after_commit=hook)
    await shards.shard(1).fetch_value(HOT.add, author_id=1, caption=caption, after_commit=hook, deadline_s=5)
    with pytest.raises(asyncpg.NotNullViolationError):
        await shards.shard(1).execute(HOT.add, author_id=None, caption=caption, after_commit=hook)

    assert told == [(shards.shard(1).server, 1), (shards.shard(1).server, 2)]


@pytest.mark.slow
async def test_a_refused_hot_write_follows_its_shard(
    own_cluster: Cluster, open_shards: OpenShards, caption: str
) -> None:
    shards = await open_shards(own_cluster, queries=HOT, poll_s=3600, **ALWAYS)
    shard = shards.shard(2)
    source, target = shard.server, {"a": "b", "b": "a"}[shard.server]
    before = await shard.fetch_value(HOT.add, author_id=1, caption=caption)
    await own_cluster.prepare_move(2, target)
    await own_cluster.set_owned(source, 2, owned=False)
    told: list[str] = []

    async def hook(server: str) -> None:
        told.append(server)

    write = asyncio.create_task(shard.fetch_value(HOT.add, author_id=2, caption=caption, after_commit=hook))
    while not shards.counts[source].errors["SW001"]:  # noqa: ASYNC110  # refused by the old owner
        await asyncio.sleep(0.005)
    await own_cluster.set_owned(target, 2, owned=True)
    await own_cluster.flip_map(2, target)
    new_id = await write

    assert told == [shard.server] == [target]
    rows: dict[str, list[int]] = {}
    for server in (source, target):
        conn = await open_connection(own_cluster.dsns[server], server)
        rows[server] = [row["id"] for row in await fetch_rows(conn, "SELECT id FROM s0002.posts")]
        await conn.close()
    assert rows == {source: [before], target: [new_id]}


async def test_a_hot_write_is_not_retried_when_its_connection_is_lost(
    cluster: Cluster, open_shards: OpenShards, caption: str
) -> None:
    shards = await open_shards(cluster, queries=HOT)
    shard = shards.shard(0)
    write = asyncio.create_task(shard.fetch_value(HOT.slow_add, seconds=30.0, caption=caption))
    conn = await open_connection(cluster.dsns[shard.server], shard.server)
    ours = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep' "
        "AND query LIKE '%pg_sleep%' AND query LIKE 'INSERT INTO s0000.posts%'"
    )
    while not await fetch_value(conn, ours):  # noqa: ASYNC110  # waits for the server, not for us
        await asyncio.sleep(0.01)
    await conn.close()

    with pytest.raises(OutcomeUnknown, match="slow_add was sent to shard 0"):
        await write
    assert await shard.fetch(HOT.find, caption=caption) == []


async def test_a_backend_killed_between_two_writes_costs_nothing(
    cluster: Cluster, open_shards: OpenShards, caption: str
) -> None:
    shards = await open_shards(cluster, queries=HOT, **ALWAYS)
    shard = shards.shard(0)
    await shard.execute(HOT.add, author_id=1, caption=caption)
    pid = await shard.fetch_value(HOT.whoami)
    await cluster.run(shard.server, f"SELECT pg_terminate_backend({pid}, 5000)")

    assert await shard.execute(HOT.add, author_id=2, caption=caption) == 1
    assert sorted(row["author_id"] for row in await shard.fetch(HOT.find, caption=caption)) == [1, 2]
    assert await shard.fetch_value(HOT.whoami) != pid


@pytest.mark.slow
async def test_a_hot_write_follows_a_column_that_changes_its_type(
    own_cluster: Cluster, open_shards: OpenShards, caption: str
) -> None:
    shards = await open_shards(own_cluster, queries=HOT, **ALWAYS)
    for number in range(4):
        await shards.shard(number).execute(HOT.add, author_id=1, caption=caption)
        await shards.shard(number).execute(HOT.change, caption="nobody's", changed="x")
        await own_cluster.run(
            shards.shard(number).server,
            f"ALTER TABLE s{number:04d}.posts ALTER caption TYPE varchar(80), ADD COLUMN place text",
        )

    for number in range(4):
        added = await shards.shard(number).fetch_one(HOT.add, author_id=2, caption=caption)
        assert added is not None
        assert await shards.shard(number).execute(HOT.change, caption=caption, changed="x") == 2


async def test_rows_that_cannot_be_decoded_are_no_reason_to_write_twice(
    own_cluster: Cluster, open_shards: OpenShards
) -> None:
    """asyncpg notices a composite type that has grown when it reads the row: the statement is committed by then."""
    for name in own_cluster.dsns:
        await own_cluster.run(name, "CREATE TYPE common.pair AS (a integer, b integer)")
    queries = Queries.parse(
        "-- name: add_pair hot\nINSERT INTO posts (author_id, caption) VALUES (1, 'x') "
        'RETURNING id, json_populate_record(NULL::common.pair, \'{"a": 1, "b": 2}\') AS pair;\n'
        "-- name: find\nSELECT id FROM posts"
    )
    shards = await open_shards(own_cluster, queries=queries, **ALWAYS)
    shard = shards.shard(0)
    await shard.execute(queries.add_pair)
    await own_cluster.run(shard.server, "ALTER TYPE common.pair ADD ATTRIBUTE c text")

    with pytest.raises(OutcomeUnknown, match="add_pair was sent to shard 0"):
        await shard.execute(queries.add_pair)
    assert len(await shard.fetch(queries.find)) == 2
    again = await shard.fetch_one(queries.add_pair)
    assert again is not None
    assert tuple(again["pair"]) == (1, 2, None)


async def test_prepared_statements_stay_within_their_memory(
    cluster: Cluster, open_shards: OpenShards, caption: str
) -> None:
    """With room for a few, those that are used most are kept, and every call is answered."""
    room = 40_000
    shards = await open_shards(cluster, queries=HOT, hot_bytes=room, **ALWAYS)
    numbers = shards.map.shards_on(shards.shard(0).server)
    for _ in range(3):
        for number in numbers:
            assert await shards.shard(number).execute(HOT.add_many, count=2, caption=caption) == 2
            assert await shards.shard(0).execute(HOT.change, caption="nobody's", changed="x") == 0

    (pooled,) = shards.server_for(0).point_pool.connections
    assert pooled.hot.size_bytes <= room
    assert (HOT.change, 0) in list(pooled.hot)
    # One that was evicted is closed when the next is prepared.
    kept = len(pooled.hot)
    assert 1 <= kept < len(numbers)
    assert kept <= len(await prepared(shards, 0)) <= kept + 1


async def test_many_hot_writes_at_once_count_right(
    cluster: Cluster, open_shards: OpenShards, caption: str
) -> None:
    shards = await open_shards(cluster, queries=HOT, max_connections=4, hot_bytes=60_000)

    async def write(number: int) -> int:
        return await shards.shard(number % 16).execute(HOT.add_many, count=number % 3, caption=caption)

    assert await asyncio.gather(*map(write, range(200))) == [number % 3 for number in range(200)]
