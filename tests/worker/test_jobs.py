import asyncio
from collections.abc import Awaitable, Callable, Mapping

import pytest
from nats.aio.msg import Msg

from tests.support import eventually
from tests.worker.conftest import NumberNoted, Run
from tintype.base.jobs import Schedule, on
from tintype.base.leader_lease import LeaderLease
from tintype.base.nats import NatsNames
from tintype.base.schedule_runs import ScheduleRuns
from tintype.wiring import Rooms
from tintype.worker import DeadLetters, consumer
from tintype.worker.consumer import backoff_s
from tintype.worker.dead_letters import DeadLetterNotFound

Publish = Callable[..., Awaitable[None]]


@pytest.mark.slow
async def test_a_job_that_fails_is_tried_again_until_it_succeeds(run_worker: Run, publish: Publish) -> None:
    tries: list[int] = []

    async def fail_twice(event: NumberNoted) -> None:
        tries.append(event.number)
        if len(tries) < 3:
            raise ValueError("not yet")

    async with run_worker(on(NumberNoted, fail_twice, name="tests-retry")):
        await publish(5)
        await eventually(lambda: _is(len(tries) == 3), what="the third try came")

    assert tries == [5, 5, 5]


@pytest.mark.slow
async def test_a_job_that_always_fails_becomes_a_dead_letter_that_can_be_replayed(
    run_worker: Run, publish: Publish, rooms: Rooms
) -> None:
    dead = DeadLetters(rooms.nats.jetstream(), NatsNames(rooms.settings.namespace))
    is_fixed = False
    done: list[int] = []

    async def fail(event: NumberNoted) -> None:
        if not is_fixed:
            raise ValueError("broken\nacross lines")
        done.append(event.number)

    async with run_worker(on(NumberNoted, fail, name="tests-dead")):
        await publish(8)

        async def is_dead() -> bool:
            return len(await dead.list()) == 1

        await eventually(is_dead, what="the job was dead-lettered")
        letter = (await dead.list())[0]
        assert (letter.handler, letter.event, letter.attempts) == ("tests-dead", "number_noted", 4)
        assert letter.error == r"ValueError: broken\nacross lines"
        assert letter.payload == '{"number":8}'

        is_fixed = True
        await dead.replay(letter.number)
        await eventually(lambda: _is(done == [8]), what="the replayed job succeeded")

    assert await dead.list() == []
    with pytest.raises(DeadLetterNotFound):
        await dead.get(letter.number)


async def test_a_failing_job_does_not_delay_the_others(run_worker: Run, publish: Publish) -> None:
    done: list[int] = []

    async def fail_for_zero(event: NumberNoted) -> None:
        if event.number == 0:
            raise ValueError("never")
        done.append(event.number)

    async with run_worker(on(NumberNoted, fail_for_zero, name="tests-others")):
        await publish(*range(20))
        await eventually(lambda: _is(sorted(done) == list(range(1, 20))), what="the others were handled")


def test_the_backoff_grows_and_is_bounded() -> None:
    assert all(0.25 <= backoff_s(1) <= 0.5 for _ in range(50))
    assert all(30 <= backoff_s(50) <= 60 for _ in range(50))


async def test_a_schedule_runs_once_per_interval_however_many_workers_there_are(
    run_worker: Run, rooms: Rooms
) -> None:
    runs: list[str] = []

    async def run() -> None:
        runs.append("ran")

    schedule = Schedule("tests-seldom", 3600.0, run)
    async with run_worker(schedules=(schedule,)), run_worker(schedules=(schedule,)):

        async def has_run() -> bool:
            return any(
                each.name == "tests-seldom" and each.ended_at
                for each in await ScheduleRuns(rooms.shards).list_runs()
            )

        await eventually(has_run, what="the schedule ran")

    assert runs == ["ran"]


@pytest.mark.slow
async def test_schedules_that_are_not_due_are_found_by_one_read(
    run_worker: Run, rooms: Rooms, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs, claims, looks = ScheduleRuns(rooms.shards), list[str](), list[set[str]]()
    start_due, find_due = ScheduleRuns.start_due, ScheduleRuns.find_due

    async def count_claim(self: ScheduleRuns, name: str, *, every_s: float) -> bool:
        claims.append(name)
        return await start_due(self, name, every_s=every_s)

    async def count_look(self: ScheduleRuns, intervals_s: Mapping[str, float]) -> set[str]:
        looks.append(await find_due(self, intervals_s))
        return looks[-1]

    async def do_nothing() -> None:
        pass

    async def has_looked_again() -> bool:
        return len(looks) > 1

    assert await runs.start_due("tests-done", every_s=3600.0)
    monkeypatch.setattr(ScheduleRuns, "start_due", count_claim)
    monkeypatch.setattr(ScheduleRuns, "find_due", count_look)
    names = ("tests-done", "tests-due")
    async with run_worker(schedules=tuple(Schedule(name, 3600.0, do_nothing) for name in names)):
        await eventually(has_looked_again, what="the leader looked twice")

    assert "tests-done" not in claims
    assert claims.count("tests-due") == 1


async def test_a_schedule_that_fails_has_run_and_runs_again(run_worker: Run, rooms: Rooms) -> None:
    runs: list[str] = []

    async def fail_once() -> None:
        runs.append("ran")
        if len(runs) == 1:
            raise ValueError("no luck")

    async with run_worker(schedules=(Schedule("tests-failing", 0.2, fail_once),)):

        async def has_failed() -> bool:
            return any("no luck" in each.error for each in await ScheduleRuns(rooms.shards).list_runs())

        await eventually(has_failed, what="the failure was recorded")
        await eventually(lambda: _is(len(runs) > 1), what="it ran again")


async def test_a_lease_has_one_holder_and_can_be_acquired_once_released(rooms: Rooms) -> None:
    leases = LeaderLease(rooms.shards)

    assert await leases.acquire("tests", "one", ttl_s=60)
    assert await leases.acquire("tests", "one", ttl_s=60)
    assert not await leases.acquire("tests", "other", ttl_s=60)
    await leases.release("tests", "other")
    assert not await leases.acquire("tests", "other", ttl_s=60)
    await leases.release("tests", "one")
    assert await leases.acquire("tests", "other", ttl_s=60)


async def test_an_expired_lease_can_be_acquired(rooms: Rooms) -> None:
    leases = LeaderLease(rooms.shards)

    assert await leases.acquire("tests", "one", ttl_s=0)
    assert await leases.acquire("tests", "other", ttl_s=60)


async def _is(claim: bool) -> bool:
    return claim


@pytest.mark.slow
async def test_a_long_job_is_kept_alive_while_short_ones_come_and_go(
    run_worker: Run, publish: Publish, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumer, "ACK_WAIT_S", 1)
    monkeypatch.setattr(consumer, "HEARTBEAT_S", 0.05)
    in_progress = Msg.in_progress

    async def slowly(message: Msg) -> None:  # NATS under back-pressure: jobs end while we wait for it
        await asyncio.sleep(0.03)
        await in_progress(message)

    monkeypatch.setattr(Msg, "in_progress", slowly)
    started: list[int] = []
    ended: list[int] = []

    async def take_time(event: NumberNoted) -> None:
        started.append(event.number)
        await asyncio.sleep(4 if event.number == 0 else 0.08)
        ended.append(event.number)

    async with run_worker(on(NumberNoted, take_time, name="tests-long")):
        await publish(*range(200))
        await eventually(lambda: _is(set(ended) == set(range(200))), what="every job ended")

    assert started.count(0) == 1
