"""Fail-over: a promoted replica is followed without a restart, and the old primary is never written to again."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import pytest
from replica_test_cluster import QUERIES, OpenRouter, ReplicatedServer, make_counters, run_command

from shardwright.errors import ServerUnavailable
from shardwright.local import LocalServer
from shardwright.migrations import Migrator
from shardwright.moves import MoveOptions, Mover, find_leftovers
from shardwright.routing import ANY, DeadlineExceeded, OutcomeUnknown, Session, Shards, replica_set, session
from shardwright.topology import Directory, fetch_value, open_connection
from shardwright.widen import ShardWidener


async def increment(shards: Shards, counter: int, limit_s: float = 30.0) -> int:
    """Increment as soon as the server accepts writes again."""
    async with asyncio.timeout(limit_s):
        while True:
            try:
                return await shards.shard(1).fetch_value(QUERIES.increment, id=counter)
            except (ServerUnavailable, DeadlineExceeded):
                await asyncio.sleep(0.05)


@pytest.mark.slow
async def test_a_promoted_replica_is_followed_and_the_old_primary_refused(
    own_replicated: ReplicatedServer, open_router: OpenRouter
) -> None:
    server = own_replicated
    shards = await open_router(server, replica_probe_s=0.2)
    await shards.shard(1).execute(QUERIES.put, id=1, value=1)
    with Session() as caller:
        await shards.shard(1).fetch_value(QUERIES.value, id=1)
    token = await caller.token()
    await server.caught_up()
    old, new = server.primary, server.standbys[0]

    with old.paused():  # hangs, as a lost machine does
        new.promote()
        assert await increment(shards, 1) == 2
        assert await shards.read(session(token)).shard(1).fetch_value(QUERIES.value, id=1) == 2
    # It is back, and believes that it is the primary: pooled connections to it are dropped, and new ones refused.
    for value in range(3, 30):
        assert await shards.shard(1).fetch_value(QUERIES.increment, id=1) == value
    assert await server.run(old, "SELECT value FROM s0001.counters WHERE id = 1") == 1
    assert await server.run(new, "SELECT value FROM s0001.counters WHERE id = 1") == 29

    # A process that starts now knows nothing of it, and finds the newer timeline.
    late = await open_router(server, expected=0)
    assert await late.shard(1).fetch_value(QUERIES.increment, id=1) == 30
    assert await late.read(ANY).shard(1).fetch_value(QUERIES.answered_by) == new.port  # no replica follows it

    # Where only the old primary answers, nothing is written at all: its timeline is over.
    new.stop()
    for _ in range(5):
        with pytest.raises((ServerUnavailable, OutcomeUnknown)):
            await late.shard(1).execute(QUERIES.increment, id=1)
    assert await server.run(old, "SELECT value FROM s0001.counters WHERE id = 1") == 1


@pytest.mark.slow
@pytest.mark.parametrize("in_use_s", [10.0, 0.0], ids=["replicas are read", "nobody reads replicas"])
async def test_a_replica_promoted_beside_a_primary_that_goes_on_is_followed(
    own_replicated: ReplicatedServer,
    open_router: OpenRouter,
    monkeypatch: pytest.MonkeyPatch,
    in_use_s: float,
) -> None:
    server = own_replicated
    shards = await open_router(server, replica_probe_s=0.1)
    monkeypatch.setattr(replica_set, "IN_USE_S", in_use_s)
    monkeypatch.setattr(replica_set, "LOOK_S", 0.1)
    await shards.shard(1).execute(QUERIES.put, id=1, value=1)
    await server.caught_up()
    old, new = server.primary, server.standbys[0]

    new.promote()  # by mistake, or because a network was cut: the old primary answers all the time
    await _wait_for_primary(shards, new)

    for value in range(2, 10):
        assert await increment(shards, 1) == value
    assert await server.run(old, "SELECT value FROM s0001.counters WHERE id = 1") == 1
    assert await server.run(new, "SELECT value FROM s0001.counters WHERE id = 1") == 9


@pytest.mark.slow
async def test_a_token_of_a_later_timeline_makes_a_process_look_for_the_promoted_replica(
    own_replicated: ReplicatedServer, open_router: OpenRouter
) -> None:
    server = own_replicated
    first, second = [await open_router(server, replica_probe_s=0.1) for _ in range(2)]
    for _, replicas in second.replica_sets():
        replicas._task.cancel()  # it asks nobody but for a read
    await first.shard(1).execute(QUERIES.put, id=1, value=1)
    await server.caught_up()
    old, new = server.primary, server.standbys[0]
    new.promote()
    await _wait_for_primary(first, new)
    with Session() as caller:
        assert await increment(first, 1) == 2

    assert await _primary_port(second) == old.port  # which answers it as ever
    assert await second.read(session(await caller.token())).shard(1).fetch_value(QUERIES.value, id=1) == 2
    assert await _primary_port(second) == new.port


async def _wait_for_primary(shards: Shards, wanted: LocalServer, limit_s: float = 30.0) -> None:
    async with asyncio.timeout(limit_s):
        while await _primary_port(shards) != wanted.port:  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.05)


async def _primary_port(shards: Shards) -> int | None:
    """Of the primary that answers; None while the connections to the former one are being dropped."""
    with contextlib.suppress(ServerUnavailable, DeadlineExceeded):
        return await shards.shard(1).fetch_value(QUERIES.answered_by)
    return None


@pytest.mark.slow
async def test_shards_move_from_the_promoted_replica_and_never_from_the_former_primary(
    own_replicated: ReplicatedServer,
    servers: Mapping[str, LocalServer],
    fresh_database: Callable[..., Awaitable[str]],
    tmp_path: Path,
) -> None:
    server, target = own_replicated, await fresh_database(servers["b"])
    await server.run(server.primary, "INSERT INTO s0001.counters VALUES (1, 1)")
    await server.caught_up()
    old, new = server.primary, server.standbys[0]
    new.promote()
    await server.run(new, "UPDATE s0001.counters SET value = 2 WHERE id = 1")
    directory = await Directory.open(new.dsn(server.database))
    await directory.add_server("b", target)
    mover = Mover(directory, options=MoveOptions(poll_s=0.05))

    move = await mover.start([1], "b")
    assert await _value_at(target) == 2
    await mover.finish(move.id)
    assert await find_leftovers(directory) == []
    (tmp_path / "shard").mkdir()
    (tmp_path / "shard" / "0001_names.sql").write_text("CREATE TABLE names (id bigint PRIMARY KEY);\n")
    await Migrator(directory, tmp_path).apply()

    assert await server.run(old, "SELECT count(*) FROM pg_publication") == 0
    assert await server.run(old, "SELECT to_regclass('s0002.names') IS NULL")
    assert await server.run(new, "SELECT to_regclass('s0002.names') IS NOT NULL")
    await directory.close()


@pytest.mark.slow
async def test_shards_are_created_widened_and_written_by_commands_at_the_promoted_replica_alone(
    own_replicated: ReplicatedServer,
) -> None:
    server = own_replicated
    await server.caught_up()
    old, new = server.primary, server.standbys[0]
    new.promote()  # and the map goes on naming the former primary, which answers
    await server.run(
        new, "CREATE TABLE s0001.old_rows (id integer PRIMARY KEY); INSERT INTO s0001.counters VALUES (1, 1)"
    )
    directory = await Directory.open(new.dsn(server.database))

    shard_map = await directory.add_shards(1, prepare=make_counters)
    await directory.add_server("a", server.dsn)
    planned = await ShardWidener(shard_map, [1]).plan(["old_rows.id"])
    said = [
        await run_command(new.dsn(server.database), *words)
        for words in (
            ("sql", "--shard", "1", "--write", "UPDATE counters SET value = 2"),
            ("ids", "new", "--shard", "1"),
            ("status",),
        )
    ]

    assert [(each.table, each.column) for each in planned] == [("old_rows", "id")]
    assert [code for code, _ in said] == [0, 0, 0], said
    assert await server.run(new, "SELECT value FROM s0001.counters") == 2
    for each, expected in ((old, False), (new, True)):
        assert await server.run(each, "SELECT to_regclass('s0004.counters') IS NOT NULL") is expected
    await directory.close()


async def _value_at(dsn: str) -> int:
    conn = await open_connection(dsn, "b")
    try:
        return await fetch_value(conn, "SELECT value FROM s0001.counters WHERE id = 1")
    finally:
        await conn.close()


@pytest.mark.slow
async def test_replicas_serve_again_once_they_follow_the_new_primary(
    own_replicated: ReplicatedServer, open_router: OpenRouter
) -> None:
    server = own_replicated
    shards = await open_router(server, replica_probe_s=0.2)
    await shards.shard(1).execute(QUERIES.put, id=1, value=1)
    await server.caught_up()
    new, other = server.standbys

    server.primary.crash()
    new.promote()
    assert await increment(shards, 1) == 2
    conninfo = await server.run(other, "SELECT current_setting('primary_conninfo')")
    moved = conninfo.replace(f"port={server.primary.port}", f"port={new.port}")
    await server.run(other, f"ALTER SYSTEM SET primary_conninfo = $${moved}$$")
    await server.run(other, "SELECT pg_reload_conf()::text")
    server.primary, server.standbys = new, [other]

    await server.wait_for_replicas(shards, 1)
    with Session():
        await increment(shards, 1)
        assert await shards.read(session()).shard(1).fetch_value(QUERIES.value, id=1) == 3
