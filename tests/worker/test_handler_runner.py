"""One handler's queue: whatever is submitted is handled, at whatever moment it arrives."""

import asyncio

from nats.aio.client import Client
from nats.aio.msg import Msg

from tests.support import PATIENCE_S
from tests.worker.conftest import NumberNoted
from tintype.base.jobs import on
from tintype.worker.deliveries import Delivery, Source
from tintype.worker.handler_runner import HandlerRunner


async def test_a_delivery_that_arrives_as_the_last_call_ends_is_handled() -> None:
    handled: list[int] = []

    async def handle(events: list[NumberNoted]) -> None:
        handled.extend(event.number for event in events)

    handler = on(NumberNoted, handle, name="recording", many=True, concurrency=1)
    runner = HandlerRunner(handler)
    loop, ended = asyncio.get_running_loop(), asyncio.Event()

    def submit(number: int) -> None:
        delivery = Delivery(_message(), Source.EVENTS)
        delivery.expect(NumberNoted(number), [handler])
        runner.submit(delivery, settle)

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


def _message() -> Msg:
    """A message as JetStream delivers it for the first time."""
    return Msg(Client(), "events.number_noted", "$JS.ACK.stream.durable.1.1.1.0.0", b"{}")
