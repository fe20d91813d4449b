"""A coordinator is killed at every step of a move, before and after its effect, and servers crash, under load.

Nothing is lost or doubled, no id repeats, only the owner accepts writes, and nothing is left over. By default a few
telling steps are tried; all of them with

    SHARDWRIGHT_ALL_FAULTS=1 ./tintype test all -- -k killed_coordinator
"""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator

import pytest
from move_test_load import QUICK, SHARDS, Load, make_tables, read_copies, remove_links

from shardwright.errors import ShardwrightError
from shardwright.local import LocalServer
from shardwright.moves import Move, Mover, Step, find_leftovers
from shardwright.topology import Directory, is_owned, open_connection

STEPS = tuple(Step)
MOVING = STEPS[: STEPS.index(Step.KEEP)]
UNDOABLE = STEPS[: STEPS.index(Step.ACTIVATE)]
EVERYTHING = [
    *(("start", step, phase, "resume") for step in MOVING for phase in ("begin", "effect")),
    *(("start", step, phase, "abort") for step in UNDOABLE for phase in ("begin", "effect")),
    *(
        ("back", step, phase, "resume")
        for step in MOVING[MOVING.index(Step.CATCH_UP) :]
        for phase in ("begin", "effect")
    ),
    *(("back", step, "effect", "abort") for step in (Step.ARM, Step.FENCE, Step.DRAIN)),
    *(
        ("finish", step, phase, "resume")
        for step in (Step.UNLINK, Step.DROP)
        for phase in ("begin", "effect")
    ),
]
TELLING = [
    ("start", Step.LINK, "effect", "abort"),
    ("start", Step.FENCE, "effect", "resume"),
    ("start", Step.DRAIN, "effect", "abort"),
    ("start", Step.ACTIVATE, "effect", "resume"),
    ("back", Step.DRAIN, "effect", "resume"),
]
CASES = EVERYTHING if os.environ.get("SHARDWRIGHT_ALL_FAULTS") else TELLING

_COORDINATOR = """
import asyncio, os, signal, sys
from shardwright.moves import MoveOptions, Mover
from shardwright.topology import Directory

dsn, action, step, phase = sys.argv[1:]

def die(move, now):
    if (move.step, now) == (step, phase):
        os.kill(os.getpid(), signal.SIGKILL)

async def main():
    directory = await Directory.open(dsn)
    mover = Mover(directory, options=MoveOptions(poll_s=0.05), on_step=die)
    if action == "start":
        await mover.start([1, 3], "a")
    else:
        (move,) = await mover.moves()
        await getattr(mover, action)(move.id)

asyncio.run(main())
"""


async def run_and_kill(dsn: str, action: str, step: Step, phase: str) -> None:
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", _COORDINATOR, dsn, action, step, phase)
    assert await asyncio.wait_for(child.wait(), 120) == -signal.SIGKILL


async def owners_of(dsns: dict[str, str], number: int) -> list[str]:
    """The servers that accept writes to a shard."""
    found: list[str] = []
    for name, dsn in dsns.items():
        conn = await open_connection(dsn, name)
        found += [name] if await is_owned(conn, number) else []
        await conn.close()
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("action", "step", "phase", "then"), CASES)
async def test_a_killed_coordinator_leaves_one_owner_at_most_and_a_move_that_can_be_ended(
    directory: Directory,
    dsns: dict[str, str],
    mover: Mover,
    load: Load,
    action: str,
    step: Step,
    phase: str,
    then: str,
) -> None:
    await load.wait_for_writes(30)
    if action != "start":
        await mover.start(SHARDS, "a")
    await run_and_kill(dsns["a"], action, step, phase)
    for number in SHARDS:
        assert len(await owners_of(dsns, number)) <= 1
    (move,) = await mover.moves()
    assert move.step is step

    ended = await getattr(mover, then)(move.id)

    await load.wait_for_writes(30)
    await load.add_day()
    await load.wait_for_writes(30)
    if ended.step is Step.KEEP and action != "finish":
        ended = await mover.finish(move.id)
    await load.stop()
    await load.check()
    assert ended.step in {Step.DONE, Step.ABORTED}
    assert await find_leftovers(directory) == []
    owner = "a" if (action, then) in {("start", "resume"), ("back", "abort"), ("finish", "resume")} else "b"
    assert [await owners_of(dsns, number) for number in SHARDS] == [[owner], [owner]]
    copies = await read_copies(dsns)
    assert [name for name, tables in copies.items() if tables] == [owner]


CRASHES = [
    ("b", Step.COPY, "begin"),
    ("a", Step.DRAIN, "begin"),
    ("b", Step.ACTIVATE, "begin"),
    ("a", Step.FLIP, "begin"),
    ("b", Step.FOLLOW, "effect"),
]


@pytest.fixture
async def own_dsns(own_server: LocalServer, another_server: LocalServer) -> AsyncIterator[dict[str, str]]:
    dsns = {"a": own_server.dsn(), "b": another_server.dsn()}
    directory = await Directory.open(dsns["a"])
    await directory.create()
    for name, dsn in dsns.items():
        await directory.add_server(name, dsn)
    await directory.add_shards(4, prepare=make_tables)
    await directory.close()
    yield dsns
    await remove_links(dsns)


@pytest.mark.slow
async def test_servers_crash_during_a_move_and_it_is_resumed(
    own_dsns: dict[str, str], own_server: LocalServer, another_server: LocalServer
) -> None:
    """Several crashes in one move: whatever happened, resuming it leads to its end."""
    servers, pending = {"a": own_server, "b": another_server}, list(CRASHES)

    def crash(move: Move, phase: str) -> None:
        for name, step, when in pending:
            if (step, when) == (move.step, phase):
                pending.remove((name, step, when))
                servers[name].stop(mode="immediate")
                servers[name].start()
                return

    load = Load(own_dsns)
    await load.start()
    await load.wait_for_writes(30)
    directory = await Directory.open(own_dsns["a"])
    mover = Mover(directory, options=QUICK, on_step=crash)
    try:
        move = await mover.start(SHARDS, "a")
    except (ShardwrightError, OSError):
        move = await _resume(mover)
    assert move.step is Step.KEEP
    assert pending == []
    await load.wait_for_writes(30)
    await load.stop()
    await load.check()
    await mover.finish(move.id)
    assert await find_leftovers(directory) == []
    await directory.close()


async def _resume(mover: Mover) -> Move:
    """Resume until it is done: each attempt may meet the next crash."""
    for _ in range(20):
        try:
            (move,) = await mover.moves()
            return await mover.resume(move.id)
        except (ShardwrightError, OSError):
            await asyncio.sleep(0.1)
    raise AssertionError("it was resumed twenty times and did not end")
