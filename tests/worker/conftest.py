"""A small event of the tests' own, and a worker that runs just their handlers."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest

from tintype.base.events import Event
from tintype.base.jobs import Handler, Schedule, on
from tintype.base.outbox import Outbox
from tintype.wiring import Rooms
from tintype.worker import Worker


class NumberNoted(Event, frozen=True):
    """A fact about nothing, for the tests of facts."""

    number: int


Run = Callable[..., AbstractAsyncContextManager[Worker]]


@pytest.fixture
def run_worker(rooms: Rooms, clean_streams: None) -> Run:
    """Run a worker with these handlers while the block lasts."""

    @asynccontextmanager
    async def run(*handlers: Handler, schedules: tuple[Schedule, ...] = ()) -> AsyncGenerator[Worker]:
        worker = Worker(rooms.settings, rooms.shards, rooms.bus, handlers=handlers, schedules=schedules)
        task = asyncio.create_task(worker.run())
        try:
            yield worker
        finally:
            worker.stop()
            await task

    return run


@pytest.fixture
def note(rooms: Rooms) -> Callable[..., Awaitable[None]]:
    """Announce numbers, each from the shard it falls on, with or without waking the relay."""

    async def announce(*numbers: int, is_poked: bool = True) -> None:
        async def poke(server: str) -> None:
            if is_poked:
                await rooms.bus.publish(f"{rooms.settings.namespace}.poke.{server}")

        outbox = Outbox(poke)
        for number in numbers:
            async with rooms.shards.shard(number % rooms.settings.shard_count).begin() as tx:
                await outbox.add(tx, NumberNoted(number))

    return announce


def noting(seen: list[int], *, name: str = "tests-note") -> Handler:
    """A handler that writes down what it sees."""

    async def see(event: NumberNoted) -> None:
        seen.append(event.number)

    return on(NumberNoted, see, name=name)
