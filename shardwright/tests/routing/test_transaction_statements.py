"""What named queries in a transaction are sent as, and SQL of the caller's own beside them."""

import asyncio
import io
from typing import Any, cast

import asyncpg
import pytest
from routing_test_cluster import QUERIES, Cluster, OpenShards

from shardwright.routing import Queries, Shards
from shardwright.topology import fetch_rows, fetch_value

OWN = Queries.parse("""
-- name: path
SELECT current_setting('search_path') AS path;

-- name: add hot
INSERT INTO posts (author_id, caption) VALUES (:author_id, :caption) RETURNING id;

-- name: change
UPDATE posts SET caption = :changed WHERE caption = :caption;

-- name: find hot
SELECT id, caption FROM posts WHERE id = :id;

-- name: count
SELECT count(*) AS posts FROM posts WHERE caption = :caption;
""")
DEFAULT_PATH = '"$user", public'
SHARD_PATH = "s0000, common, shardwright, public"


@pytest.fixture
async def own(cluster: Cluster, open_shards: OpenShards) -> Shards:
    return await open_shards(cluster, queries=OWN, max_connections=1, spare_connections=0)


async def statements(shards: Shards, number: int) -> list[str]:
    (pooled,) = shards.server_for(number).point_pool.connections
    return [row[0] for row in await fetch_rows(pooled.conn, "SELECT statement FROM pg_prepared_statements")]


async def test_named_queries_need_no_search_path(own: Shards, caption: str) -> None:
    for number in (0, 2, 0, 2):
        async with own.shard(number).begin() as transaction:
            new_id = await transaction.fetch_value(OWN.add, author_id=1, caption=caption)
            assert await transaction.execute(OWN.change, caption=caption, changed=f"{caption}!") == 1
            found = await transaction.fetch_one(OWN.find, id=new_id)
            assert tuple(found or ()) == (new_id, f"{caption}!")
            assert await transaction.fetch_value(OWN.path) == DEFAULT_PATH
    sent = await statements(own, 0)

    # Hot: prepared for each shard. Others: one statement for all shards, then prepared for those used again.
    assert sum("INSERT INTO s0000.posts" in sql for sql in sent) == 1
    assert sum("INSERT INTO s0002.posts" in sql for sql in sent) == 1
    assert sum("q_change_" in sql for sql in sent) == 1
    assert sum("UPDATE s0000.posts" in sql for sql in sent) == 1
    assert not any(sql in {OWN.add.sql, OWN.change.sql, OWN.find.sql} for sql in sent)


async def test_a_transaction_and_single_calls_share_their_statements(own: Shards, caption: str) -> None:
    await own.shard(0).fetch_value(OWN.add, author_id=1, caption=caption)
    await own.shard(0).execute(OWN.change, caption=caption, changed=caption)
    before = await statements(own, 0)
    async with own.shard(0).begin() as transaction:
        await transaction.execute(OWN.add, author_id=1, caption=caption)
        await transaction.execute(OWN.change, caption=caption, changed=caption)

    assert await statements(own, 0) == before


async def test_own_sql_sees_the_shard_wherever_it_stands(own: Shards, caption: str) -> None:
    async with own.shard(0).begin() as transaction:
        await transaction.execute(OWN.add, author_id=1, caption=caption)
        assert await transaction.raw.fetch_value("SHOW search_path") == SHARD_PATH
        counted = "SELECT count(*) FROM posts WHERE caption = $1"
        assert await transaction.raw.fetch_value(counted, caption) == 1
        assert await transaction.execute(OWN.change, caption=caption, changed=f"{caption}!") == 1
        new_id = await transaction.fetch_value(OWN.add, author_id=1, caption=caption)
        assert await transaction.fetch_one(OWN.find, id=new_id) is not None
        assert await transaction.fetch_value(OWN.path) == SHARD_PATH
    async with own.shard(0).begin(search_path=True) as transaction:
        assert await transaction.fetch_value(OWN.path) == SHARD_PATH
    async with own.shard(0).begin() as transaction:
        assert await transaction.fetch_value(OWN.path) == DEFAULT_PATH


@pytest.mark.parametrize(
    "method",
    ["execute", "execute_args", "executemany", "fetch", "fetchrow", "fetchval", "prepare", "cursor",
     "copy_records", "copy_in", "copy_out", "copy_query"],
)  # fmt: skip
async def test_every_way_into_the_connection_sees_the_shard(own: Shards, caption: str, method: str) -> None:
    """Each as the first SQL of its transaction."""
    insert = "INSERT INTO posts (author_id, caption) VALUES (1, $1)"
    select = "SELECT count(*) FROM posts WHERE caption = $1"
    file = io.BytesIO()
    async with own.shard(0).begin() as transaction:
        conn = cast("Any", transaction.connection)
        records = {"records": [(1, caption)], "columns": ["author_id", "caption"]}
        source = {"source": io.BytesIO(f"1\t{caption}\n".encode()), "columns": ["author_id", "caption"]}
        match method:
            case "execute":
                await conn.execute("UPDATE posts SET caption = caption WHERE false")
            case "execute_args":
                await conn.execute(insert, caption)
            case "executemany":
                await conn.executemany(insert, [(caption,)])
            case "prepare":
                assert await (await conn.prepare(select)).fetchval(caption) == 0
            case "cursor":
                assert [row[0] async for row in conn.cursor(select, caption)] == [0]
            case "copy_records":
                assert await conn.copy_records_to_table("posts", **records) == "COPY 1"
            case "copy_in":
                assert await conn.copy_to_table("posts", **source) == "COPY 1"
            case "copy_out":
                await conn.copy_from_table("posts", output=file)
            case "copy_query":
                await conn.copy_from_query(select, caption, output=file)
            case _:
                await getattr(conn, method)(select, caption)
        assert await fetch_value(conn, "SHOW search_path") == SHARD_PATH


async def test_a_savepoint_that_is_rolled_back_leaves_own_sql_on_the_shard(own: Shards, caption: str) -> None:
    """ROLLBACK TO SAVEPOINT also undoes a search path that was set since."""
    async with own.shard(0).begin() as transaction:
        for _ in range(2):
            with pytest.raises(asyncpg.DivisionByZeroError):
                async with transaction.savepoint():
                    await transaction.raw.execute("UPDATE posts SET caption = caption WHERE false")
                    await transaction.raw.fetch("SELECT 1 / 0")
            assert await transaction.fetch_value(OWN.count, caption=caption) == 0
        with pytest.raises(asyncpg.DivisionByZeroError):
            async with transaction.savepoint():
                _ = transaction.connection  # not used before the error
                await transaction.raw.fetch("SELECT 1 / 0")
        assert await transaction.raw.fetch_value("SHOW search_path") == SHARD_PATH
        assert (
            await transaction.raw.fetch_value("SELECT count(*) FROM posts WHERE caption = $1", caption) == 0
        )
    assert await own.shard(0).fetch_value(OWN.path) == DEFAULT_PATH


async def test_a_connection_that_was_asked_for_and_not_used_does_not_hide_an_error(
    own: Shards, caption: str
) -> None:
    with pytest.raises(asyncpg.NotNullViolationError):
        async with own.shard(0).begin() as transaction:
            _ = transaction.connection
            await transaction.execute(OWN.add, author_id=None, caption=caption)
    with pytest.raises(asyncpg.NotNullViolationError):
        async with own.shard(0).begin() as transaction:
            await transaction.execute(OWN.add, author_id=1, caption=caption)
            _ = transaction.connection
            async with transaction.savepoint():
                await transaction.execute(OWN.add, author_id=None, caption=caption)

    assert await own.shard(0).fetch_value(OWN.path) == DEFAULT_PATH
    assert await own.shard(0).fetch_value(OWN.count, caption=caption) == 0


@pytest.mark.slow
async def test_a_trigger_that_names_no_schema_works_in_a_transaction(
    own_cluster: Cluster, open_shards: OpenShards, caption: str
) -> None:
    """It needs the search path, so the query runs as it is written, wherever in the transaction it stands."""
    own = await open_shards(own_cluster, queries=OWN, max_connections=1, spare_connections=0)
    await own_cluster.run(
        own.shard(0).server,
        "CREATE TABLE s0000.log (caption text); "
        "CREATE FUNCTION s0000.note() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN INSERT INTO log VALUES (NEW.caption); RETURN NULL; END $$; "
        "CREATE TRIGGER note AFTER INSERT ON s0000.posts FOR EACH ROW EXECUTE FUNCTION s0000.note()",
    )
    async with own.shard(0).begin() as transaction:
        await transaction.execute(OWN.add, author_id=1, caption=caption)
    own.server_for(0).fit.misfits.clear()  # as after ten seconds
    async with own.shard(0).begin() as transaction:
        assert await transaction.fetch_value(OWN.count, caption=caption) == 1
        await transaction.execute(OWN.add, author_id=1, caption=caption)
        assert await transaction.raw.fetch_value("SELECT count(*) FROM log") == 2


@pytest.mark.slow
async def test_columns_that_change_between_transactions_are_followed(
    own_cluster: Cluster, open_shards: OpenShards, caption: str
) -> None:
    own = await open_shards(own_cluster, queries=OWN, max_connections=1, spare_connections=0)
    new_id = await own.shard(0).fetch_value(OWN.add, author_id=1, caption=caption)

    async def read(transaction: Any) -> tuple[Any, ...]:
        assert await transaction.execute(OWN.change, caption=caption, changed=caption) == 1
        return tuple(await transaction.fetch_one(OWN.find, id=new_id) or ())

    for kind in ("text", "varchar(80)", "varchar(90)", "text"):
        await own_cluster.run(own.shard(0).server, f"ALTER TABLE s0000.posts ALTER caption TYPE {kind}")
        assert await own.shard(0).transact(read) == (new_id, caption)
        async with own.shard(0).begin() as transaction:
            found = await transaction.fetch_one(OWN.find, id=new_id)
            assert tuple(found or ()) == (new_id, caption)


@pytest.mark.slow
async def test_a_query_that_only_transactions_use_gets_its_function_in_the_background(
    cluster: Cluster, open_shards: OpenShards, caption: str
) -> None:
    shards = await open_shards(cluster, queries=Queries({}))
    late = Queries.parse(
        f"-- name: late\nSELECT count(*) AS posts FROM posts WHERE caption = '{caption}'\n"
        "-- name: ddl\nCREATE TEMP TABLE scratch (id int) ON COMMIT DROP"
    )

    async def is_dispatched() -> bool:
        async with shards.shard(0).begin() as transaction:
            assert await transaction.execute(late.ddl) == 0
        async with shards.shard(0).begin() as transaction:
            assert await transaction.fetch_value(late.late) == 0
            return await transaction.fetch_value(OWN.path) == DEFAULT_PATH

    while not await is_dispatched():  # noqa: ASYNC110  # installed within a second or two
        await asyncio.sleep(0.05)


async def test_array_types_are_looked_up_once_per_process(cluster: Cluster, open_shards: OpenShards) -> None:
    asked: list[str] = []

    def note(record: Any) -> None:
        asked.append(record.query)

    async def watch(conn: Any) -> None:
        conn.add_query_logger(note)

    for _ in range(3):
        asked.clear()
        shards = await open_shards(cluster, setup=watch)
        await shards.gather(QUERIES.get, [1 << 40])
        async with shards.shard(0).begin() as transaction:
            assert await transaction.fetch(QUERIES.get, ids=[1, 2]) == []
            assert await transaction.raw.fetch_value("SELECT $1::smallint[]", [1, 2]) == [1, 2]

    assert asked
    assert not any("typeinfo_tree" in sql for sql in asked)
