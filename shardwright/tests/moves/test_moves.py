"""Shards are moved while they are used: nothing is lost, and only one server accepts writes."""

import asyncio
import contextlib
import os
import subprocess
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import asyncpg
import pytest
from move_test_load import QUICK, SHARDS, Load, read_copies

from shardwright.errors import MigrationRefused
from shardwright.local import LocalServer, make_standby
from shardwright.local.binaries import find_binaries
from shardwright.migrations import Migrator, MigratorOptions
from shardwright.moves import (
    Move,
    MoveFailed,
    MoveOptions,
    Mover,
    MoveRefused,
    Step,
    drop_leftovers,
    find_leftovers,
)
from shardwright.moves.session import Session
from shardwright.moves.throttle import Throttle
from shardwright.topology import Directory, fetch_rows, fetch_value, is_owned, open_connection, set_owned


@pytest.fixture
async def servers_conns(dsns: dict[str, str]) -> AsyncIterator[dict[str, asyncpg.Connection]]:
    conns = {name: await open_connection(dsn, name) for name, dsn in dsns.items()}
    yield conns
    for conn in conns.values():
        await conn.close()


@pytest.mark.slow
async def test_shards_move_under_load_and_back_and_nothing_is_lost(
    directory: Directory, dsns: dict[str, str], mover: Mover, load: Load
) -> None:
    await load.wait_for_writes()
    move = await mover.start(SHARDS, "a")
    assert move.step is Step.KEEP
    assert move.details["verified_rows"] > 1000
    assert {(await directory.load()).owners[number] for number in SHARDS} == {"a"}
    await load.wait_for_writes()
    await load.add_day()
    await load.wait_for_writes()

    back = await mover.back(move.id)
    await load.wait_for_writes()
    assert {(await directory.load()).owners[number] for number in SHARDS} == {"b"}
    assert back.details["verified_rows"] > move.details["verified_rows"]

    await load.stop()
    await load.check()
    ended = await mover.finish(move.id)
    assert ended.step is Step.DONE
    assert await find_leftovers(directory) == []
    assert (await read_copies(dsns))["a"] == {}
    await load.check()


@pytest.mark.slow
async def test_moves_back_and_forth_under_load_lose_and_double_nothing(
    directory: Directory, dsns: dict[str, str], mover: Mover, load: Load
) -> None:
    """Six changes of owner; twenty, which take a minute, with SHARDWRIGHT_ALL_FAULTS=1."""
    changes = 20 if os.environ.get("SHARDWRIGHT_ALL_FAULTS") else 6
    await load.wait_for_writes(30)
    move = await mover.start(SHARDS, "a")
    for turn in range(1, changes):
        await load.wait_for_writes(20)
        if turn % 4 == 0:
            await load.add_day()
        move = await mover.back(move.id)
        owner = "b" if turn % 2 else "a"
        assert {(await directory.load()).owners[number] for number in SHARDS} == {owner}
        assert move.details["verified_rows"] > 1000
    await load.wait_for_writes(30)
    await load.stop()
    await load.check()
    await mover.finish(move.id)
    assert await find_leftovers(directory) == []
    assert (await read_copies(dsns))["a"] == {}
    await load.check()


async def test_copying_waits_until_its_average_is_below_the_limit() -> None:
    now = 0.0

    async def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds

    throttle = Throttle(MoveOptions(copy_bytes_per_s=100), clock=lambda: now, sleep=sleep)
    session = cast("Session", None)  # no replica is asked for
    await throttle.wait(1_000, session)
    assert now == pytest.approx(10.0)
    now = 30.0
    await throttle.wait(2_000, session)
    assert now == pytest.approx(30.0)


@pytest.mark.slow
async def test_copying_waits_for_a_replica_that_lags(own_server: LocalServer) -> None:
    replica = make_standby(own_server, own_server.directory.parent / "replica")
    conn, behind = await open_connection(own_server.dsn(), "a"), await connect_to_standby(replica.dsn())
    paused = asyncio.Event()

    async def sleep(seconds: float) -> None:
        paused.set()
        await asyncio.sleep(seconds)

    try:
        await behind.execute("SELECT pg_wal_replay_pause()")
        await conn.execute("CREATE TABLE many AS SELECT n FROM generate_series(1, 20000) n")
        options = MoveOptions(max_replica_lag_bytes=64 * 1024, poll_s=0.02)
        session = cast("Session", SimpleNamespace(source=conn, target=conn))
        waiting = asyncio.create_task(Throttle(options, sleep=sleep).wait(0, session))
        await asyncio.wait_for(paused.wait(), 30)
        assert not waiting.done()

        await behind.execute("SELECT pg_wal_replay_resume()")

        await asyncio.wait_for(waiting, 30)
    finally:
        await conn.close()
        await behind.close()
        replica.stop(mode="immediate")


async def connect_to_standby(dsn: str) -> asyncpg.Connection:
    return cast("asyncpg.Connection", await asyncpg.connect(dsn))


@pytest.mark.slow
async def test_a_move_that_is_due_is_ended_and_another_goes_on(
    directory: Directory, dsns: dict[str, str], mover: Mover, servers_conns: dict[str, asyncpg.Connection]
) -> None:
    due = await mover.start([1], "a", keep_s=0)
    kept = await mover.start([3], "a", keep_s=3600)
    await servers_conns["a"].execute(
        "CREATE TABLE s0003.visits__2 PARTITION OF s0003.visits FOR VALUES FROM (2) TO (3)"
    )

    ended = await mover.tend()

    assert [each.id for each in ended] == [due.id]
    assert [each.id for each in await mover.moves()] == [kept.id]
    assert await fetch_value(servers_conns["b"], "SELECT to_regclass('s0003.visits__2') IS NOT NULL")


@pytest.mark.slow
async def test_tending_goes_on_with_what_was_interrupted_and_past_what_fails(
    directory: Directory, mover: Mover, servers_conns: dict[str, asyncpg.Connection]
) -> None:
    broken = await mover.start([SHARDS[0]], "a", keep_s=0)
    interrupted = await mover.start([SHARDS[1]], "a", keep_s=3600)
    await set_owned(servers_conns["b"], SHARDS[0], owned=True)  # a copy that accepts writes is not dropped

    def die(move: Move, phase: str) -> None:
        if (move.id, move.step, phase) == (interrupted.id, Step.DROP, "begin"):
            raise ConnectionAbortedError("the coordinator is gone")

    with pytest.raises(MoveFailed, match="a connection was lost"):
        await Mover(directory, options=QUICK, on_step=die).finish(interrupted.id)

    async with directory.connect() as conn:
        await conn.execute("SELECT pg_advisory_lock(hashtext('shardwright move tend'))")
        assert await mover.tend() == []  # another process does it
    with pytest.raises(MoveFailed, match="accepts writes: it stays"):
        await mover.tend()

    assert [move.id for move in await mover.moves()] == [broken.id]
    await set_owned(servers_conns["b"], SHARDS[0], owned=False)
    assert [move.id for move in await mover.tend()] == [broken.id]


@pytest.mark.slow
async def test_a_server_without_room_is_not_chosen(directory: Directory) -> None:
    mover = Mover(directory, options=replace(QUICK, room_bytes={"a": 1}))

    with pytest.raises(MoveRefused, match="server a has room for 1 byte"):
        await mover.start(SHARDS, "a")


@pytest.mark.slow
async def test_a_move_carries_tables_indexes_sequences_and_ids(
    directory: Directory, dsns: dict[str, str], mover: Mover, servers_conns: dict[str, asyncpg.Connection]
) -> None:
    source, target = servers_conns["b"], servers_conns["a"]
    last = await fetch_value(source, "SELECT s0001.next_id()")
    number = await fetch_value(source, "SELECT max(number) FROM s0001.comments")
    await source.execute(
        "CREATE TABLE s0001.by_hand (id integer PRIMARY KEY); INSERT INTO s0001.by_hand VALUES (1)"
    )
    before = (await read_copies(dsns))["b"]
    indexes = "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 's0001' ORDER BY 1"
    wanted = await fetch_rows(source, indexes)

    move = await mover.start([1, 3], "a")

    assert (await read_copies(dsns))["a"] == before
    assert await fetch_rows(target, indexes) == wanted
    post = await fetch_value(
        target, "INSERT INTO s0001.posts (author_id, caption) VALUES (1, 'new') RETURNING id"
    )
    assert post > last
    added = f"INSERT INTO s0001.comments (post_id, body) VALUES ({post}, 'new') RETURNING number"
    assert await fetch_value(target, added) > number
    for server, is_owner in (("a", True), ("b", False)):
        assert await is_owned(servers_conns[server], 1) is is_owner
    with pytest.raises(asyncpg.PostgresError, match="shard 1 is not owned by this server"):
        await source.execute("DELETE FROM s0001.posts")
    (move,) = await mover.moves()
    assert move.step is Step.KEEP
    with pytest.raises(MoveRefused, match="point of no return"):
        await mover.abort(move.id)
    await mover.finish(move.id)
    assert await mover.moves() == []


@pytest.mark.slow
async def test_an_aborted_move_leaves_nothing_at_the_target(
    directory: Directory, dsns: dict[str, str], servers_conns: dict[str, asyncpg.Connection]
) -> None:
    def stop(move: Move, phase: str) -> None:
        if (move.step, phase) == (Step.DRAIN, "effect"):
            raise MoveFailed("stopped here")

    mover = Mover(directory, options=QUICK, on_step=stop)
    with pytest.raises(MoveFailed, match="stopped here"):
        await mover.start(SHARDS, "a")
    (move,) = await mover.moves()
    assert move.step is Step.CATCH_UP
    await servers_conns["b"].execute(
        "INSERT INTO s0001.posts (author_id, caption) VALUES (1, 'the source goes on')"
    )

    assert (await mover.abort(move.id)).step is Step.ABORTED
    assert (await read_copies(dsns))["a"] == {}
    assert await find_leftovers(directory) == []
    await servers_conns["b"].execute("INSERT INTO s0003.posts (author_id, caption) VALUES (1, 'and on')")
    assert (await mover.abort(move.id)).step is Step.ABORTED


@pytest.mark.slow
async def test_every_reason_against_a_move_is_named_at_once(
    directory: Directory, mover: Mover, servers_conns: dict[str, asyncpg.Connection]
) -> None:
    await servers_conns["b"].execute(
        "CREATE TABLE s0001.keyless (a integer); CREATE UNLOGGED TABLE s0001.scratch (a integer PRIMARY KEY)"
    )
    await servers_conns["a"].execute("CREATE SCHEMA s0001")

    with pytest.raises(MoveRefused) as refused:
        await mover.start([1], "a")

    assert "s0001.keyless has no primary key" in str(refused.value)
    assert "s0001.scratch is unlogged" in str(refused.value)
    assert "has a schema s0001 already" in str(refused.value)
    assert await mover.moves() == []
    for wrong, reason in (([1], "no server 'c'"), ([0, 1], "on several servers"), ([], "at least one shard")):
        with pytest.raises(MoveRefused, match=reason):
            await mover.start(wrong, "c" if reason.startswith("no") else "a")


@pytest.mark.slow
async def test_migrations_wait_until_a_move_has_ended(
    directory: Directory, mover: Mover, servers_conns: dict[str, asyncpg.Connection], tmp_path: Path
) -> None:
    (tmp_path / "shard").mkdir()
    (tmp_path / "shard" / "0001_tags.sql").write_text("CREATE TABLE tags (id bigint PRIMARY KEY);\n")
    move = await mover.start([1], "a")
    for server, number in (("a", 0), ("a", 1), ("a", 2), ("b", 3)):
        await servers_conns[server].execute(f"TRUNCATE s{number:04d}.schema_version")

    with pytest.raises(MigrationRefused, match=f"shardwright move finish {move.id}"):
        await Migrator(directory, tmp_path, options=MigratorOptions()).apply(shards=[1])


@pytest.mark.slow
async def test_partitions_dropped_and_created_during_a_move_follow(
    directory: Directory, dsns: dict[str, str], servers_conns: dict[str, asyncpg.Connection]
) -> None:
    source = servers_conns["b"]
    for day in (7, 8, 9):
        await source.execute(_new_day(day))
    changes = {
        Step.LINK: _new_day(2),  # before the snapshot, and after the target's tables were created
        Step.COPY: _new_day(3) + "INSERT INTO s0001.visits VALUES (2, 2), (9, 2); DROP TABLE s0001.visits__7",
        Step.INDEX: _new_day(4) + "DROP TABLE s0001.visits__8",
        Step.ARM: _new_day(5) + "DROP TABLE s0001.visits__9",
    }

    def change(move: Move, phase: str) -> None:
        if phase == "begin" and move.step in changes:
            subprocess.run(
                [find_binaries().program("psql"), dsns["b"], "-qc", changes[move.step]], check=True
            )

    mover = Mover(directory, options=QUICK, on_step=change)
    await mover.start([1], "a")

    rows = await fetch_rows(
        servers_conns["a"], "SELECT tableoid::regclass::text, day FROM s0001.visits ORDER BY day"
    )
    assert [tuple(row) for row in rows] == [(f"s0001.visits__{day}", day) for day in (2, 2, 3, 4, 5)]
    for day in (7, 8, 9):
        assert await fetch_value(servers_conns["a"], f"SELECT to_regclass('s0001.visits__{day}')") is None


def _new_day(day: int) -> str:
    return (
        f"CREATE TABLE s0001.visits__{day} PARTITION OF s0001.visits FOR VALUES FROM ({day}) TO ({day + 1});"
        f"INSERT INTO s0001.visits VALUES ({day}, 1);"
    )


@pytest.mark.slow
async def test_partitions_created_while_nobody_works_on_a_move_are_at_the_other_server_when_it_is_resumed(
    directory: Directory, dsns: dict[str, str], servers_conns: dict[str, asyncpg.Connection]
) -> None:
    stops = {Step.LINK: "b", Step.CATCH_UP: "b", Step.FOLLOW: "a", Step.VERIFY: "a"}

    def stop(move: Move, phase: str) -> None:
        if move.step in stops and phase == "begin":
            raise MoveFailed("stopped here")

    mover = Mover(directory, options=QUICK, on_step=stop)
    with pytest.raises(MoveFailed, match="stopped here"):
        await mover.start([1], "a")
    (move,) = await mover.moves()
    for day in range(2, 6):
        (move,) = await mover.moves()
        await servers_conns[stops.pop(move.step)].execute(
            f"CREATE TABLE s0001.visits__{day} PARTITION OF s0001.visits FOR VALUES FROM ({day}) TO ({day + 1});"
            f"INSERT INTO s0001.visits VALUES ({day}, {day})"
        )
        with contextlib.suppress(MoveFailed):
            move = await mover.resume(move.id)

    assert move.step is Step.KEEP
    copies = await read_copies(dsns, [1])
    assert copies["a"] == copies["b"]
    assert [copies["a"][f"s0001.visits__{day}"] for day in range(2, 6)] == [
        [f"({day},{day})"] for day in range(2, 6)
    ]


@pytest.mark.slow
async def test_a_partition_created_by_a_coordinator_that_was_killed_is_copied_all_the_same(
    mover: Mover, dsns: dict[str, str], servers_conns: dict[str, asyncpg.Connection]
) -> None:
    """Between its creation at the old copy and the refresh of the subscription, that is."""
    move = await mover.start([1], "a")
    created = "CREATE TABLE s0001.visits__2 PARTITION OF s0001.visits FOR VALUES FROM (2) TO (3)"
    for conn in servers_conns.values():
        await conn.execute(created)
    await servers_conns["a"].execute("INSERT INTO s0001.visits VALUES (2, 1)")

    move = await mover.back(move.id)

    assert (await read_copies(dsns, [1]))["b"]["s0001.visits__2"] == ["(2,1)"]
    await mover.finish(move.id)


@pytest.mark.slow
async def test_slots_of_copies_whose_coordinator_was_killed_are_dropped_with_the_link(
    directory: Directory, mover: Mover, servers_conns: dict[str, asyncpg.Connection]
) -> None:
    """PostgreSQL drops them with their subscription, unless its publisher does not answer at that moment."""
    move = await mover.start([1], "a")
    system = await fetch_value(servers_conns["b"], "SELECT system_identifier FROM pg_control_system()")
    await servers_conns["a"].execute(
        f"SELECT pg_create_logical_replication_slot('pg_1_sync_2_{system}', 'pgoutput')"
    )

    await mover.finish(move.id)

    assert await find_leftovers(directory) == []


@pytest.mark.slow
async def test_the_sweeper_finds_what_no_move_accounts_for(
    directory: Directory, mover: Mover, servers_conns: dict[str, asyncpg.Connection]
) -> None:
    move = await mover.start([1], "a")
    assert await find_leftovers(directory) == []
    async with directory.connect() as conn:
        await conn.execute("DELETE FROM shardwright_directory.moves")

    found = await find_leftovers(directory)
    assert {(each.kind, each.server) for each in found} == {
        ("subscription", "b"),
        ("publication", "a"),
        ("slot", "a"),
        ("marker", "a"),
        ("marker", "b"),
        ("copy", "b"),
    }
    assert all(each.kind == "copy" or each.name == move.reverse_link for each in found)
    await drop_leftovers(directory, found)
    assert await find_leftovers(directory) == []
    assert await is_owned(servers_conns["a"], 1)


@pytest.mark.slow
async def test_an_old_copy_that_follows_gets_new_partitions_when_the_move_is_resumed(
    mover: Mover, dsns: dict[str, str], servers_conns: dict[str, asyncpg.Connection]
) -> None:
    move = await mover.start([1], "a")
    await servers_conns["a"].execute(
        "CREATE TABLE s0001.visits__2 PARTITION OF s0001.visits FOR VALUES FROM (2) TO (3);"
        "INSERT INTO s0001.visits VALUES (2, 1); INSERT INTO s0001.visits VALUES (1, 7)"
    )

    assert (await mover.resume(move.id)).step is Step.KEEP

    async with asyncio.timeout(30):
        while (await read_copies(dsns, [1]))["a"] != (await read_copies(dsns, [1]))["b"]:  # noqa: ASYNC110 - another server is waited for
            await asyncio.sleep(0.05)


@pytest.mark.slow
async def test_a_table_that_was_changed_during_a_move_stops_it_before_writers_notice(
    directory: Directory, servers_conns: dict[str, asyncpg.Connection]
) -> None:
    def change(move: Move, phase: str) -> None:
        if (move.step, phase) == (Step.ARM, "effect"):
            loop = asyncio.get_running_loop()
            changes.append(loop.create_task(source.execute("ALTER TABLE s0001.posts ADD COLUMN place text")))

    source, changes = servers_conns["b"], list[asyncio.Task[str]]()
    mover = Mover(directory, options=QUICK, on_step=change)

    with pytest.raises(MoveRefused, match=r"column posts\.place is missing"):
        await mover.start([1], "a")

    await source.execute("INSERT INTO s0001.posts (author_id, caption) VALUES (1, 'the source goes on')")
    (move,) = await mover.moves()
    await mover.abort(move.id)
    assert await find_leftovers(directory) == []
