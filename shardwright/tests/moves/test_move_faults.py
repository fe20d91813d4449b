"""Coordinators, servers and the network fail at every journalled step of a move, under load.

At most one server owns a shard at any moment, `resume` or `abort` ends the move, no acknowledged write is lost or
doubled, no id repeats, only the owner accepts writes, copies are equal, and nothing is left over. By default a few
telling points are tried; all of them, which takes half an hour, with

    SHARDWRIGHT_ALL_FAULTS=1 ./tintype test all -- -k move_faults
"""

import asyncio
import itertools

import pytest
from move_test_points import ABORTABLE, ALL, POINTS, RESTING, STEPS, Point
from move_test_site import COORDINATOR, DIRECTORY, FAULTS, Site

from shardwright.moves import Step
from shardwright.moves.models import UNDOABLE

TELLING = [Point("start", Step.DRAIN, "effect"), Point("back", Step.ARM, "effect")]
TELLING_ABORTS = [Point("start", Step.FENCE, "effect")]
STRIDE = 1 if ALL else 6
"""How many statements further the next coordinator dies."""
TELLING_STEPS = [Point("keep", Step.KEEP), Point("abort", Step.ABORT)]


def test_every_journalled_step_is_interrupted() -> None:
    assert {point.step for point in POINTS} | RESTING == set(Step)
    assert {point.step for point in ABORTABLE} == UNDOABLE


@pytest.mark.slow
@pytest.mark.parametrize("point", POINTS if ALL else TELLING, ids=str)
async def test_whatever_fails_at_a_step_resuming_the_move_ends_it(site: Site, point: Point) -> None:
    """One fault after another, each at the same point: what is resumed after one gets there again."""
    await site.load.wait_for_writes(20)
    for fault in FAULTS:
        if not await site.interrupt(point, fault):  # the fault before let the step end
            assert await site.interrupt(point, fault)
        await site.check_owners()
        await site.load.add_day()
    if (await site.move()) is not None:
        assert (await site.run("resume")).exit_code == 0
    await site.check_end()


@pytest.mark.slow
@pytest.mark.parametrize("point", ABORTABLE if ALL else TELLING_ABORTS, ids=str)
async def test_whatever_fails_before_the_target_owns_the_shards_the_move_can_be_aborted(
    site: Site, point: Point
) -> None:
    await site.load.wait_for_writes(20)
    for fault in FAULTS if ALL else (COORDINATOR, "source", "target"):
        if not await site.interrupt(point, fault):  # the fault before let the step end
            assert await site.interrupt(point, fault)
        await site.check_owners()
        move = await site.move()
        if move is not None and move.step in UNDOABLE:
            assert (await site.run("abort")).exit_code == 0
            await site.load.wait_for_writes(10)  # the source goes on
    await site.check_end()


@pytest.mark.slow
@pytest.mark.parametrize("point", STEPS if ALL else TELLING_STEPS, ids=str)
async def test_a_coordinator_killed_before_each_statement_of_a_step_leaves_a_move_that_can_be_ended(
    site: Site, point: Point
) -> None:
    """The first attempt dies before its first statement, the next before a later one, until one gets through."""
    await site.load.wait_for_writes(20)
    statement = 1
    while await site.interrupt(point, COORDINATOR, statement):
        await site.check_owners()
        statement += STRIDE
    assert statement > 1
    await site.check_end()


@pytest.mark.slow
@pytest.mark.parametrize("point", STEPS if ALL else [Point("start", Step.ACTIVATE)], ids=str)
async def test_a_server_killed_within_a_step_leaves_a_move_that_can_be_ended(
    site: Site, point: Point
) -> None:
    """Before every third statement, source and target in turn."""
    await site.load.wait_for_writes(20)
    faults = itertools.cycle(("source", "target"))
    for statement in itertools.count(1, 3):
        if not await site.interrupt(point, next(faults), statement):
            break
        await site.check_owners()
    if (await site.move()) is not None:
        assert (await site.run("resume")).exit_code == 0
    await site.check_end()


@pytest.mark.slow
@pytest.mark.parametrize("way", ["target", DIRECTORY] if ALL else ["target"])
async def test_a_network_that_loses_packets_while_writes_are_stopped_lets_the_source_go_on(
    site: Site, way: str
) -> None:
    """Nothing is answered and nothing refused: whoever waited for ever would keep writers from writing."""
    await site.load.wait_for_writes(20)
    writing: list[asyncio.Task[None]] = []

    async def silence(_: str, target: str) -> None:
        site.ways[target if way == "target" else way].silence()
        writing.append(asyncio.create_task(site.load.wait_for_writes(20)))

    outcome = await site.stop("start", Point("start", Step.FENCE, "effect"), silence)

    assert outcome.exit_code != 0
    assert outcome.is_expected, outcome.error
    await asyncio.wait_for(writing[0], 60)
    await site.mend()
    assert (await site.run("resume")).exit_code == 0
    await site.check_end()


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["source", "cut_source"] if ALL else ["source"])
async def test_a_source_that_is_back_after_a_moment_goes_on_as_the_owner_before_the_move_is_resumed(
    site: Site, fault: str
) -> None:
    await site.load.wait_for_writes(20)

    async def lose_for_a_moment(source: str, target: str) -> None:
        await site.strike(fault, source, target)
        await site.mend()

    outcome = await site.stop("start", Point("start", Step.FENCE, "effect"), lose_for_a_moment)

    assert outcome.exit_code != 0
    assert outcome.is_expected, outcome.error
    await site.load.wait_for_writes(20)
    move = await site.move()
    assert move is not None
    assert move.step is Step.CATCH_UP
    assert (await site.run("abort")).exit_code == 0
    await site.check_end()
