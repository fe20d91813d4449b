"""Runs parts of a step at once; the first that fails ends the others, and is what is raised."""

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from typing import TypeVar

Worker = TypeVar("Worker")
Work = TypeVar("Work")


async def run_all(works: Iterable[Coroutine[object, object, None]]) -> None:
    """Return when all of them have."""
    try:
        async with asyncio.TaskGroup() as group:
            for work in works:
                group.create_task(work)
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from failures  # the others are its siblings


async def share_out(
    workers: Sequence[Worker], works: Iterable[Work], carry_out: Callable[[Worker, Work], Awaitable[None]]
) -> None:
    """Give every worker the next of the works as soon as it is free."""
    waiting = deque(works)

    async def work(worker: Worker) -> None:
        while waiting:
            await carry_out(worker, waiting.popleft())

    await run_all(work(worker) for worker in workers)


async def run_while(
    work: Coroutine[object, object, None], look: Callable[[], Awaitable[object]], every_s: float
) -> None:
    """Return when the work is done; look after it every so often meanwhile."""
    done = asyncio.Event()

    async def run() -> None:
        await work
        done.set()

    async def watch() -> None:
        while not done.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(done.wait(), every_s)
                return
            await look()

    await run_all([run(), watch()])
