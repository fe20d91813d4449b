"""A shard moves while a transaction has read or locked rows: it goes on at the new owner if they are equal there."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from routing_test_cluster import Cluster, OpenShards

from shardwright.errors import NotOwner
from shardwright.routing import DeadlineExceeded, Queries, Shards, Transaction, TransactionLost, deadline
from shardwright.routing.statement_log import MAX_STATEMENTS
from shardwright.topology import fetch_rows, open_connection

pytestmark = pytest.mark.slow

SHARD = 0
POST = 7
MOVING = Queries.parse("""
-- name: lock
SELECT caption FROM posts WHERE id = :id FOR UPDATE;
-- name: list
SELECT id, caption FROM posts WHERE id = ANY(:ids) ORDER BY id;
-- name: change
UPDATE posts SET caption = caption || :more WHERE id = :id;
-- name: draw
SELECT next_id() AS id;
-- name: backend
SELECT pg_backend_pid() AS pid;
""")


def other(server: str) -> str:
    return {"a": "b", "b": "a"}[server]


async def put_post(cluster: Cluster, server: str, caption: str) -> None:
    await cluster.run(
        server, f"INSERT INTO s0000.posts (id, author_id, caption) VALUES ({POST}, 1, '{caption}')"
    )


async def read_captions(cluster: Cluster, server: str) -> list[str]:
    conn = await open_connection(cluster.dsns[server], server)
    rows = await fetch_rows(conn, "SELECT caption FROM s0000.posts ORDER BY id")
    await conn.close()
    return [row["caption"] for row in rows]


async def fence(cluster: Cluster, source: str) -> None:
    await cluster.set_owned(source, SHARD, owned=False)


async def give(cluster: Cluster, target: str, caption: str = "sunset") -> None:
    """The target has the post, owns the shard, and is in the map."""
    await cluster.set_owned(target, SHARD, owned=True)
    await put_post(cluster, target, caption)
    await cluster.flip_map(SHARD, target)


@pytest.fixture
async def shards(own_cluster: Cluster, open_shards: OpenShards) -> Shards:
    """A router, with a post on the shard, and an empty copy of the shard on the other server."""
    shards = await open_shards(own_cluster, queries=MOVING, not_owner_wait_s=10)
    await put_post(own_cluster, shards.shard(SHARD).server, "sunset")
    await own_cluster.prepare_move(SHARD, other(shards.shard(SHARD).server))
    return shards


async def move(cluster: Cluster, shards: Shards, caption: str = "sunset") -> str:
    """Returns the new owner; the router may not have heard of it yet."""
    source = shards.shard(SHARD).server
    await fence(cluster, source)
    await give(cluster, other(source), caption)
    return other(source)


async def test_what_was_read_and_locked_is_read_and_locked_again(
    own_cluster: Cluster, shards: Shards
) -> None:
    source, committed_at = shards.shard(SHARD).server, list[str]()

    async def note(server: str) -> None:
        committed_at.append(server)

    async with shards.shard(SHARD).begin() as transaction:
        assert await transaction.fetch_value(MOVING.lock, id=POST) == "sunset"
        assert len(await transaction.fetch(MOVING.list, ids=[POST, POST + 1])) == 1
        transaction.after_commit(note)
        target = await move(own_cluster, shards)
        assert await transaction.execute(MOVING.change, id=POST, more="!") == 1
        locks = await fetch_locks(own_cluster, target)
        assert await transaction.fetch_value(MOVING.lock, id=POST) == "sunset!"

    assert locks > 0
    assert committed_at == [target]
    assert await read_captions(own_cluster, target) == ["sunset!"]
    assert await read_captions(own_cluster, source) == ["sunset"]


async def fetch_locks(cluster: Cluster, server: str) -> int:
    conn = await open_connection(cluster.dsns[server], server)
    rows = await fetch_rows(
        conn,
        "SELECT count(*) AS locks FROM pg_locks WHERE relation = 's0000.posts'::regclass AND mode = 'RowShareLock'",
    )
    await conn.close()
    return rows[0]["locks"]


async def test_it_waits_while_nobody_owns_the_shard(own_cluster: Cluster, shards: Shards) -> None:
    source = shards.shard(SHARD).server
    async with shards.shard(SHARD).begin() as transaction:
        await transaction.fetch_value(MOVING.lock, id=POST)
        await fence(own_cluster, source)
        writing = asyncio.create_task(transaction.execute(MOVING.change, id=POST, more="!"))
        assert not (await asyncio.wait([writing], timeout=0.2))[0]
        await give(own_cluster, other(source))
        assert await writing == 1

    assert await read_captions(own_cluster, other(source)) == ["sunset!"]


async def test_it_goes_on_at_the_same_server_if_the_move_is_aborted(
    own_cluster: Cluster, shards: Shards
) -> None:
    source = shards.shard(SHARD).server
    async with shards.shard(SHARD).begin() as transaction:
        await transaction.fetch_value(MOVING.lock, id=POST)
        await fence(own_cluster, source)
        writing = asyncio.create_task(transaction.execute(MOVING.change, id=POST, more="!"))
        assert not (await asyncio.wait([writing], timeout=0.2))[0]
        await own_cluster.set_owned(source, SHARD, owned=True)
        assert await writing == 1

    assert await read_captions(own_cluster, source) == ["sunset!"]


async def test_rows_that_have_changed_since_end_it_even_if_the_error_is_swallowed(
    own_cluster: Cluster, shards: Shards
) -> None:
    target = ""
    with pytest.raises(TransactionLost):
        async with shards.shard(SHARD).begin() as transaction:
            await transaction.fetch_value(MOVING.lock, id=POST)
            target = await move(own_cluster, shards, "sunrise")
            with pytest.raises(NotOwner, match="rows have changed"):
                await transaction.execute(MOVING.change, id=POST, more="!")
            with pytest.raises(TransactionLost):
                await transaction.execute(MOVING.change, id=POST, more="!")

    assert await read_captions(own_cluster, target) == ["sunrise"]


async def test_the_callers_own_changes_of_its_lists_are_not_compared(
    own_cluster: Cluster, shards: Shards
) -> None:
    ids = [POST]
    async with shards.shard(SHARD).begin() as transaction:
        rows = await transaction.fetch(MOVING.list, ids=ids)
        ids.clear()
        rows.clear()
        target = await move(own_cluster, shards)
        await transaction.execute(MOVING.change, id=POST, more="!")

    assert await read_captions(own_cluster, target) == ["sunset!"]


async def own_sql(transaction: Transaction) -> None:
    await transaction.raw.fetch("SELECT 1 AS one")


async def savepoint(transaction: Transaction) -> None:
    async with transaction.savepoint():
        await transaction.fetch_value(MOVING.lock, id=POST)


async def too_much(transaction: Transaction) -> None:
    for _ in range(MAX_STATEMENTS):
        await transaction.fetch_value(MOVING.lock, id=POST)


async def drawn_id(transaction: Transaction) -> None:
    await transaction.fetch_value(MOVING.draw)


@pytest.mark.parametrize("act", [own_sql, savepoint, too_much, drawn_id])
async def test_what_cannot_be_repeated_is_refused(
    own_cluster: Cluster, shards: Shards, act: Callable[[Transaction], Awaitable[None]]
) -> None:
    target = ""
    with pytest.raises(NotOwner, match="repeat the transaction"):
        async with shards.shard(SHARD).begin() as transaction:
            await transaction.fetch_value(MOVING.lock, id=POST)
            await act(transaction)
            target = await move(own_cluster, shards)
            await transaction.execute(MOVING.change, id=POST, more="!")

    assert await read_captions(own_cluster, target) == ["sunset"]
    assert await shards.shard(SHARD).execute(MOVING.change, id=POST, more="?") == 1


async def test_it_ends_when_no_server_owns_the_shard_in_time(
    own_cluster: Cluster, open_shards: OpenShards
) -> None:
    shards = await open_shards(own_cluster, queries=MOVING, not_owner_wait_s=0.2)
    source = shards.shard(SHARD).server
    await fence(own_cluster, source)
    with pytest.raises(TransactionLost):
        async with shards.shard(SHARD).begin() as transaction:
            with pytest.raises(NotOwner, match="no server has owned shard 0"):
                await transaction.execute(MOVING.change, id=POST, more="!")
            with pytest.raises(TransactionLost):  # its connection is in the pool again
                await transaction.fetch(MOVING.list, ids=[])
            with pytest.raises(TransactionLost):
                _ = transaction.connection


@pytest.mark.parametrize("is_block", [True, False], ids=["deadline block", "own deadline"])
async def test_its_deadline_holds_while_it_waits(
    own_cluster: Cluster, shards: Shards, *, is_block: bool
) -> None:
    await fence(own_cluster, shards.shard(SHARD).server)

    async def write(**options: Any) -> None:
        async with shards.shard(SHARD).begin(**options) as transaction:
            await transaction.execute(MOVING.change, id=POST, more="!")

    with pytest.raises(DeadlineExceeded, match="a server that owns shard 0"):
        if is_block:
            with deadline(0.3):
                await write()
        else:
            await write(deadline_s=0.3)

    await own_cluster.set_owned(shards.shard(SHARD).server, SHARD, owned=True)
    await write()


async def test_a_cancelled_wait_leaves_no_connection_behind(
    own_cluster: Cluster, open_shards: OpenShards
) -> None:
    shards = await open_shards(
        own_cluster, queries=MOVING, max_connections=1, spare_connections=0, not_owner_wait_s=30
    )
    source = shards.shard(SHARD).server
    await fence(own_cluster, source)

    async def write() -> None:
        async with shards.shard(SHARD).begin() as transaction:
            await transaction.execute(MOVING.change, id=POST, more="!")

    writing = asyncio.create_task(write())
    assert not (await asyncio.wait([writing], timeout=0.2))[0]
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing

    await own_cluster.set_owned(source, SHARD, owned=True)
    await write()


async def test_a_broken_connection_to_the_new_owner_is_replaced(own_cluster: Cluster, shards: Shards) -> None:
    target = other(shards.shard(SHARD).server)
    of_target = next(n for n in range(4) if shards.shard(n).server == target)
    pid = await shards.shard(of_target).fetch_value(MOVING.backend)
    async with shards.shard(SHARD).begin() as transaction:
        await transaction.fetch_value(MOVING.lock, id=POST)
        await own_cluster.run(target, f"SELECT pg_terminate_backend({pid})")
        await move(own_cluster, shards)
        await transaction.execute(MOVING.change, id=POST, more="!")

    assert await read_captions(own_cluster, target) == ["sunset!"]


async def test_a_missing_table_is_reported_as_before(own_cluster: Cluster, open_shards: OpenShards) -> None:
    queries = Queries.parse("-- name: find\nSELECT id FROM nowhere")
    shards = await open_shards(own_cluster, queries=queries)

    with pytest.raises(Exception, match="nowhere"):
        async with shards.shard(SHARD).begin() as transaction:
            await transaction.fetch(queries.find)
