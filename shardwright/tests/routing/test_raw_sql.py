"""SQL of the caller's own on a shard: statements, executemany and COPY."""

import asyncio
import io
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import asyncpg
import pytest
from pgbouncer import run_pgbouncer
from routing_test_cluster import QUERIES, Cluster, OpenShards

from shardwright.errors import NotOwner, ServerUnavailable, SetupInvalid
from shardwright.routing import DeadlineExceeded, Shards, ShardSql, TransactionLost
from shardwright.topology import fetch_rows, open_connection

ADD = "INSERT INTO posts (author_id, caption) VALUES ($1, $2)"
CAPTIONS = "SELECT caption FROM posts WHERE author_id = $1 ORDER BY caption"
PATH = "s0003, common, shardwright, public"


def other(server: str) -> str:
    return {"a": "b", "b": "a"}[server]


async def captions(shards: Shards, number: int, author_id: int) -> list[str]:
    return [row["caption"] for row in await shards.shard(number).raw.fetch(CAPTIONS, author_id)]


async def test_statements_run_in_the_shards_own_schema(shards: Shards) -> None:
    for number in (0, 1, 15):
        raw = shards.shard(number).raw
        assert await raw.execute(ADD, 901, f"raw {number}") == "INSERT 0 1"
        new_id = await raw.fetch_value("SELECT id FROM posts WHERE author_id = 901")
        assert shards.owner(new_id).number == number
        row = await raw.fetch_one(
            "SELECT caption, current_schema() AS schema FROM posts WHERE id = $1", new_id
        )
        assert row is not None
        assert tuple(row) == (f"raw {number}", f"s{number:04d}")
        assert await raw.fetch_one("SELECT 1 WHERE false") is None
        assert await raw.fetch_value("SELECT 1 WHERE false") is None


async def test_a_script_of_several_statements_is_one_transaction(shards: Shards) -> None:
    script = "INSERT INTO posts VALUES (1, 902, 'a'); INSERT INTO posts VALUES (1, 902, 'again')"
    with pytest.raises(asyncpg.UniqueViolationError):
        await shards.shard(2).raw.execute(script)

    assert await captions(shards, 2, 902) == []


async def test_executemany_and_copy_take_all_or_nothing(shards: Shards, tmp_path: Path) -> None:
    raw = shards.shard(3).raw
    await raw.executemany(ADD, [(903, "many 1"), (903, "many 2")])
    status = await raw.copy_records_to_table(
        "posts", records=[(903, "record 1"), (903, "record 2")], columns=["author_id", "caption"]
    )
    assert status == "COPY 2"
    (tmp_path / "posts.csv").write_text("903,file 1\n")
    for source in (str(tmp_path / "posts.csv"), io.BytesIO(b"903,file 2\n"), chunks(b"903,", b"file 3\n")):
        await raw.copy_to_table("posts", source=source, columns=["author_id", "caption"], format="csv")
    with pytest.raises(asyncpg.NotNullViolationError):
        await raw.copy_records_to_table(
            "posts", records=[(903, "no"), (903, None)], columns=["author_id", "caption"]
        )

    expected = ["file 1", "file 2", "file 3", "many 1", "many 2", "record 1", "record 2"]
    assert await captions(shards, 3, 903) == expected
    out = io.BytesIO()
    await raw.copy_from_query("SELECT caption FROM posts WHERE author_id = $1 ORDER BY 1", 903, output=out)
    assert out.getvalue().decode().split("\n")[:-1] == expected
    table = io.BytesIO()
    await raw.copy_from_table("posts", output=table, columns=["caption"])
    assert set(expected) <= set(table.getvalue().decode().split("\n"))


async def chunks(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


async def test_it_is_part_of_a_transaction(shards: Shards) -> None:
    with pytest.raises(RuntimeError):
        async with shards.shard(4).begin() as transaction:
            await transaction.execute(QUERIES.add, author_id=904, caption="named")
            await transaction.raw.executemany(ADD, [(904, "raw")])
            assert [row["caption"] for row in await transaction.raw.fetch(CAPTIONS, 904)] == ["named", "raw"]
            raise RuntimeError

    assert await captions(shards, 4, 904) == []


async def test_ending_the_transaction_is_refused(shards: Shards) -> None:
    with pytest.raises(SetupInvalid, match="leave out COMMIT"):
        await shards.shard(4).raw.execute("COMMIT; SET search_path = pg_catalog")

    assert await shards.shard(3).raw.fetch_value("SHOW search_path") == PATH


async def test_an_error_that_was_swallowed_loses_the_transaction(shards: Shards) -> None:
    with pytest.raises(TransactionLost):
        async with shards.shard(4).begin() as transaction:
            with pytest.raises(asyncpg.DivisionByZeroError):
                await transaction.raw.fetch("SELECT 1 / 0")


@pytest.mark.slow
async def test_a_timeout_of_ones_own_is_enforced(cluster: Cluster, open_shards: OpenShards) -> None:
    shards = await open_shards(cluster, statement_timeout_s=0.3)
    assert await shards.shard(0).raw.fetch_value("SELECT 1 FROM pg_sleep(0.5)", timeout_s=20) == 1
    with pytest.raises((DeadlineExceeded, asyncpg.QueryCanceledError)):
        await shards.shard(0).raw.fetch("SELECT pg_sleep(60)")
    with pytest.raises((DeadlineExceeded, asyncpg.QueryCanceledError)):
        await shards.shard(0).raw.fetch("SELECT pg_sleep(60)", timeout_s=0.1)
    assert await shards.shard(0).raw.fetch_value("SELECT 1") == 1


async def test_session_state_reaches_no_other_statement(cluster: Cluster, open_shards: OpenShards) -> None:
    shards = await open_shards(cluster, max_connections=1, spare_connections=0)
    pid = await shards.shard(3).raw.fetch_value("SELECT pg_backend_pid()")
    server = shards.shard(3).server
    await shards.shard(3).raw.execute("SET search_path = pg_catalog; SET statement_timeout = 77")
    for number in shards.map.shards_on(server):
        assert await shards.shard(number).raw.fetch_value("SELECT current_schema()") == f"s{number:04d}"
        assert await shards.shard(number).fetch_value(QUERIES.whoami) == pid
        assert await shards.shard(number).raw.fetch_value("SHOW statement_timeout") == "10s"


async def test_a_cancelled_statement_leaves_nothing_behind(
    cluster: Cluster, shards: Shards, open_shards: OpenShards
) -> None:
    own = await open_shards(cluster, max_connections=1, spare_connections=0)

    async def nap() -> None:
        async with own.shard(1).begin() as transaction:
            await transaction.raw.execute("SET search_path = pg_catalog")
            await transaction.raw.execute(ADD.replace("posts", "s0001.posts"), 905, "cancelled")
            await transaction.raw.fetch("SELECT pg_sleep(60)")

    task = asyncio.create_task(nap())
    while not await shards.shard(1).fetch_value(QUERIES.count_naps):  # noqa: ASYNC110 - waits for the server, not for us
        await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert await own.shard(1).raw.fetch_value("SELECT current_schema()") == "s0001"
    assert await captions(shards, 1, 905) == []


async def test_shards_of_different_columns_share_a_connection(
    own_cluster: Cluster, open_shards: OpenShards
) -> None:
    shards = await open_shards(own_cluster, max_connections=1, spare_connections=0)
    await own_cluster.run("a", "ALTER TABLE s0002.posts ADD COLUMN likes integer DEFAULT 3")
    for number in (0, 2, 0, 2):
        await shards.shard(number).raw.execute(ADD, 1, "x")
        rows = await shards.shard(number).raw.fetch("SELECT * FROM posts")
        assert ("likes" in rows[0]) == (number == 2)
    await own_cluster.run("a", "ALTER TABLE s0002.posts ADD COLUMN more integer DEFAULT 4")
    assert "more" in (await shards.shard(2).raw.fetch("SELECT * FROM posts"))[0]


async def move(cluster: Cluster, shards: Shards, number: int) -> None:
    """Move an empty shard while the router hears of nothing."""
    source = shards.shard(number).server
    await cluster.prepare_move(number, other(source))
    await shards._directory.close()
    await cluster.set_owned(source, number, owned=False)
    await cluster.set_owned(other(source), number, owned=True)
    await cluster.flip_map(number, other(source))


@pytest.mark.slow
async def test_refused_writes_follow_their_shard(own_cluster: Cluster, open_shards: OpenShards) -> None:
    shards = await open_shards(own_cluster)
    columns = ["author_id", "caption"]
    writes: list[Callable[[ShardSql], Awaitable[object]]] = [
        lambda raw: raw.execute(ADD, 1, "moved"),
        lambda raw: raw.executemany(ADD, [(1, "moved")]),
        lambda raw: raw.copy_records_to_table("posts", records=[(1, "moved")], columns=columns),
    ]
    for number, write in enumerate(writes):
        source = shards.shard(number).server
        await move(own_cluster, shards, number)
        await write(shards.shard(number).raw)

        assert shards.shard(number).server == other(source)
        assert await captions(shards, number, 1) == ["moved"]


async def test_what_can_be_read_once_is_not_sent_twice(own_cluster: Cluster, open_shards: OpenShards) -> None:
    shards = await open_shards(own_cluster)
    await move(own_cluster, shards, 1)

    def rows() -> Iterator[tuple[int, str]]:
        yield 1, "once"

    with pytest.raises(NotOwner, match="repeat the transaction"):
        await shards.shard(1).raw.copy_records_to_table(
            "posts", records=rows(), columns=["author_id", "caption"]
        )
    await shards.shard(1).raw.copy_records_to_table("posts", records=rows(), columns=["author_id", "caption"])
    assert await captions(shards, 1, 1) == ["once"]


async def test_a_read_follows_a_shard_whose_old_copy_is_gone(
    own_cluster: Cluster, open_shards: OpenShards
) -> None:
    shards = await open_shards(own_cluster)
    source = shards.shard(3).server
    await move(own_cluster, shards, 3)
    await own_cluster.run(source, "DROP SCHEMA s0003 CASCADE")

    assert await captions(shards, 3, 1) == []
    with pytest.raises(asyncpg.UndefinedTableError):
        await shards.shard(3).raw.fetch("SELECT * FROM no_such_table")


async def test_a_connection_lost_before_the_commit_changed_nothing(
    own_cluster: Cluster, open_shards: OpenShards
) -> None:
    shards = await open_shards(own_cluster)
    with pytest.raises(ServerUnavailable, match="nothing was changed"):
        await shards.shard(0).raw.execute(
            "INSERT INTO posts (author_id, caption) VALUES (1, 'lost'); "
            "SELECT pg_terminate_backend(pg_backend_pid())"
        )

    assert await captions(shards, 0, 1) == []


@pytest.mark.slow
async def test_no_session_state_is_left_behind_a_transaction_pooler(
    own_cluster: Cluster, open_shards: OpenShards, run_directory: Path
) -> None:
    with run_pgbouncer(own_cluster.dsns, run_directory) as dsns:
        shards = await open_shards(own_cluster, dsns=dsns)
        other_client = await open_connection(dsns[shards.shard(0).server], "a")
        leave_traces = "SET search_path = pg_catalog; SET work_mem = '77MB'; SELECT pg_advisory_lock(5)"
        started = asyncio.Event()

        async def commit() -> None:
            await shards.shard(0).raw.execute(leave_traces)

        async def fail() -> None:
            with pytest.raises(asyncpg.DivisionByZeroError):
                await shards.shard(0).raw.execute(f"{leave_traces}; SELECT 1 / 0")

        async def swallow() -> None:
            with pytest.raises(TransactionLost):
                async with shards.shard(0).begin() as transaction:
                    with pytest.raises(asyncpg.DivisionByZeroError):
                        await transaction.raw.execute(f"{leave_traces}; SELECT 1 / 0")

        async def nap() -> None:
            async with shards.shard(0).begin() as transaction:
                await transaction.raw.execute(leave_traces)
                started.set()
                await transaction.raw.fetch("SELECT pg_sleep(60)")

        async def cancel() -> None:
            task = asyncio.create_task(nap())
            await started.wait()
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            while shards.server_for(0).point_pool.idle == 0:  # noqa: ASYNC110 - until the connection is recovered
                await asyncio.sleep(0.01)

        for leave in (commit, fail, swallow, cancel):
            await leave()
            for _ in range(2):  # the pooler hands out the server connection that was used last
                rows = await fetch_rows(
                    other_client,
                    "SELECT current_setting('search_path') AS path, current_setting('work_mem') AS memory, "
                    "(SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 5) AS locks",
                )
                assert tuple(rows[0]) == ('"$user", public', "4MB", 0), leave.__name__
        await other_client.close()
