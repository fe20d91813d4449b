"""Servers that crash or hang, and the errors that callers get."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

import pytest
from routing_test_cluster import QUERIES, Cluster, OpenShards, make_cluster

from shardwright.errors import InvalidId, ServerUnavailable
from shardwright.local import LocalServer
from shardwright.routing import DeadlineExceeded, OutcomeUnknown, Shards, WriteDeadlineExceeded
from shardwright.routing import shards as shards_module
from shardwright.topology import open_connection


@pytest.fixture
async def fragile(
    servers: Mapping[str, LocalServer],
    own_server: LocalServer,
    fresh_database: Callable[[LocalServer], Awaitable[str]],
) -> AsyncIterator[Cluster]:
    """A cluster whose server b may be killed."""
    conn = await open_connection(own_server.dsn(), "b")
    await conn.execute("CREATE DATABASE fragile")
    await conn.close()
    cluster = await make_cluster({"a": await fresh_database(servers["a"]), "b": own_server.dsn("fragile")}, 8)
    yield cluster
    await cluster.directory.close()


def on(shards: Shards, server: str) -> int:
    return shards.map.shards_on(server)[0]


@pytest.mark.slow
async def test_while_a_server_is_down_the_others_serve_and_it_recovers_by_itself(
    fragile: Cluster, own_server: LocalServer, open_shards: OpenShards
) -> None:
    shards = await open_shards(fragile, breaker_failures=3, breaker_cooldown_s=0.2)
    ids = [await shards.shard(n).fetch_value(QUERIES.add, author_id=1, caption="here") for n in range(8)]
    await asyncio.to_thread(own_server.stop, mode="immediate")
    with pytest.raises(ServerUnavailable):
        while True:
            await shards.shard(on(shards, "b")).fetch_value(QUERIES.whoami)

    await shards.ping("a")
    with pytest.raises(ServerUnavailable):
        await shards.ping("b")
    gathered = await shards.gather(QUERIES.get, ids)
    assert list(gathered.failed) == ["b"]
    assert sorted(row["id"] for row in gathered) == sorted(i for i in ids if shards.owner(i).server == "a")
    for _ in range(5):
        with pytest.raises(ServerUnavailable):
            await shards.shard(on(shards, "b")).fetch_value(QUERIES.whoami)
    assert shards.server_for(on(shards, "b")).breaker.is_open
    assert await shards.shard(on(shards, "a")).fetch_value(QUERIES.whoami)

    await asyncio.to_thread(own_server.start)
    async with asyncio.timeout(60):
        while not (gathered := await shards.gather(QUERIES.get, ids)).is_complete:  # noqa: ASYNC110 - waits for another process
            await asyncio.sleep(0.05)
    assert len(gathered) == 8


@pytest.mark.slow
async def test_an_open_breaker_is_probed_so_that_no_call_waits_for_its_cooldown(
    fragile: Cluster, own_server: LocalServer, open_shards: OpenShards, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shards_module, "MAINTAIN_S", 0.1)
    shards = await open_shards(fragile, breaker_failures=2, breaker_cooldown_s=3600.0)
    number = on(shards, "b")
    client = shards.server_for(number)
    assert await ask(shards, number) is None
    await asyncio.sleep(0.5)
    assert client.watch.asked == 0  # nobody is asked while the breaker is closed

    await asyncio.to_thread(own_server.stop, mode="immediate")
    async with asyncio.timeout(60):
        while not client.breaker.is_open:
            await ask(shards, number)
        while client.watch.asked < 2:  # noqa: ASYNC110 - a background task
            await asyncio.sleep(0.02)
        with pytest.raises(ServerUnavailable, match="times in a row"):
            await shards.shard(number).fetch_value(QUERIES.whoami)
        await asyncio.to_thread(own_server.start)
        while client.breaker.is_open:  # noqa: ASYNC110 - likewise
            await asyncio.sleep(0.02)
    assert await shards.shard(number).fetch_value(QUERIES.whoami)


@pytest.mark.slow
async def test_the_breaker_opens_for_a_server_that_accepts_and_never_answers(
    cluster: Cluster, open_shards: OpenShards
) -> None:
    with socket.socket() as hole:
        hole.bind(("127.0.0.1", 0))
        hole.listen()
        shards = await open_shards(
            cluster,
            dsns={"b": f"postgresql://nobody:x@127.0.0.1:{hole.getsockname()[1]}/hole"},
            connect_timeout_s=0.5,
            breaker_failures=2,
            breaker_cooldown_s=60.0,
        )
        async with asyncio.timeout(60):
            while not shards.server_for(on(shards, "b")).breaker.is_open:
                gathered = await shards.gather(QUERIES.get, [1 << 40 | number << 10 for number in range(16)])
                assert "b" in gathered.failed

    with pytest.raises(ServerUnavailable, match="times in a row"):
        await shards.shard(on(shards, "b")).fetch_value(QUERIES.whoami)


async def ask(shards: Shards, number: int) -> type[Exception] | None:
    try:
        await shards.shard(number).fetch_value(QUERIES.whoami, deadline_s=0.2)
    except (DeadlineExceeded, ServerUnavailable) as error:
        return type(error)
    return None


@pytest.mark.slow
async def test_the_breaker_opens_on_missed_deadlines_and_closes_when_the_server_answers_again(
    fragile: Cluster, own_server: LocalServer, open_shards: OpenShards
) -> None:
    """The server is stopped by a signal: its connections stay open, new ones are accepted, nothing is answered."""
    shards = await open_shards(
        fragile, max_connections=2, spare_connections=0, breaker_failures=3, breaker_cooldown_s=0.3
    )
    number = on(shards, "b")
    breaker = shards.server_for(number).breaker
    assert await ask(shards, number) is None
    with own_server.paused():
        outcomes = [await ask(shards, number) for _ in range(4)]
        assert outcomes == [DeadlineExceeded, DeadlineExceeded, DeadlineExceeded, ServerUnavailable]
        assert breaker.is_open
        gathered = await shards.gather(QUERIES.get, [1 << 40 | n << 10 for n in range(8)])
        assert list(gathered.failed) == ["b"]

        while breaker.is_open:  # noqa: ASYNC110  # until the cooldown is over
            await asyncio.sleep(0.01)
        assert await ask(shards, number) is DeadlineExceeded  # the one call that is let through
        assert await ask(shards, number) is ServerUnavailable

    async with asyncio.timeout(60):
        while await ask(shards, number) is not None:  # noqa: ASYNC110  # until the next call is let through
            await asyncio.sleep(0.01)
    assert not breaker.is_open
    assert breaker.failures == 0
    gathered = await shards.gather(QUERIES.get, [1 << 40 | n << 10 for n in range(8)], deadline_s=30.0)
    assert gathered.is_complete


@pytest.mark.slow
async def test_the_breaker_opens_when_gathers_and_transactions_miss_their_deadlines(
    fragile: Cluster, own_server: LocalServer, open_shards: OpenShards
) -> None:
    shards = await open_shards(fragile, breaker_failures=4, breaker_cooldown_s=60.0)
    number, ids = on(shards, "b"), [1 << 40 | n << 10 for n in range(8)]
    await shards.gather(QUERIES.get, ids)
    async with shards.shard(number).begin() as transaction:
        await transaction.fetch_value(QUERIES.whoami)
    with own_server.paused():
        for _ in range(2):
            gathered = await shards.gather(QUERIES.get, ids, deadline_s=0.2)
            assert isinstance(gathered.failed["b"], DeadlineExceeded)
            with pytest.raises(DeadlineExceeded):
                async with shards.shard(number).begin(deadline_s=0.2):
                    pass
        assert shards.server_for(number).breaker.is_open
        with pytest.raises(ServerUnavailable, match="times in a row"):
            async with shards.shard(number).begin(deadline_s=0.2):
                pass


@pytest.mark.slow
async def test_slow_statements_on_a_healthy_server_leave_the_breaker_closed(
    cluster: Cluster, open_shards: OpenShards
) -> None:
    shards = await open_shards(cluster, breaker_failures=2, breaker_cooldown_s=60.0)
    breaker = shards.server_for(0).breaker
    for _ in range(4):
        with pytest.raises(DeadlineExceeded):
            await shards.shard(0).fetch_value(QUERIES.nap, seconds=30.0, deadline_s=0.05)
        async with asyncio.timeout(20):
            while breaker.failures:  # noqa: ASYNC110  # until the server has answered the cancellation
                await asyncio.sleep(0.001)
    assert not breaker.is_open
    assert await shards.shard(0).fetch_value(QUERIES.whoami)


@pytest.mark.slow
async def test_a_transaction_does_not_wait_for_a_server_that_stopped_in_between(
    fragile: Cluster, own_server: LocalServer, open_shards: OpenShards
) -> None:
    shards = await open_shards(fragile)
    number = on(shards, "b")
    transaction = shards.shard(number).begin(deadline_s=1.0)
    opened = await transaction.__aenter__()
    await opened.execute(QUERIES.add, author_id=1, caption="stopped")
    with own_server.paused(), pytest.raises(WriteDeadlineExceeded, match="COMMIT"):
        await transaction.__aexit__(None, None, None)


@pytest.mark.slow
async def test_a_directory_that_hangs_holds_nobody_longer_than_a_deadline(
    servers: Mapping[str, LocalServer],
    own_server: LocalServer,
    fresh_database: Callable[[LocalServer], Awaitable[str]],
    open_shards: OpenShards,
) -> None:
    """The directory is on the server that is stopped; shards that are known, on another one, are read all the same."""
    conn = await open_connection(own_server.dsn(), "a")
    await conn.execute("CREATE DATABASE fragile")
    await conn.close()
    cluster = await make_cluster({"a": own_server.dsn("fragile"), "b": await fresh_database(servers["b"])}, 4)
    shards = await open_shards(cluster)
    known = await shards.shard(on(shards, "b")).fetch_value(QUERIES.add, author_id=1, caption="here")
    unknown = 1 << 40 | 100 << 10
    await shards.gather(QUERIES.get, [known])
    with own_server.paused():
        with pytest.raises(DeadlineExceeded) as caught:
            await shards.owner(unknown).fetch_value(QUERIES.whoami, deadline_s=0.3)
        assert caught.value.waited_for == "the shard map"
        with pytest.raises(DeadlineExceeded):
            async with shards.owner(unknown).begin(deadline_s=0.3):
                pass
        gathered = await shards.gather(QUERIES.get, [known, unknown], deadline_s=0.3)
        assert [row["id"] for row in gathered] == [known]
        assert list(gathered.failed) == ["directory"]
        assert gathered.unknown == [unknown]

    with pytest.raises(InvalidId):
        await shards.owner(unknown).fetch_value(QUERIES.whoami, deadline_s=30.0)
    await cluster.directory.close()


@pytest.mark.slow
async def test_a_read_is_retried_on_a_new_connection(cluster: Cluster, open_shards: OpenShards) -> None:
    shards = await open_shards(cluster)
    shard = shards.shard(0)
    read = asyncio.create_task(shard.fetch_value(QUERIES.nap, seconds=0.5))
    await end_napping(cluster, shard.server)

    assert await read == 1


async def test_a_write_is_not_retried_when_its_connection_is_lost(
    cluster: Cluster, open_shards: OpenShards, caption: str
) -> None:
    shards = await open_shards(cluster)
    shard = shards.shard(0)
    write = asyncio.create_task(shard.fetch_value(QUERIES.slow_add, seconds=30.0, caption=caption))
    await end_napping(cluster, shard.server)

    with pytest.raises(OutcomeUnknown, match="slow_add was sent to shard 0"):
        await write


@pytest.mark.slow
async def test_a_write_uses_a_new_connection_when_the_old_one_was_closed(
    cluster: Cluster, open_shards: OpenShards, caption: str
) -> None:
    shards = await open_shards(cluster, max_connections=1, spare_connections=0)
    shard = shards.shard(0)
    for _ in range(10):
        pid = await shard.fetch_value(QUERIES.whoami)
        (pooled,) = shards.server_for(0).point_pool.connections
        await cluster.run(shard.server, f"SELECT pg_terminate_backend({pid})")
        while not pooled.conn.is_closed():  # noqa: ASYNC110  # until the news is here
            await asyncio.sleep(0.01)
        assert await shard.fetch_value(QUERIES.add, author_id=1, caption=caption)


async def end_napping(cluster: Cluster, server: str) -> None:
    conn = await open_connection(cluster.dsns[server], server)
    ended = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() "
        "AND wait_event = 'PgSleep'"
    )
    async with asyncio.timeout(20):
        while await conn.execute(ended) == "SELECT 0":  # noqa: ASYNC110  # waits for the server, not for us
            await asyncio.sleep(0.01)
    await conn.close()
