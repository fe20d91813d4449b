"""After a crash, a failover or a move ids continue above all earlier ones, also with a lagging clock."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Iterator, Mapping

import asyncpg
import pytest
from id_test_shard import add_shard, connect, ids, rises

from shardwright.ids import Layout, advance_sql, last_tick_sql, resume_above_sql
from shardwright.local import LocalServer, make_standby

LAYOUT = Layout()
DRAW = "SELECT s0042.next_id() FROM generate_series(1, 100)"


async def skew(conn: asyncpg.Connection, seconds: int) -> None:
    await conn.execute(f"SET clock.skew_s = '{seconds}'")


async def clock_bound(conn: asyncpg.Connection) -> int:
    """Return the smallest id of the current time on the connection's clock."""
    return (await ids(conn, "SELECT shardwright.min_id_at(clock.skewed())"))[0]


@pytest.mark.slow
async def test_after_crashes_ids_continue_above_even_with_a_clock_set_back(own_server: LocalServer) -> None:
    conn = await connect(own_server.dsn())
    await add_shard(conn, LAYOUT, "clock.skewed()")
    await conn.execute("CREATE TABLE s0042.posts (id bigint PRIMARY KEY DEFAULT s0042.next_id())")
    drawn: list[int] = []
    for back_s in (0, 60, 3600, 0):
        await skew(conn, -back_s)
        for _ in range(20):
            drawn += await ids(
                conn, "INSERT INTO s0042.posts SELECT FROM generate_series(1, 20) RETURNING id"
            )
        own_server.crash()
        conn.terminate()
        own_server.start()
        conn = await connect(own_server.dsn())
        assert set(await ids(conn, "SELECT id FROM s0042.posts")) == set(drawn)
    assert rises(drawn)
    await conn.close()


async def test_a_clean_restart_does_not_run_ahead(own_server: LocalServer) -> None:
    conn = await connect(own_server.dsn())
    await add_shard(conn, LAYOUT, "clock.skewed()")
    drawn = await ids(conn, DRAW)
    await conn.close()
    own_server.stop()
    own_server.start()
    conn = await connect(own_server.dsn())
    bound = await clock_bound(conn)
    drawn += await ids(conn, DRAW)
    assert rises(drawn)
    assert (drawn[-1] - bound) >> 23 < 1000
    await conn.close()


@pytest.mark.slow
async def test_clients_that_drew_while_it_crashed_never_see_an_id_again(own_server: LocalServer) -> None:
    conn = await connect(own_server.dsn())
    await add_shard(conn, LAYOUT)
    await conn.close()
    drawn: list[int] = []

    async def draw_until_it_crashes(own: list[int]) -> None:
        client = await connect(own_server.dsn())
        try:
            while True:
                own.extend(await ids(client, "SELECT s0042.next_id() FROM generate_series(1, 10)"))
        except (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError):
            client.terminate()  # which ends the client's part

    for _ in range(3):
        per_client: list[list[int]] = [[] for _ in range(4)]
        clients = [asyncio.create_task(draw_until_it_crashes(own)) for own in per_client]
        while min(map(len, per_client)) < 250:  # noqa: ASYNC110 - all four are drawing when the server goes
            await asyncio.sleep(0.01)
        await asyncio.to_thread(own_server.crash)
        await asyncio.gather(*clients)
        drawn += itertools.chain.from_iterable(per_client)
        highest = max(drawn)
        own_server.start()
        conn = await connect(own_server.dsn())
        fresh = await ids(conn, DRAW)
        await conn.close()
        drawn += fresh
        assert min(fresh) > highest
    assert len(set(drawn)) == len(drawn)


@pytest.fixture
def standby(own_server: LocalServer) -> Iterator[LocalServer]:
    server = make_standby(own_server, own_server.directory.parent / "standby")
    try:
        yield server
    finally:
        server.stop(mode="immediate")


async def lose_the_end(primary: LocalServer, standby: LocalServer, ahead_s: int) -> int:
    """Fail over from a primary with a fast clock, whose last draws never reached the standby.

    Returns the highest id that the primary made.
    """
    conn, follower = await connect(primary.dsn()), await connect(standby.dsn())
    await add_shard(conn, LAYOUT, "clock.skewed()")
    await ids(conn, DRAW)
    (written,) = await ids(conn, "SELECT pg_current_wal_flush_lsn() - '0/0'::pg_lsn")
    await until(follower, "SELECT pg_last_wal_replay_lsn() - '0/0'::pg_lsn >= $1::numeric", written)
    await follower.execute("ALTER SYSTEM SET primary_conninfo = ''")
    await follower.fetchval("SELECT pg_reload_conf()")
    await until(conn, "SELECT count(*) = 0 FROM pg_stat_replication")
    await skew(conn, ahead_s)
    highest = max(await ids(conn, DRAW))
    primary.crash()
    conn.terminate()
    await follower.close()
    standby.promote()
    return highest


async def until(conn: asyncpg.Connection, sql: str, *args: object) -> None:
    while not (await ids(conn, sql, *args))[0]:  # noqa: ASYNC110 - another server's state rings no bell
        await asyncio.sleep(0.02)


@pytest.mark.slow
async def test_a_standby_that_lost_the_last_wal_and_has_a_slower_clock_continues_above(
    own_server: LocalServer, standby: LocalServer
) -> None:
    highest = await lose_the_end(own_server, standby, ahead_s=4)
    conn = await connect(standby.dsn())

    assert await clock_bound(conn) < highest  # its clock alone would repeat
    fresh = await ids(conn, DRAW)

    assert min(fresh) > highest
    assert rises(fresh)
    await conn.close()


@pytest.mark.slow
async def test_a_clock_slower_than_ahead_ms_needs_an_advance_before_the_first_write(
    own_server: LocalServer, standby: LocalServer
) -> None:
    highest = await lose_the_end(own_server, standby, ahead_s=30)
    conn = await connect(standby.dsn())

    assert (await ids(conn, DRAW))[0] < highest  # 30 s is more than the 5 s it goes ahead by itself
    await conn.execute(advance_sql(42, by_ms=60_000))

    assert min(await ids(conn, DRAW)) > highest
    await conn.close()


async def test_after_a_move_ids_continue_above_although_the_new_server_s_clock_lags(
    servers: Mapping[str, LocalServer], fresh_database: Callable[[LocalServer], Awaitable[str]]
) -> None:
    source = await connect(await fresh_database(servers["a"]))
    target = await connect(await fresh_database(servers["b"]))
    for conn in (source, target):
        await add_shard(conn, LAYOUT, "clock.skewed()")
    await skew(target, -3600)
    drawn = await ids(source, DRAW)

    (tick,) = await ids(source, last_tick_sql(42))
    await target.execute(resume_above_sql(42, tick))
    stragglers = await ids(source, DRAW)  # drawn by those who have not heard of the move yet
    drawn += await ids(target, DRAW)

    assert rises(drawn)
    assert not set(stragglers) & set(drawn)
    await source.close()
    await target.close()


async def test_a_shard_that_never_generated_an_id_can_be_moved_too(
    servers: Mapping[str, LocalServer], fresh_database: Callable[[LocalServer], Awaitable[str]]
) -> None:
    source = await connect(await fresh_database(servers["a"]))
    target = await connect(await fresh_database(servers["b"]))
    for conn in (source, target):
        await add_shard(conn, LAYOUT)

    (tick,) = await ids(source, last_tick_sql(42))
    await target.execute(resume_above_sql(42, tick))

    assert rises(await ids(target, DRAW))
    await source.close()
    await target.close()
