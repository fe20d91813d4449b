"""A job whose heartbeats come too late is delivered again, but does not run twice in one worker."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from nats.js.api import ConsumerInfo

from tests.support import eventually
from tests.worker.conftest import NumberNoted, Run
from tintype.base.jobs import on
from tintype.base.nats import NatsNames
from tintype.wiring import Rooms
from tintype.worker import consumer

Publish = Callable[..., Awaitable[None]]


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch) -> None:
    """JetStream waits a second for a sign of life, and workers give none."""
    monkeypatch.setattr(consumer, "ACK_WAIT_S", 1)
    monkeypatch.setattr(consumer, "HEARTBEAT_S", 3_600)


@pytest.mark.slow
@pytest.mark.usefixtures("late")
@pytest.mark.parametrize("fails_first", [False, True], ids=["an event", "a retry"])
async def test_a_job_that_is_still_running_here_is_not_begun_again(
    run_worker: Run, publish: Publish, rooms: Rooms, *, fails_first: bool
) -> None:
    tries: list[int] = []
    may_end = asyncio.Event()

    async def work(event: NumberNoted) -> None:
        tries.append(event.number)
        if fails_first and len(tries) == 1:
            raise ValueError("once")
        await may_end.wait()

    handler = on(NumberNoted, work, name="tests-long", is_long=True)
    wanted = 2 if fails_first else 1
    async with run_worker(handler):
        await publish(5)
        await eventually(lambda: _is(len(tries) == wanted), what="it runs")
        before = await _count_deliveries(rooms)

        async def is_delivered_again() -> bool:
            return await _count_deliveries(rooms) >= before + 2

        await eventually(is_delivered_again, what="JetStream has delivered it twice more")
        assert len(tries) == wanted
        may_end.set()

        async def is_answered() -> bool:
            return await _count_unanswered(rooms) == 0

        await eventually(is_answered, what="it is acknowledged")

    assert tries == [5] * wanted


@pytest.mark.slow
async def test_a_worker_holds_no_more_long_jobs_than_it_runs(
    run_worker: Run, publish: Publish, rooms: Rooms
) -> None:
    running: list[int] = []
    may_end = asyncio.Event()

    async def work(event: NumberNoted) -> None:
        running.append(event.number)
        await may_end.wait()

    handler = on(NumberNoted, work, name="tests-long", concurrency=2, is_long=True)
    async with run_worker(handler):
        await publish(*range(6))
        await eventually(lambda: _is(len(running) == 2), what="two run")

        async def are_published() -> bool:
            return await _count_waiting(rooms) == 4

        await eventually(are_published, what="the others wait for whoever is free")
        may_end.set()
        await eventually(lambda: _is(len(running) == 6), what="all have run")


async def _infos(rooms: Rooms) -> list[ConsumerInfo]:
    stream = NatsNames(rooms.settings.namespace).events_stream
    return await rooms.nats.jetstream().consumers_info(stream)


async def _count_deliveries(rooms: Rooms) -> int:
    return sum(info.delivered.consumer_seq for info in await _infos(rooms) if info.delivered)


async def _count_unanswered(rooms: Rooms) -> int:
    return sum(info.num_ack_pending or 0 for info in await _infos(rooms))


async def _count_waiting(rooms: Rooms) -> int:
    return sum(info.num_pending or 0 for info in await _infos(rooms))


async def _is(claim: bool) -> bool:
    return claim
