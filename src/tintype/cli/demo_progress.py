"""Publishes the progress of `tintype demo` to Redis, where the web app shows it to whoever started it."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress

from tintype.base.job_progress import JobProgress
from tintype.demo import progress_store
from tintype.wiring import Rooms

WRITE_EVERY_S = 0.5
ReportProgress = Callable[[str, int, int], None]


@asynccontextmanager
async def publish_progress(rooms: Rooms) -> AsyncGenerator[ReportProgress]:
    """Yield a function that reports progress; the latest report is stored twice a second, finally the outcome."""
    store = progress_store(rooms)
    latest = JobProgress("running")

    def report(stage: str, done: int, total: int) -> None:
        nonlocal latest
        latest = JobProgress("running", stage, done, total)

    async def write_periodically() -> None:
        while True:
            await store.write(latest)
            await asyncio.sleep(WRITE_EVERY_S)

    writing = asyncio.create_task(write_periodically())
    outcome = JobProgress("failed")
    try:
        yield report
        outcome = JobProgress("done")
    finally:
        writing.cancel()
        with suppress(asyncio.CancelledError):
            await writing
        await store.write(outcome)
