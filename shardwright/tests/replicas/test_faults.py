"""Replicas that are down, hang or lack something: the primary answers, and nobody sees an error."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from replica_test_cluster import QUERIES, OpenRouter, ReplicatedServer, make_counters

from shardwright.errors import SetupInvalid
from shardwright.local import LocalServer
from shardwright.routing import ANY, Session, Shards, bounded, session
from shardwright.topology import Directory, creation_sql, open_connection, set_owned

READ = "1.2.a~1~ff~0123456789ab"  # of a replica that nobody knows
TOKENS = [
    "",
    "1.0",
    "1.2*",
    "1.2.a~1~ff",
    "1.2.a~ffffffff~ffffffffffffffff",
    "1.ffffffffffffffff.a~1~1",
    READ,
]


@pytest.mark.slow
async def test_replicas_that_hang_or_are_gone_cost_no_error(
    own_replicated: ReplicatedServer, open_router: OpenRouter
) -> None:
    server = own_replicated
    shards = await open_router(server, replica_probe_s=0.1)
    await shards.shard(1).execute(QUERIES.put, id=1, value=1)
    await server.caught_up()
    first, second = server.standbys
    readers = [shards.read(ANY), shards.read(bounded(1)), shards.read(session(Session()))]

    with first.paused():
        for reader in readers * 10:
            assert await reader.shard(1).fetch_value(QUERIES.value, id=1) == 1
    first.crash()
    second.stop()
    for reader in readers * 10:
        assert await reader.shard(1).fetch_value(QUERIES.value, id=1) == 1

    second.start()
    server.standbys = [second]
    await server.wait_for_replicas(shards, 1)


@pytest.mark.parametrize(
    "token", [*TOKENS, "nonsense", "1.", "1.2.a", "1.2.a~x~1", "2.1", "1.1.a~1~1;", "a" * 9999]
)
async def test_any_text_as_a_token_is_answered(
    replicated: ReplicatedServer, shards: Shards, token: str
) -> None:
    await shards.shard(1).execute(QUERIES.put, id=1, value=1)
    await replicated.caught_up()

    assert await shards.read(session(token)).shard(1).fetch_value(QUERIES.value, id=1) == 1


@given(st.text() | st.sampled_from(TOKENS))
def test_parsing_never_fails_and_what_is_no_token_means_that_nothing_is_known(text: str) -> None:
    assert Session.parse(text).is_complete == (text == "" or (text in TOKENS and "*" not in text))


async def test_a_shard_that_was_moved_here_is_read_from_replicas_only_once_they_have_all_of_it(
    replicated: ReplicatedServer,
    directory: Directory,
    open_router: OpenRouter,
    servers: Mapping[str, LocalServer],
    fresh_database: Callable[..., Awaitable[str]],
) -> None:
    await directory.add_server("b", await fresh_database(servers["b"]))
    numbers = (await directory.add_shards(2, prepare=make_counters)).shards_on("b")
    shards = await open_router(replicated)
    conn = await open_connection(replicated.dsn, "a")
    await conn.execute(creation_sql(numbers[0], shards.map.layout))
    await make_counters(conn, numbers[0])
    await replicated.pause_all()  # before the rows came
    await conn.execute(f"INSERT INTO s{numbers[0]:04d}.counters VALUES (1, 1)")

    latest = await directory.load()
    await directory.change(latest.version, lambda old: old.with_owner("a", numbers[0]))
    await shards.refresh()

    assert await shards.read(ANY).shard(numbers[0]).fetch_value(QUERIES.value, id=1) == 1
    await replicated.resume_all()
    await replicated.caught_up()
    await replicated.wait_for_replicas(shards, 2)
    await conn.close()


async def test_a_session_that_wrote_where_no_replica_is_reads_it_through_a_router_with_a_stale_map(
    replicated: ReplicatedServer,
    directory: Directory,
    open_router: OpenRouter,
    servers: Mapping[str, LocalServer],
    fresh_database: Callable[..., Awaitable[str]],
) -> None:
    dsn = await fresh_database(servers["b"])
    latest = await directory.add_server("b", dsn)
    shards = await open_router(replicated)
    stale = await open_router(replicated, poll_s=3600)
    await stale._directory.close()  # it hears of no new map
    for _, replicas in stale.replica_sets():
        replicas._task.cancel()  # and asks nobody but for a read
    await shards.shard(1).execute(QUERIES.put, id=1, value=1)
    await replicated.pause_all()  # with the old copy as it was, open to everybody
    here, there = await open_connection(replicated.dsn, "a"), await open_connection(dsn, "b")
    await set_owned(here, 1, owned=False)
    await there.execute(creation_sql(1, latest.layout))
    await make_counters(there, 1)
    await there.execute("INSERT INTO s0001.counters VALUES (1, 1)")
    await directory.change(latest.version, lambda old: old.with_owner("b", 1))
    await shards.refresh()

    with Session() as caller:
        assert await shards.shard(1).fetch_value(QUERIES.increment, id=1) == 2
    assert stale.map.owners[1] == "a"
    assert await stale.read(session(await caller.token())).shard(1).fetch_value(QUERIES.value, id=1) == 2
    assert stale.map.owners[1] == "b"
    await here.close()
    await there.close()


async def test_a_fenced_shard_is_not_read_from_replicas_and_makes_the_map_be_loaded(
    replicated: ReplicatedServer, open_router: OpenRouter
) -> None:
    shards = await open_router(replicated, poll_s=3600, replica_probe_s=0.05)
    replicas = shards.server_for(1).replicas
    assert replicas is not None
    conn = await open_connection(replicated.dsn, "a")

    await set_owned(conn, 1, owned=False)
    async with asyncio.timeout(30):
        while 1 not in replicas.unowned:  # what was asked for before the fence still holds
            await shards.read(bounded(60)).shard(1).fetch_value(QUERIES.is_replica)
        assert not await shards.read(bounded(60)).shard(1).fetch_value(QUERIES.is_replica)
        while not await shards.read(ANY).shard(2).fetch_value(QUERIES.is_replica):  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.01)  # until the replicas have all that the primary had
    await conn.close()


async def test_what_is_no_copy_of_the_server_is_not_added(
    replicated: ReplicatedServer, directory: Directory
) -> None:
    with pytest.raises(SetupInvalid, match="no server z"):
        await directory.add_replica("z", "127.0.0.1:1")
    with pytest.raises(SetupInvalid, match="is the primary"):
        await directory.add_replica("a", f"127.0.0.1:{replicated.primary.port}")
    with pytest.raises(SetupInvalid, match="no replica at that address"):
        await directory.remove_replica("a", "127.0.0.1:1")
    address = f"127.0.0.1:{replicated.standbys[0].port}"
    assert (await directory.remove_replica("a", address)).servers["a"].replicas == (
        f"127.0.0.1:{replicated.standbys[1].port}",
    )
