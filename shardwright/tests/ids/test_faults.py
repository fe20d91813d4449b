"""No fault makes ids repeat: wrong grants, moves, fail-overs of shards that ran ahead, unflushed WAL, wrong clocks."""

from collections.abc import Awaitable, Callable, Mapping

import asyncpg
import pytest
from id_test_shard import IdShard, add_shard, connect, ids, move, rises, state_of
from test_recovery import DRAW, LAYOUT, skew, standby, until

from shardwright.ids import (
    CLOCK_WRONG_SQLSTATE,
    MAX_BATCH,
    NOT_OWNER_SQLSTATE,
    IdsInUse,
    advance_sql,
    install_functions,
    lease_ids,
    lower_ids,
    shard_sql,
)
from shardwright.local import LocalServer
from shardwright.topology import guard_sql, set_owned

assert standby  # a fixture
BATCH = f"SELECT max(id) FROM s0042.next_ids({MAX_BATCH}) AS id"
YEAR_S = 366 * 86_400
DRAWS = {
    "one": "SELECT s0042.next_id()",
    "batch": "SELECT s0042.next_ids(100)",
    "lease": "SELECT s0042.reserve_ticks(1000)",
}


# Wrong grants


@pytest.mark.parametrize("readable", [(), ("ids",), ("ids_gate",), ("ids_horizon",), ("ids", "ids_horizon")])
@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
async def test_a_role_that_may_write_the_sequences_and_not_read_them_is_refused(
    id_shard: IdShard, readable: tuple[str, ...], draw: str
) -> None:
    before = await id_shard.draw(100)
    role = f"partial_{id_shard.dsn.rsplit('/', 1)[1]}"
    await id_shard.conn.execute(f"""
        CREATE ROLE {role};
        GRANT USAGE ON SCHEMA s0042, shardwright TO {role};
        GRANT UPDATE ON ALL SEQUENCES IN SCHEMA s0042 TO {role};
    """)
    for name in readable:
        await id_shard.conn.execute(f"GRANT SELECT ON SEQUENCE s0042.{name} TO {role}")
    partial = await id_shard.connect()
    await partial.execute(f"SET ROLE {role}")
    try:
        for _ in range(3):
            with pytest.raises(asyncpg.InsufficientPrivilegeError, match="not read them") as refused:
                await ids(partial, draw)
            assert "Grant it USAGE, SELECT and UPDATE" in str(refused.value)
        assert rises(before + await id_shard.draw(100))
    finally:
        await partial.close()
        await id_shard.conn.execute(f"DROP OWNED BY {role}; DROP ROLE {role}")


# Moves


async def assert_fenced(conn: asyncpg.Connection) -> None:
    for draw in DRAWS.values():
        with pytest.raises(asyncpg.PostgresError) as refused:
            await ids(conn, draw)
        assert state_of(refused.value) == NOT_OWNER_SQLSTATE
    with pytest.raises(asyncpg.PostgresError) as refused:
        await lease_ids(conn, 42, LAYOUT)
    assert state_of(refused.value) == NOT_OWNER_SQLSTATE


async def add_owned_shard(conn: asyncpg.Connection) -> None:
    await add_shard(conn, LAYOUT, "clock.skewed()")
    await conn.execute(guard_sql(42, owned=True))


async def test_a_server_that_no_longer_owns_a_shard_generates_no_ids_until_it_returns(
    servers: Mapping[str, LocalServer], fresh_database: Callable[[LocalServer], Awaitable[str]]
) -> None:
    source = await connect(await fresh_database(servers["a"]))
    target = await connect(await fresh_database(servers["b"]))
    for conn in (source, target):
        await add_owned_shard(conn)
    await set_owned(target, 42, owned=False)
    await skew(target, -3600)
    drawn = await ids(source, DRAW)
    lease = await lease_ids(source, 42, LAYOUT, 100)

    await move(source, target)
    await assert_fenced(source)
    drawn += await ids(target, DRAW)
    assert not set(drawn) & {lease.draw() for _ in range(100)}
    drawn += await ids(target, "SELECT s0042.next_ids(1000)")
    await move(target, source)
    await assert_fenced(target)
    drawn += await ids(source, DRAW)

    assert rises(drawn)
    await source.close()
    await target.close()


@pytest.mark.slow
async def test_a_fence_outlives_a_crash(own_server: LocalServer) -> None:
    conn = await connect(own_server.dsn())
    await add_owned_shard(conn)
    drawn = await ids(conn, DRAW)
    await set_owned(conn, 42, owned=False)
    own_server.crash()
    conn.terminate()
    own_server.start()
    conn = await connect(own_server.dsn())

    await assert_fenced(conn)
    await set_owned(conn, 42, owned=True)

    assert rises(drawn + await ids(conn, DRAW))
    await conn.close()


async def test_a_fence_that_is_set_or_lifted_twice_is_as_one(id_shard: IdShard) -> None:
    drawn = await id_shard.draw(10)
    for owned in (False, False, True, True):
        await set_owned(id_shard.conn, 42, owned=owned)

    assert rises(drawn + await id_shard.draw(10))


# Fail-overs of shards that run ahead of their clock


async def fail_over(
    primary: LocalServer, standby: LocalServer, *, back_s: int, batches: int
) -> tuple[int, list[int]]:
    """Let a primary whose standby is cut off lease ids, crash it, promote the standby and draw there.

    Returns a lower bound of the highest leased id, and what was drawn.
    """
    conn, follower = await connect(primary.dsn()), await connect(standby.dsn())
    await add_shard(conn, LAYOUT, "clock.skewed()")
    await ids(conn, DRAW)
    (written,) = await ids(conn, "SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn")
    await until(follower, "SELECT pg_last_wal_replay_lsn() - '0/0'::pg_lsn >= $1::numeric", written)
    await follower.execute("ALTER SYSTEM SET primary_conninfo = ''")
    await follower.fetchval("SELECT pg_reload_conf()")
    await until(conn, "SELECT count(*) = 0 FROM pg_stat_replication")
    await follower.close()
    await skew(conn, -back_s)
    leases = [await lease_ids(conn, 42, LAYOUT, MAX_BATCH) for _ in range(batches)]
    highest = max([each.draw() for each in leases]) + (1_000 << 23)
    primary.crash()
    conn.terminate()
    standby.promote()
    conn = await connect(standby.dsn())
    await skew(conn, -back_s)
    fresh = await ids(conn, DRAW)
    await conn.close()
    return highest, fresh


@pytest.mark.slow
@pytest.mark.parametrize(("back_s", "batches"), [(0, 8), (3, 4), (3600, 8)])
async def test_a_standby_goes_on_above_leases_that_it_never_heard_of(
    own_server: LocalServer, standby: LocalServer, back_s: int, batches: int
) -> None:
    highest, fresh = await fail_over(own_server, standby, back_s=back_s, batches=batches)

    assert min(fresh) > highest
    assert rises(fresh)


@pytest.mark.slow
async def test_batches_wait_for_the_clock_and_others_draw_meanwhile(id_shard: IdShard) -> None:
    other = await id_shard.connect()
    for _ in range(3):
        (highest,) = await ids(other, BATCH)
        (now,) = await ids(other, "SELECT shardwright.min_id_at(clock_timestamp())")
        assert (highest - now) >> 23 <= 1250
        assert max(await id_shard.draw(100)) > highest
    await other.close()


# A crash before the horizon is on disk


@pytest.mark.slow
@pytest.mark.parametrize("commit", ["on", "off"])
async def test_a_crash_repeats_no_draw_above_a_horizon_that_was_never_flushed(
    own_server: LocalServer, commit: str
) -> None:
    conn = await connect(own_server.dsn())
    await conn.execute(f"ALTER SYSTEM SET synchronous_commit = {commit}")
    await conn.fetchval("SELECT pg_reload_conf()")
    await conn.close()
    conn = await connect(own_server.dsn())
    await conn.execute("CREATE SCHEMA s0042")
    await install_functions(conn, LAYOUT)
    frozen = "'2026-06-01 12:00:00+00'::timestamptz"
    await conn.execute(shard_sql(42, LAYOUT, clock_sql=frozen, ahead_ms=1))
    await ids(conn, "SELECT s0042.next_id()")
    await conn.execute("CHECKPOINT")
    opened = await connect(own_server.dsn())
    await opened.execute("BEGIN")
    await ids(opened, "SELECT s0042.next_ids(300000)")  # above the horizon; its WAL waits for a commit
    drawn = await ids(conn, "SELECT s0042.next_id() FROM generate_series(1, 500)")
    own_server.crash()
    for each in (conn, opened):
        each.terminate()
    own_server.start()
    conn = await connect(own_server.dsn())

    fresh = await ids(conn, "SELECT s0042.next_ids(300000)")

    assert min(fresh) > max(drawn)
    await conn.close()


# A wrong clock


@pytest.fixture
async def skewed(
    servers: Mapping[str, LocalServer], fresh_database: Callable[[LocalServer], Awaitable[str]]
) -> asyncpg.Connection:
    conn = await connect(await fresh_database(servers["a"]))
    await add_shard(conn, LAYOUT, "clock.skewed()")
    return conn


@pytest.mark.parametrize("draws_before", [0, 1])
@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
async def test_a_clock_decades_ahead_is_refused_and_leaves_no_trace(
    skewed: asyncpg.Connection, draw: str, draws_before: int
) -> None:
    drawn = [made for _ in range(draws_before) for made in await ids(skewed, DRAW)]
    await skew(skewed, 30 * YEAR_S)
    for _ in range(2):
        with pytest.raises(asyncpg.PostgresError, match="over a year ahead") as refused:
            await ids(skewed, draw)
        assert state_of(refused.value) == CLOCK_WRONG_SQLSTATE
    await skew(skewed, 0)

    fresh = await ids(skewed, DRAW)

    (bound,) = await ids(skewed, "SELECT shardwright.min_id_at(clock_timestamp() + interval '1 second')")
    assert rises(drawn + fresh)
    assert fresh[-1] < bound
    await skewed.close()


async def test_a_shard_that_was_idle_for_years_goes_on_if_others_were_not(skewed: asyncpg.Connection) -> None:
    for number in (43, 44):
        await skewed.execute(f"CREATE SCHEMA s00{number}")
        await skewed.execute(shard_sql(number, LAYOUT, clock_sql="clock.skewed()"))
    await ids(skewed, DRAW)
    await skew(skewed, 3 * YEAR_S)
    for number in (43, 44):
        with pytest.raises(asyncpg.PostgresError, match="If it is right, run: SELECT s00"):
            await ids(skewed, f"SELECT s00{number}.next_id()")
        await ids(skewed, f"SELECT s00{number}.reserve_ticks(1, 1)")  # as the hint says

    assert rises(await ids(skewed, DRAW))
    await skewed.close()


@pytest.mark.parametrize("crash", [False, pytest.param(True, marks=pytest.mark.slow)])
async def test_ids_that_a_wrong_clock_carried_ahead_are_lowered_unless_they_are_in_use(
    own_server: LocalServer, crash: bool
) -> None:
    conn = await connect(own_server.dsn())
    await add_shard(conn, LAYOUT)
    await conn.execute(
        "CREATE TABLE s0042.posts (id bigint PRIMARY KEY DEFAULT s0042.next_id(), author_id bigint)"
    )
    kept = await ids(conn, "INSERT INTO s0042.posts DEFAULT VALUES RETURNING id")
    await conn.execute(advance_sql(42, by_ms=20 * YEAR_S * 1000))
    await conn.execute("INSERT INTO s0042.posts DEFAULT VALUES")
    if crash:
        own_server.crash()
        conn.terminate()
        own_server.start()
        conn = await connect(own_server.dsn())

    with pytest.raises(IdsInUse, match=r"1 in s0042\.posts\.id \(up to 204") as refused:
        await lower_ids(conn, 42, LAYOUT)
    assert [(each.table, each.column, each.count) for each in refused.value.found] == [
        ("s0042.posts", "id", 1)
    ]
    assert (await ids(conn, "SELECT s0042.next_id()"))[0] > refused.value.found[
        0
    ].highest  # nothing was changed
    await conn.execute("DELETE FROM s0042.posts WHERE id > $1", kept[0])
    await lower_ids(conn, 42, LAYOUT)

    kept += await ids(conn, "INSERT INTO s0042.posts DEFAULT VALUES RETURNING id")
    (bound,) = await ids(conn, "SELECT shardwright.min_id_at(clock_timestamp() + interval '2 minutes')")
    assert rises([*kept, bound])
    await conn.close()
