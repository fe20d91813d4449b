"""An event for these tests, and a worker that runs only their handlers."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest

from tests import workers
from tintype.base.events import Event
from tintype.base.jobs import Handler, Schedule, on
from tintype.base.outbox import Outbox
from tintype.wiring import Rooms
from tintype.worker import Worker


class NumberNoted(Event, frozen=True):
    """An event without a meaning, for tests."""

    number: int


Run = Callable[..., AbstractAsyncContextManager[Worker]]


@pytest.fixture
def run_worker(rooms: Rooms, clean_streams: None) -> Run:
    """Run a worker with these handlers for the length of the block."""

    @asynccontextmanager
    async def run(*handlers: Handler, schedules: tuple[Schedule, ...] = ()) -> AsyncGenerator[Worker]:
        async with workers.run_worker(rooms, handlers=handlers, schedules=schedules) as worker:
            yield worker

    return run


@pytest.fixture
def publish(rooms: Rooms) -> Callable[..., Awaitable[None]]:
    """Put numbers into the outbox, each on its own shard, with or without waking the relay."""

    async def publish_numbers(*numbers: int, is_poked: bool = True) -> None:
        async def poke(server: str) -> None:
            if is_poked:
                await rooms.nats.publish(f"{rooms.settings.namespace}.poke.{server}")

        outbox = Outbox(poke)
        for number in numbers:
            async with rooms.shards.shard(number % rooms.settings.shard_count).begin() as tx:
                await outbox.add(tx, NumberNoted(number))

    return publish_numbers


def recording(seen: list[int], *, name: str = "tests-note") -> Handler:
    """A handler that appends the numbers it gets to `seen`."""

    async def see(event: NumberNoted) -> None:
        seen.append(event.number)

    return on(NumberNoted, see, name=name)
