"""Shards are moved while they are used: nothing is lost, and only one server accepts writes."""

import asyncio
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest
from move_test_load import QUICK, SHARDS, Load, read_copies

from shardwright.errors import MigrationRefused
from shardwright.local.binaries import find_binaries
from shardwright.migrations import Migrator, MigratorOptions
from shardwright.moves import Move, MoveFailed, Mover, MoveRefused, Step, drop_leftovers, find_leftovers
from shardwright.topology import Directory, fetch_rows, fetch_value, is_owned, open_connection


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
    assert [each.step for each in await mover.moves()] == [Step.KEEP]
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
    with pytest.raises(MoveRefused, match="point of no return"):
        await mover.abort(move.id)


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
    await source.execute("CREATE TABLE s0001.visits__9 PARTITION OF s0001.visits FOR VALUES FROM (9) TO (10)")
    changes = {
        Step.COPY: "CREATE TABLE s0001.visits__2 PARTITION OF s0001.visits FOR VALUES FROM (2) TO (3);"
        "INSERT INTO s0001.visits VALUES (2, 1), (9, 1)",
        Step.ARM: "CREATE TABLE s0001.visits__3 PARTITION OF s0001.visits FOR VALUES FROM (3) TO (4);"
        "INSERT INTO s0001.visits VALUES (3, 1); DROP TABLE s0001.visits__9",
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
    assert [tuple(row) for row in rows] == [("s0001.visits__2", 2), ("s0001.visits__3", 3)]
    assert await fetch_value(servers_conns["a"], "SELECT to_regclass('s0001.visits__9')") is None


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
