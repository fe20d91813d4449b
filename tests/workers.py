"""Workers that run beside a test, in its own process."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

from tintype.base.jobs import Handler, Schedule
from tintype.wiring import Rooms
from tintype.worker import Worker


@asynccontextmanager
async def run_worker(
    rooms: Rooms, *, handlers: Sequence[Handler] | None = None, schedules: Sequence[Schedule] | None = None
) -> AsyncGenerator[Worker]:
    """A worker runs while the block lasts and has stopped after it, however it ended; with everything unless told."""
    worker = Worker(
        rooms.settings,
        rooms.shards,
        rooms.nats,
        handlers=rooms.handlers() if handlers is None else handlers,
        schedules=rooms.schedules() if schedules is None else schedules,
        services=rooms.services(),
    )
    task = asyncio.create_task(worker.run())
    try:
        yield worker
    finally:
        worker.stop()
        await task
