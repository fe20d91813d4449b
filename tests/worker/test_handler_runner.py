"""One handler's queue: whatever is submitted is handled, at whatever moment it arrives, in few calls under load."""

import asyncio
from collections.abc import Callable

from nats.aio.client import Client
from nats.aio.msg import Msg

from tests.support import PATIENCE_S, eventually
from tests.worker.conftest import NumberNoted
from tintype.base.jobs import MAX_BATCH, Handler, on
from tintype.worker.deliveries import Delivery, Source
from tintype.worker.handler_runner import HandlerRunner


async def test_a_delivery_that_arrives_as_the_last_call_ends_is_handled() -> None:
    handled: list[int] = []

    async def handle(events: list[NumberNoted]) -> None:
        handled.extend(event.number for event in events)

    handler = on(NumberNoted, handle, name="recording", many=True, concurrency=1)
    runner = HandlerRunner(handler, pace_s=0)
    loop, ended = asyncio.get_running_loop(), asyncio.Event()

    def submit(number: int) -> None:
        runner.submit(_delivery(handler, number), settle)

    async def settle(_delivery: Delivery) -> None:
        """The next one arrives once the call has found nothing more and before its task counts as done."""
        number = len(handled)
        if number < 10:
            loop.call_soon(submit, number)
        else:
            ended.set()

    submit(0)
    async with asyncio.timeout(PATIENCE_S):
        await ended.wait()

    assert handled == list(range(10))


async def test_under_load_batches_wait_until_they_are_full_or_the_pause_is_over() -> None:
    calls: list[list[int]] = []
    runner, submit = _batches(calls)

    submit(0)
    await _until(lambda: calls == [[0]])
    for number in range(1, MAX_BATCH):
        submit(number)
    await _turn_over()
    assert calls == [[0]], "after a call, the next one waits for company"

    submit(MAX_BATCH)
    await _until(lambda: len(calls) == 2)
    assert calls[1] == list(range(1, MAX_BATCH + 1))
    await runner.finish()


async def test_a_retry_waits_for_no_company() -> None:
    calls: list[list[int]] = []
    runner, submit = _batches(calls)
    submit(0)
    await _until(lambda: calls == [[0]])

    submit(13, Source.RETRIES)
    await _until(lambda: calls == [[0], [13]])
    await runner.finish()


async def test_a_worker_that_stops_handles_what_waits_for_company() -> None:
    calls: list[list[int]] = []
    runner, submit = _batches(calls)
    submit(0)
    await _until(lambda: calls == [[0]])
    submit(1)
    submit(2)

    await runner.finish()

    assert calls == [[0], [1, 2]]


async def test_the_pause_ends_by_itself() -> None:
    calls: list[list[int]] = []
    _, submit = _batches(calls, pace_s=0.01)
    submit(0)
    await _until(lambda: calls == [[0]])

    submit(1)

    await _until(lambda: calls == [[0], [1]])


def _batches(calls: list[list[int]], *, pace_s: float = 3600) -> tuple[HandlerRunner, Callable[..., None]]:
    """A runner of a handler that records its calls, and what gives it a number."""

    async def handle(events: list[NumberNoted]) -> None:
        calls.append([event.number for event in events])

    async def settle(_delivery: Delivery) -> None:
        pass

    handler = on(NumberNoted, handle, name="recording", many=True)
    runner = HandlerRunner(handler, pace_s=pace_s)

    def submit(number: int, source: Source = Source.EVENTS) -> None:
        runner.submit(_delivery(handler, number, source), settle)

    return runner, submit


async def _until(claim: Callable[[], bool]) -> None:
    async def check() -> bool:
        return claim()

    await eventually(check, what="the handler was called")


async def _turn_over() -> None:
    """Every task that can run has run."""
    for _ in range(20):
        await asyncio.sleep(0)


def _delivery(handler: Handler, number: int, source: Source = Source.EVENTS) -> Delivery:
    delivery = Delivery(_message(), source)
    delivery.expect(NumberNoted(number), [handler])
    return delivery


def _message() -> Msg:
    """A message as JetStream delivers it for the first time."""
    return Msg(Client(), "events.number_noted", "$JS.ACK.stream.durable.1.1.1.0.0", b"{}")
