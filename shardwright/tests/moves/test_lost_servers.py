"""Moves whose other server is gone for good, forgot its fence in a fail-over, or has an old copy that differs."""

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from move_test_load import QUICK, SHARDS, read_copies

from shardwright.errors import ServerUnavailable
from shardwright.moves import Move, MoveFailed, Mover, MoveRefused, Step, drop_leftovers, find_leftovers
from shardwright.moves.links import drop_slots
from shardwright.topology import Directory, fetch_value, is_owned, open_connection, set_owned

pytestmark = pytest.mark.slow
Without = Callable[[str], Any]


@pytest.fixture
async def conns(dsns: dict[str, str]) -> AsyncIterator[dict[str, Any]]:
    found = {name: await open_connection(dsn, name) for name, dsn in dsns.items()}
    yield found
    for conn in found.values():
        await conn.close()


@pytest.fixture
async def without(dsns: dict[str, str]) -> AsyncIterator[Without]:
    """A mover to whom one server does not answer any more; the directory does."""
    opened: list[Directory] = []

    async def make(server: str) -> Mover:
        nowhere = f"{dsns[server].rpartition('@')[0]}@127.0.0.1:9/none"
        opened.append(await Directory.open(dsns["a"], dsns={server: nowhere}))
        return Mover(opened[-1], options=QUICK)

    yield make
    for directory in opened:
        await directory.close()


async def interrupted(directory: Directory, step: Step) -> Move:
    """A move of both shards from b to a whose coordinator ended when this step began."""

    def end(move: Move, phase: str) -> None:
        if (move.step, phase) == (step, "begin"):
            raise ConnectionAbortedError("the coordinator is gone")

    mover = Mover(directory, options=QUICK, on_step=end)
    with pytest.raises(MoveFailed, match="a connection was lost"):
        await mover.start(SHARDS, "a")
    (move,) = await mover.moves()
    assert move.step is step
    return move


async def slots_of(conn: Any) -> int:
    found = "SELECT count(*) FROM pg_replication_slots WHERE database = current_database()"
    return await fetch_value(conn, found)


@pytest.mark.parametrize("step", [Step.FLIP, Step.VERIFY, Step.KEEP])
async def test_a_move_ends_without_the_old_server_if_that_is_lost(
    directory: Directory,
    dsns: dict[str, str],
    mover: Mover,
    conns: dict[str, Any],
    without: Without,
    step: Step,
) -> None:
    move = await (mover.start(SHARDS, "a") if step is Step.KEEP else interrupted(directory, step))
    bereaved = await without("b")
    with pytest.raises((ServerUnavailable, MoveRefused)):
        await bereaved.finish(move.id)

    assert (await bereaved.finish(move.id, is_lost=True)).step is Step.DONE

    assert {(await directory.load()).owners[number] for number in SHARDS} == {"a"}
    assert await slots_of(conns["a"]) == 0
    await conns["a"].execute("INSERT INTO s0001.posts (author_id, caption) VALUES (1, 'it goes on')")
    left = await find_leftovers(directory)  # the lost server is back after all
    assert {each.server for each in left} == {"b"}
    await drop_leftovers(directory, left)
    assert await find_leftovers(directory) == []
    assert (await read_copies(dsns))["b"] == {}


async def test_a_move_is_not_ended_without_its_source_before_the_target_owns_the_shards(
    directory: Directory, without: Without
) -> None:
    move = await interrupted(directory, Step.CATCH_UP)
    with pytest.raises(MoveRefused, match="resume or abort"):
        await (await without("b")).finish(move.id, is_lost=True)
    await Mover(directory, options=QUICK).abort(move.id)


@pytest.mark.parametrize("step", [Step.COPY, Step.ARM])
async def test_a_move_is_undone_without_the_new_server_if_that_is_lost(
    directory: Directory, conns: dict[str, Any], without: Without, step: Step
) -> None:
    move = await interrupted(directory, step)
    bereaved = await without("a")
    with pytest.raises(ServerUnavailable):
        await bereaved.abort(move.id)

    assert (await bereaved.abort(move.id, is_lost=True)).step is Step.ABORTED

    assert await slots_of(conns["b"]) == 0
    await conns["b"].execute("INSERT INTO s0001.posts (author_id, caption) VALUES (1, 'the source goes on')")
    await drop_leftovers(directory, await find_leftovers(directory))
    assert await find_leftovers(directory) == []


async def test_an_old_copy_that_accepts_writes_after_a_fail_over_is_fenced_again(
    mover: Mover, conns: dict[str, Any]
) -> None:
    move = await mover.start(SHARDS, "a")
    await set_owned(conns["b"], *SHARDS, owned=True)  # as a promoted replica does that never got the fence

    await mover.resume(move.id)

    assert [await is_owned(conns["b"], number) for number in SHARDS] == [False, False]
    await mover.finish(move.id)


async def test_a_slot_that_is_gone_after_a_fail_over_stops_the_move_and_an_old_copy_is_not_kept_in_vain(
    directory: Directory, mover: Mover, conns: dict[str, Any]
) -> None:
    move = await interrupted(directory, Step.CATCH_UP)
    await drop_slots(conns["b"], f"^{move.link}$")
    with pytest.raises(MoveFailed, match="abort the move"):
        await mover.resume(move.id)
    await mover.abort(move.id)

    kept = await mover.start(SHARDS, "a", keep_s=3600)
    await drop_slots(conns["a"], f"^{kept.reverse_link}$")
    with pytest.raises(MoveFailed, match=f"move finish {kept.id}"):
        await mover.tend()
    await mover.finish(kept.id)
    assert await find_leftovers(directory) == []


async def test_copies_that_differ_are_reported_and_the_old_one_is_dropped_only_on_demand(
    directory: Directory, dsns: dict[str, str], mover: Mover, conns: dict[str, Any]
) -> None:
    move = await interrupted(directory, Step.VERIFY)
    await conns["b"].execute(
        "SET session_replication_role = 'replica'; DELETE FROM s0001.comments WHERE number = 7;"
        "UPDATE s0003.posts SET caption = 'other' WHERE author_id = 9; RESET session_replication_role"
    )

    with pytest.raises(
        MoveFailed, match=r"(?s)s0001\.comments has 0 rows.*s0003\.posts has 1 rows.*--unequal"
    ):
        await mover.resume(move.id)
    with pytest.raises(MoveRefused, match="at verify"):
        await mover.finish(move.id)

    assert (await mover.finish(move.id, is_unequal=True)).step is Step.DONE
    assert await find_leftovers(directory) == []
    assert (await read_copies(dsns))["b"] == {}
