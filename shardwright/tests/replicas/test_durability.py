"""`durable="replicated"`: a commit is acknowledged when a synchronous standby has it, or not silently otherwise."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from replica_test_cluster import QUERIES, ReplicatedServer

from shardwright.errors import SetupInvalid
from shardwright.routing import NotReplicated, OutcomeUnknown, Shards


@pytest.fixture
async def synchronous(replicated: ReplicatedServer) -> AsyncIterator[ReplicatedServer]:
    """The server with its standbys as synchronous ones, which transactions wait for only on request."""
    await _set(replicated, "ANY 1 (*)", "local")
    await replicated.wait_until(
        replicated.primary,
        "SELECT count(*) = 2 FROM pg_stat_replication WHERE sync_state = 'quorum' AND state = 'streaming'",
    )
    yield replicated
    await _set(replicated, "", "on")


async def _set(server: ReplicatedServer, names: str, commit: str) -> None:
    await server.run(server.primary, f"ALTER SYSTEM SET synchronous_commit = '{commit}'")
    await server.run(server.primary, f"ALTER SYSTEM SET synchronous_standby_names = '{names}'")
    await server.run(server.primary, "SELECT pg_reload_conf()::text")
    await server.wait_until(
        server.primary, f"SELECT current_setting('synchronous_standby_names') = '{names}'"
    )


async def test_a_replicated_commit_is_on_a_standby_when_it_returns(
    synchronous: ReplicatedServer, shards: Shards
) -> None:
    async with shards.shard(1).begin(durable="replicated") as transaction:
        await transaction.execute(QUERIES.put, id=1, value=1)
    assert await shards.shard(1).execute(QUERIES.put, id=1, value=2, durable="replicated") == 1

    lsn = await synchronous.run(synchronous.primary, "SELECT pg_current_wal_flush_lsn()::text")
    received = [
        await synchronous.run(standby, f"SELECT pg_last_wal_receive_lsn() >= '{lsn}'::pg_lsn")
        for standby in synchronous.standbys
    ]
    assert any(received)


@pytest.mark.slow
async def test_a_commit_that_no_standby_confirms_is_an_error_and_others_do_not_wait(
    synchronous: ReplicatedServer, shards: Shards
) -> None:
    first, second = synchronous.standbys

    with first.paused(), second.paused():
        with pytest.raises(OutcomeUnknown):
            await shards.shard(1).execute(QUERIES.put, id=2, value=1, durable="replicated", deadline_s=0.5)
        waiting = asyncio.create_task(
            shards.shard(1).execute(QUERIES.put, id=3, value=1, durable="replicated")
        )
        await synchronous.wait_until(
            synchronous.primary,
            "SELECT bool_or(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'",
        )
        with pytest.raises(NotReplicated, match="committed on the primary") as raised:
            await waiting
        await shards.shard(1).execute(QUERIES.put, id=4, value=1)

    assert raised.value.is_committed
    assert await shards.shard(1).fetch_value(QUERIES.value, id=3) == 1


async def test_without_a_synchronous_standby_nothing_is_written(shards: Shards) -> None:
    with pytest.raises(NotReplicated, match="synchronous_standby_names") as raised:
        await shards.shard(1).execute(QUERIES.put, id=5, value=1, durable="replicated")
    with pytest.raises(SetupInvalid, match="durable is"):
        shards.shard(1).begin(durable="twice")  # type: ignore[arg-type]  # that is the point

    assert not raised.value.is_committed
    assert await shards.shard(1).fetch_value(QUERIES.value, id=5) is None
