"""Rows are copied by a slot's snapshot, into tables without indexes; an interrupted copy is begun anew."""

import asyncio
import signal
import sys
from dataclasses import replace

import asyncpg
import pytest
from move_test_load import QUICK, read_copies

from shardwright.moves import Move, MoveFailed, MoveProgress, Mover, MoveRefused, Step, find_leftovers
from shardwright.moves.journal import plan_move
from shardwright.moves.row_copy import RowCopy
from shardwright.moves.session import Session
from shardwright.moves.slot_snapshot import SlotSnapshot
from shardwright.moves.structure import create_copies
from shardwright.topology import Directory, fetch_value, guard_tables, open_connection

_ODD_TABLES = r"""
CREATE DOMAIN s0001.short AS text CHECK (length(VALUE) < 9);
CREATE TYPE s0001.pair AS (x integer, y text);
CREATE TABLE s0001."Odd ""Names" (
  "Id" bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, gone integer, "select" text, short s0001.short,
  moods s0001.mood[], pair s0001.pair, pairs s0001.pair[], bytes bytea, price money, pause interval, at timestamptz,
  day date, share double precision, amount numeric, class regclass, facts jsonb, span int4range, bits bit varying,
  doubled bigint GENERATED ALWAYS AS ("Id" * 2) STORED,
  EXCLUDE USING gist (span WITH &&), UNIQUE NULLS NOT DISTINCT ("select", day) DEFERRABLE INITIALLY DEFERRED);
ALTER TABLE s0001."Odd ""Names" DROP COLUMN gone;
INSERT INTO s0001."Odd ""Names" ("select", short, moods, pair, pairs, bytes, price, pause, at, day, share, amount,
  class, facts, span, bits) VALUES
  (E'tab\t, line\nreturn\r, slash\\, \\N and \\.', 'short', '{glad,sad}', (1, 'a,b'), ARRAY[(2, NULL)::s0001.pair],
   '\x00ff5c', 12.34, '1 year 2 days 03:04:05.678', '2026-01-02 03:04:05.678901+02', '0044-03-15 BC', 'NaN',
   12345678901234567890.123456789, 's0001.posts', '{"a": [1, null, "ü"]}', '[1,5)', B'101'),
  ('', NULL, '{}', NULL, NULL, '', NULL, NULL, 'infinity', '-infinity', 1e-300, 'NaN', NULL, 'null', '[5,9)', NULL),
  (NULL, '', NULL, (NULL, ''), '{}', NULL, -1, '-1 mon', NULL, NULL, 0.1, -0.5, 's0001.posts', NULL, NULL, '');
CREATE TABLE s0001.nothing (id integer PRIMARY KEY);
CREATE TABLE s0001.named (id integer NOT NULL, name text NOT NULL, parent integer, PRIMARY KEY (id));
CREATE UNIQUE INDEX named_by_name ON s0001.named (name) INCLUDE (parent);
CREATE INDEX named_lower ON s0001.named (lower(name)) WHERE parent IS NULL;
ALTER TABLE s0001.named REPLICA IDENTITY USING INDEX named_by_name;
ALTER TABLE s0001.named ADD FOREIGN KEY (parent) REFERENCES s0001.named;
CREATE TABLE s0001.special (extra text) INHERITS (s0001.named);
ALTER TABLE s0001.special ADD PRIMARY KEY (id);
INSERT INTO s0001.named VALUES (1, 'one', NULL), (2, 'two', 1);
INSERT INTO s0001.special VALUES (3, 'three', 1, 'more');
CREATE STATISTICS s0001.named_pairs ON id, parent FROM s0001.named;
CREATE VIEW s0001.by_key AS SELECT n.id, n.name, count(c.*) AS children FROM s0001.named n
  LEFT JOIN s0001.named c ON c.parent = n.id GROUP BY n.id;
CREATE FUNCTION s0001.name_it(wanted integer) RETURNS void LANGUAGE sql BEGIN ATOMIC
  INSERT INTO s0001.named (id, name) VALUES (wanted, 'new') ON CONFLICT (id) DO NOTHING;
END;
COMMENT ON TABLE s0001.named IS 'has a key';
COMMENT ON VIEW s0001.by_key IS 'groups by a primary key';
"""


@pytest.mark.slow
async def test_every_kind_of_column_and_constraint_is_copied(
    directory: Directory, dsns: dict[str, str], mover: Mover
) -> None:
    source = await open_connection(dsns["b"], "b")
    await source.execute(_ODD_TABLES)
    await guard_tables(source, 1)
    before = (await read_copies(dsns, [1]))["b"]

    def change(move: Move, phase: str) -> None:
        if (move.step, phase) == (Step.INDEX, "begin"):  # by an identity that is no primary key
            changes.append(asyncio.get_running_loop().create_task(source.execute(_CHANGE)))

    changes = list[asyncio.Task[str]]()
    move = await Mover(directory, options=QUICK, on_step=change).start([1], "a")

    after = (await read_copies(dsns, [1]))["a"]
    assert {name for name in before if before[name] != after[name]} == {"s0001.named"}
    assert sorted(after["s0001.named"]) == ["(1,one,)", "(2,two,)", "(3,three,1)"]
    target = await open_connection(dsns["a"], "a")
    added = 'INSERT INTO s0001."Odd ""Names" ("select") VALUES (\'new\') RETURNING "Id"'
    assert await fetch_value(target, added) > 3
    for refused in (
        'INSERT INTO s0001."Odd ""Names" (span) VALUES (\'[2,3)\')',
        "UPDATE s0001.named SET parent = 9",
    ):
        with pytest.raises(asyncpg.IntegrityConstraintViolationError):
            await target.execute(refused)
    assert await fetch_value(target, "SELECT children FROM s0001.by_key WHERE id = 1") == 1
    for conn in (source, target):
        await conn.close()
    await mover.finish(move.id)


_CHANGE = "UPDATE s0001.named SET parent = NULL WHERE name = 'two'"

_COORDINATOR = """
import asyncio, sys
from shardwright.moves import MoveOptions, Mover
from shardwright.topology import Directory

async def main():
    directory = await Directory.open(sys.argv[1])
    await Mover(directory, options=MoveOptions(copy_bytes_per_s=1_000_000)).start([1], "a")

asyncio.run(main())
"""


@pytest.mark.slow
async def test_a_coordinator_killed_in_the_middle_of_a_table_begins_anew(
    directory: Directory, dsns: dict[str, str], mover: Mover
) -> None:
    source, target = [await open_connection(dsns[name], name) for name in ("b", "a")]
    await source.execute(
        "INSERT INTO s0001.posts (author_id, caption) SELECT 1, repeat('x', 1000) FROM generate_series(1, 30000)"
    )
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", _COORDINATOR, dsns["a"])
    copying = (
        "SELECT max(tuples_processed) FROM pg_stat_progress_copy WHERE relid = to_regclass('s0001.posts')"
    )
    async with asyncio.timeout(60):
        while not await fetch_value(target, copying):  # noqa: ASYNC110 - another process is waited for
            await asyncio.sleep(0.02)
    child.send_signal(signal.SIGKILL)
    await child.wait()
    await source.execute(
        "DELETE FROM s0001.posts WHERE author_id = 2; UPDATE s0001.posts SET likes = 7 WHERE likes = 0"
    )

    (move,) = await mover.moves()
    assert move.step is Step.COPY
    ended = await mover.resume(move.id)

    assert ended.details["verified_rows"] > 30_000
    assert (await read_copies(dsns, [1]))["a"] == (await read_copies(dsns, [1]))["b"]
    for conn in (source, target):
        await conn.close()
    await mover.finish(move.id)
    assert await find_leftovers(directory) == []


@pytest.mark.slow
async def test_progress_tells_tables_and_rows_while_they_are_copied(directory: Directory) -> None:
    seen: list[MoveProgress] = []
    mover = Mover(directory, options=replace(QUICK, copy_bytes_per_s=2**30), progress=seen.append)

    move = await mover.start([1], "a")

    copied = [each for each in seen if each.move.step is Step.COPY]
    assert copied[-1].tables == copied[-1].tables_copied
    assert (copied[-1].rows or 0) >= 900
    await mover.finish(move.id)


@pytest.mark.slow
async def test_rows_that_violate_a_foreign_key_stop_the_move_and_it_can_be_aborted(
    directory: Directory, dsns: dict[str, str], mover: Mover
) -> None:
    source = await open_connection(dsns["b"], "b")
    await source.execute(
        "SET session_replication_role = replica; INSERT INTO s0001.comments (post_id, body) VALUES (4711, 'orphan')"
    )
    await source.close()

    with pytest.raises(MoveFailed, match=r"(?s)violate a constraint .*4711.* abort the move"):
        await mover.start([1], "a")

    (move,) = await mover.moves()
    await mover.abort(move.id)
    assert await find_leftovers(directory) == []


@pytest.mark.slow
async def test_a_coordinator_without_its_locks_copies_nothing(
    directory: Directory, dsns: dict[str, str]
) -> None:
    move = await plan_move(directory, [1], "a")
    shard_map = await directory.load()
    source, target = [await open_connection(dsns[name], name) for name in ("b", "a")]
    session = Session(shard_map.servers["b"], shard_map.servers["a"], source, target)
    await create_copies(session, move, shard_map.layout)
    snapshot = await SlotSnapshot.create(session.source_server, move.link)
    try:
        async with RowCopy(session, move, snapshot, QUICK) as rows:
            with pytest.raises(MoveRefused, match="another process has taken over"):
                await rows.run()
        assert await fetch_value(target, "SELECT count(*) FROM s0001.posts") == 0
    finally:
        snapshot.close()
        for conn in (source, target):
            await conn.close()
