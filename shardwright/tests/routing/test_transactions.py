"""Transactions on one shard: commit, rollback, and the error for each way a connection can be lost."""

import asyncio
from typing import Any

import asyncpg
import pytest
from routing_test_cluster import QUERIES, Cluster, OpenShards

from shardwright.errors import ServerUnavailable
from shardwright.routing import OutcomeUnknown, Shards, TransactionLost
from shardwright.topology import fetch_value, open_connection


async def test_a_transaction_commits_at_the_end_of_its_block(shards: Shards, caption: str) -> None:
    shard = shards.shard(1)
    async with shard.begin() as transaction:
        new_id = await transaction.fetch_value(QUERIES.add, author_id=1, caption=caption)
        assert await transaction.execute(QUERIES.change, id=new_id, caption=f"{caption}!") == 1
        assert await transaction.fetch(QUERIES.change, id=new_id, caption=f"{caption}!") == []
        assert transaction.shard_number == 1
        # Nobody else sees it yet.
        assert await shard.fetch_one(QUERIES.find, id=new_id) is None

    found = await shard.fetch_one(QUERIES.find, id=new_id)
    assert found is not None
    assert found["caption"] == f"{caption}!"


async def test_an_error_in_the_block_undoes_it(shards: Shards, caption: str) -> None:
    new_id = 0
    with pytest.raises(RuntimeError, match="changed my mind"):
        async with shards.shard(1).begin() as transaction:
            new_id = await transaction.fetch_value(QUERIES.add, author_id=1, caption=caption)
            raise RuntimeError("changed my mind")

    assert await shards.shard(1).fetch_one(QUERIES.find, id=new_id) is None


async def test_the_raw_connection_sees_the_shards_tables(shards: Shards, caption: str) -> None:
    async with shards.shard(6).begin() as transaction:
        new_id = await transaction.fetch_value(QUERIES.add, author_id=1, caption=caption)
        assert (
            await fetch_value(transaction.connection, "SELECT caption FROM posts WHERE id = $1", new_id)
            == caption
        )
        path = await fetch_value(transaction.connection, "SHOW search_path")

    assert path == "s0006, common, shardwright, public"


async def test_session_state_does_not_leak_to_the_next_user(
    cluster: Cluster, open_shards: OpenShards
) -> None:
    shards = await open_shards(cluster, max_connections=1, spare_connections=0)
    shard = shards.shard(0)
    async with shard.begin() as transaction:
        raw = transaction.connection
        pid = await fetch_value(raw, "SELECT pg_backend_pid()")
        await raw.execute(
            "SET search_path = nowhere; SET work_mem = '1MB'; CREATE TEMP TABLE left_behind (id int)"
        )
        await raw.execute("SELECT pg_advisory_lock(42); DECLARE open_one CURSOR WITH HOLD FOR SELECT 1")

    # Both ways on: a plain statement, and another transaction.
    assert await shard.fetch_value(QUERIES.whoami) == pid
    async with shard.begin() as transaction:
        _ = transaction.connection
    async with shard.begin() as transaction:
        raw = transaction.connection
        assert await fetch_value(raw, "SELECT pg_backend_pid()") == pid
        assert await fetch_value(raw, "SHOW work_mem") != "1MB"
        assert await fetch_value(raw, "SHOW statement_timeout") == "10s"
        assert await fetch_value(raw, "SELECT to_regclass('left_behind')") is None
        assert await fetch_value(raw, "SELECT count(*) FROM pg_cursors WHERE name = 'open_one'") == 0
        held = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()"
        assert await fetch_value(raw, held) == 0


async def test_a_swallowed_error_is_not_taken_for_a_commit(shards: Shards, caption: str) -> None:
    new_id = 0
    with pytest.raises(TransactionLost, match="had failed"):
        async with shards.shard(1).begin() as transaction:
            new_id = await transaction.fetch_value(QUERIES.add, author_id=1, caption=caption)
            with pytest.raises(asyncpg.UniqueViolationError):
                await transaction.execute(QUERIES.put, id=new_id, author_id=1, caption="twice")

    assert await shards.shard(1).fetch_one(QUERIES.find, id=new_id) is None


async def test_a_part_may_fail_inside_a_savepoint(shards: Shards, caption: str) -> None:
    async with shards.shard(1).begin() as transaction:
        new_id = await transaction.fetch_value(QUERIES.add, author_id=1, caption=caption)
        with pytest.raises(asyncpg.UniqueViolationError):
            async with transaction.savepoint():
                await transaction.execute(QUERIES.put, id=new_id, author_id=1, caption="twice")
        async with transaction.savepoint():
            await transaction.execute(QUERIES.change, id=new_id, caption="kept")

    assert await shards.shard(1).fetch_one(QUERIES.find, id=new_id) is not None


async def test_a_connection_lost_before_commit_raises_server_unavailable(
    shards: Shards, caption: str
) -> None:
    with pytest.raises(ServerUnavailable, match="lost before COMMIT"):
        async with shards.shard(2).begin() as transaction:
            await transaction.execute(QUERIES.add, author_id=1, caption=caption)
            transaction.connection.terminate()

    assert await shards.shard(2).fetch_value(QUERIES.whoami)


async def test_a_server_shut_down_within_a_transaction_raises_server_unavailable(
    shards: Shards, caption: str
) -> None:
    fields = b"SFATAL\0VFATAL\0C57P01\0Mgoing down\0\0"
    farewell = b"E" + (len(fields) + 4).to_bytes(4) + fields
    with pytest.raises(ServerUnavailable, match="nothing was changed"):
        async with shards.shard(2).begin() as transaction:
            await transaction.execute(QUERIES.add, author_id=1, caption=caption)
            # The farewell has been read, the end of the connection not yet: in life a matter of microseconds.
            name = "_protocol"  # there is no public way to this moment
            protocol: Any = getattr(transaction.connection, name)
            protocol.data_received(farewell)
            await transaction.execute(QUERIES.add, author_id=1, caption=caption)

    assert await shards.shard(2).fetch_value(QUERIES.whoami)


@pytest.mark.slow
async def test_a_connection_lost_during_commit_raises_outcome_unknown(
    own_cluster: Cluster, open_shards: OpenShards, caption: str
) -> None:
    shards = await open_shards(own_cluster)
    shard = shards.shard(0)
    await own_cluster.run(
        shard.server,
        "CREATE FUNCTION s0000.dawdle() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN PERFORM pg_sleep(30); RETURN NULL; END $$; "
        "CREATE CONSTRAINT TRIGGER dawdle AFTER INSERT ON s0000.posts DEFERRABLE INITIALLY DEFERRED "
        "FOR EACH ROW EXECUTE FUNCTION s0000.dawdle()",
    )
    async with shard.begin() as transaction:
        pid = await transaction.fetch_value(QUERIES.whoami)
    end = asyncio.create_task(terminate_at_commit(own_cluster, shard.server, pid))
    with pytest.raises(OutcomeUnknown, match="COMMIT was sent to shard 0"):
        async with shard.begin() as transaction:
            await transaction.execute(QUERIES.add, author_id=1, caption=caption)
    await end

    assert await shard.fetch_value(QUERIES.whoami) != pid


async def terminate_at_commit(cluster: Cluster, server: str, pid: int) -> None:
    conn = await open_connection(cluster.dsns[server], server)
    committing = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE pid = $1 AND query = 'COMMIT' AND state = 'active'"
    )
    while not await fetch_value(conn, committing, pid):  # noqa: ASYNC110  # waits for the server, not for us
        await asyncio.sleep(0.01)
    await conn.close()


async def test_a_broken_connection_is_replaced_before_a_transaction_starts(
    cluster: Cluster, open_shards: OpenShards, caption: str
) -> None:
    shards = await open_shards(cluster, max_connections=1, spare_connections=0)
    shard = shards.shard(0)
    pid = await shard.fetch_value(QUERIES.whoami)
    await cluster.run(shard.server, f"SELECT pg_terminate_backend({pid})")
    async with shard.begin() as transaction:
        await transaction.execute(QUERIES.add, author_id=1, caption=caption)

    assert await shard.fetch_value(QUERIES.whoami) != pid


async def test_isolation_level_and_read_only_can_be_set(shards: Shards, caption: str) -> None:
    async with shards.shard(1).begin(isolation="serializable", read_only=True) as transaction:
        assert await fetch_value(transaction.connection, "SHOW transaction_isolation") == "serializable"
        with pytest.raises(asyncpg.ReadOnlySQLTransactionError):
            async with transaction.savepoint():
                await transaction.execute(QUERIES.add, author_id=1, caption=caption)


async def test_a_deferred_constraint_that_fails_at_commit_raises_its_own_error(
    own_cluster: Cluster, open_shards: OpenShards
) -> None:
    own = await open_shards(own_cluster)
    await own_cluster.run(
        own.shard(0).server, "CREATE TABLE s0000.once (id int UNIQUE DEFERRABLE INITIALLY DEFERRED)"
    )
    with pytest.raises(asyncpg.UniqueViolationError):
        async with own.shard(0).begin() as transaction:
            await transaction.connection.execute("INSERT INTO once VALUES (1), (1)")


async def test_hooks_run_after_the_commit_and_only_then(shards: Shards, caption: str) -> None:
    told: list[str] = []

    async def hook(server: str) -> None:
        told.append(server)
        raise RuntimeError("the write stands all the same")

    async with shards.shard(1).begin() as transaction:
        new_id = await transaction.fetch_value(QUERIES.add, author_id=1, caption=caption)
        transaction.after_commit(hook)
        assert told == []
    with pytest.raises(RuntimeError, match="undone"):
        async with shards.shard(1).begin() as transaction:
            transaction.after_commit(hook)
            raise RuntimeError("undone")

    assert told == [shards.shard(1).server]
    assert await shards.shard(1).fetch_one(QUERIES.find, id=new_id) is not None


@pytest.mark.slow
async def test_transact_is_repeated_while_a_shard_is_moved(
    own_cluster: Cluster, open_shards: OpenShards, caption: str
) -> None:
    shards = await open_shards(own_cluster)
    source = shards.shard(0).server
    target = {"a": "b", "b": "a"}[source]
    await own_cluster.prepare_move(0, target)
    await own_cluster.set_owned(source, 0, owned=False)

    async def finish_move() -> None:
        await asyncio.sleep(0.1)
        await own_cluster.set_owned(target, 0, owned=True)
        await own_cluster.flip_map(0, target)

    async with asyncio.TaskGroup() as group:
        group.create_task(finish_move())
        new_id = await shards.shard(0).transact(
            lambda transaction: transaction.fetch_value(QUERIES.add, author_id=1, caption=caption)
        )

    assert shards.shard(0).server == target
    assert await shards.shard(0).fetch_one(QUERIES.find, id=new_id) is not None
