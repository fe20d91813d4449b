"""Addresses with several hosts: the primary among them is found and followed, whatever hangs, dies or comes back."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import asyncpg
import pytest
from host_list_site import Ledger, hosts_dsn, install, make_synchronous, open_router, rows_at
from replica_test_cluster import QUERIES, ReplicatedServer, start_replicated

from shardwright.errors import ServerUnavailable
from shardwright.routing import PrimaryElsewhere, Shards, connection_pool, primary_watch
from shardwright.routing import shards as shards_module
from shardwright.topology import (
    ANY_HOST,
    Directory,
    connections,
    is_read_only,
    open_connection,
    primary_address,
)


@pytest.fixture
async def site(run_directory: Path, initialized_directory: Path) -> AsyncIterator[ReplicatedServer]:
    """A primary and a standby, for one test alone."""
    with start_replicated(run_directory, initialized_directory, standbys=1) as server:
        yield server


@pytest.fixture
def hole() -> Iterator[int]:
    """The port of something that accepts connections and never answers."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield listening.getsockname()[1]


async def test_a_host_that_hangs_is_no_outage_wherever_it_is_named(
    replicated: ReplicatedServer, hole: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    primary, standby = replicated.primary.port, replicated.standbys[0].port
    dsn = hosts_dsn(replicated, hole, standby, primary)

    async with open_router(dsn) as shards:  # the directory is reached by the same hosts
        await shards.shard(1).execute(QUERIES.put, id=1, value=1)
        assert await shards.shard(1).fetch_value(QUERIES.answered_by) == primary
        monkeypatch.setattr(primary_address, "ask_addresses", pytest.fail)
        for _ in range(200):  # while there is traffic nobody is asked which host is the primary
            await shards.shard(1).fetch_value(QUERIES.value, id=1)
    conn = await open_connection(dsn, "a")
    assert await conn.fetchval("SELECT pg_is_in_recovery()") is False
    await conn.close()
    conn = await open_connection(hosts_dsn(replicated, hole, standby), "a", target=ANY_HOST)
    assert await conn.fetchval("SELECT pg_is_in_recovery()") is True
    await conn.close()
    with pytest.raises(ServerUnavailable):
        await open_connection(hosts_dsn(replicated, standby, replicated.standbys[1].port), "a")


async def test_a_connection_that_opened_while_it_was_given_up_is_closed(replicated: ReplicatedServer) -> None:
    task = asyncio.create_task(open_connection(replicated.dsn, "a"))
    await asyncio.wait([task])
    await connections._give_up([task])

    assert task.result().is_closed()


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["killed", "hung"])
async def test_no_acknowledged_write_is_lost_and_none_is_accepted_on_the_old_timeline(
    site: ReplicatedServer, fault: str
) -> None:
    """Synchronous replication, writers all the time, and the old primary back before they have ended."""
    dsn = await install(site)
    await make_synchronous(site)
    old, new = site.primary, site.standbys[0]
    async with open_router(dsn) as shards:
        ledger, is_over = Ledger(shards), asyncio.Event()
        writers = [asyncio.create_task(ledger.write_until(is_over)) for _ in range(4)]
        await ledger.wait_for_more()

        if fault == "killed":
            await asyncio.to_thread(old.crash)
            await asyncio.to_thread(new.promote)
            await ledger.wait_for_more()
            await asyncio.to_thread(old.start)
        else:
            with old.paused():
                await asyncio.to_thread(new.promote)
                await ledger.wait_for_more()
        promoted_at = ledger.next_id
        await ledger.wait_for_more(200)
        is_over.set()
        await asyncio.gather(*writers)

        there, here = await rows_at(site, old), await rows_at(site, new)
        assert ledger.acknowledged.keys() <= here
        assert not {id_ for id_ in there if id_ > promoted_at}


@pytest.mark.slow
async def test_connections_that_rested_while_the_primary_was_replaced_are_not_used(
    site: ReplicatedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody called meanwhile, so nothing has failed: the old primary hung, and goes on as if it were the primary."""
    dsn = await install(site)
    old, new = site.primary, site.standbys[0]
    monkeypatch.setattr(connection_pool, "RESTED_S", 0.1)
    monkeypatch.setattr(primary_address, "CONFIRMED_S", 0.1)
    async with open_router(dsn) as shards, open_router(dsn) as quiet:
        await shards.shard(1).execute(QUERIES.put, id=1, value=1)
        await site.caught_up()
        with old.paused():
            await asyncio.to_thread(new.promote)

        assert await shards.shard(1).fetch_value(QUERIES.increment, id=1) == 2
        conn = await open_connection(dsn, "a")  # two that believe to be the primary
        assert await conn.fetchval(f"SELECT current_setting('port')::integer = {new.port}")
        await conn.close()
        async with asyncio.timeout(60):  # who only asks for the address follows as well
            while f":{new.port}/" not in quiet.primary_address("a"):  # noqa: ASYNC110 - a background task
                await asyncio.sleep(0.05)

        with new.paused():
            await asyncio.sleep(0.2)  # rested again
            for _ in range(8):
                with pytest.raises(ServerUnavailable):
                    await shards.shard(1).fetch_value(QUERIES.increment, id=1)
    assert await site.run(old, "SELECT value FROM s0001.counters WHERE id = 1") == 1


@pytest.mark.slow
async def test_callers_of_a_server_that_hangs_are_answered_by_the_promoted_standby(
    site: ReplicatedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Long before any deadline: the breaker is closed all the time."""
    dsn = await install(site)
    monkeypatch.setattr(shards_module, "MAINTAIN_S", 0.1)
    monkeypatch.setattr(primary_watch, "SILENT_S", 0.2)
    async with open_router(dsn, max_connections=1, spare_connections=0) as shards:
        await shards.shard(1).execute(QUERIES.put, id=1, value=1)
        await site.caught_up()
        client = shards.server_for(1)
        assert client.watch.asked == 0
        with site.primary.paused():
            reading = asyncio.create_task(shards.shard(1).fetch_value(QUERIES.value, id=1))
            async with asyncio.timeout(60):
                while client.watch.asked < 2:  # noqa: ASYNC110 - a background task; so far nobody is the primary
                    await asyncio.sleep(0.02)
            assert not client.breaker.is_open
            await asyncio.to_thread(site.standbys[0].promote)
            assert await reading == 1
            assert await shards.shard(1).fetch_value(QUERIES.answered_by) == site.standbys[0].port


@pytest.mark.slow
async def test_a_server_that_became_read_only_is_left_for_the_primary(site: ReplicatedServer) -> None:
    """SQLSTATE 25006 on connections that worked a moment ago: what is safe to repeat is done by the new primary."""
    dsn = await install(site)
    old, new = site.primary, site.standbys[0]
    one = {"max_connections": 1, "spare_connections": 0}
    async with (
        open_router(dsn, **one) as single,
        open_router(dsn, **one) as whole,
        open_router(dsn, **one) as block,
    ):
        for shards in (single, whole, block):
            await shards.shard(1).execute(QUERIES.put, id=1, value=1)
        await site.caught_up()
        await asyncio.to_thread(new.promote)
        await site.run(old, "ALTER SYSTEM SET default_transaction_read_only = on")
        await site.run(old, "SELECT pg_reload_conf()::text")
        for shards in (single, whole, block):
            await _wait_until_read_only(shards)

        assert await single.shard(1).fetch_value(QUERIES.increment, id=1) == 2
        assert await whole.shard(1).transact(lambda each: each.fetch_value(QUERIES.increment, id=1)) == 3
        with pytest.raises(PrimaryElsewhere):
            async with block.shard(1).begin() as transaction:
                await transaction.execute(QUERIES.increment, id=1)
        async with block.shard(1).begin() as transaction:
            assert await transaction.fetch_value(QUERIES.increment, id=1) == 4

        # A transaction that its caller made read-only says nothing about the server.
        with pytest.raises(asyncpg.ReadOnlySQLTransactionError):
            async with block.shard(1).begin(read_only=True) as transaction:
                await transaction.execute(QUERIES.increment, id=1)
        with pytest.raises(asyncpg.ReadOnlySQLTransactionError):
            async with block.shard(1).begin() as transaction:
                await transaction.raw.execute("SET TRANSACTION READ ONLY")
                await transaction.execute(QUERIES.increment, id=1)
    assert await site.run(old, "SELECT value FROM s0001.counters WHERE id = 1") == 1


async def _wait_until_read_only(shards: Shards) -> None:
    """Backends take note of a changed setting one by one, between two statements."""
    (pooled,) = shards.server_for(1).point_pool.connections
    async with asyncio.timeout(20):
        while not is_read_only(pooled.conn):
            await shards.shard(1).fetch_value(QUERIES.value, id=1)


@pytest.mark.slow
async def test_a_router_opens_and_follows_while_the_first_host_of_the_directory_hangs(
    site: ReplicatedServer,
) -> None:
    dsn = await install(site)
    async with open_router(dsn) as shards:
        with site.primary.paused():
            await asyncio.to_thread(site.standbys[0].promote)
            directory = await Directory.open(dsn)
            changed = await directory.set_server("a", weight=2.0)
            async with asyncio.timeout(60):
                await shards.refresh()
            assert shards.map.version == changed.version
        # The old primary is back with its old map; whoever watched it watches the new one.
        changed = await directory.set_server("a", weight=3.0)
        async with asyncio.timeout(60):
            while shards.map.version < changed.version:  # noqa: ASYNC110 - a notification
                await asyncio.sleep(0.02)
        await directory.close()
