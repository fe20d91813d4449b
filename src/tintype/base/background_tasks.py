"""Background tasks: small work in this process that no caller waits for, such as filling a cache."""

import asyncio
from collections.abc import Awaitable, Callable

from tintype.base.log import get_log

log = get_log("background_tasks")
MAX_TASKS = 256
"""With so many running something is slow: new ones are dropped rather than queued."""


class BackgroundTasks:
    """The background tasks of one owner, who drains them before it closes."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, work: Callable[[], Awaitable[None]]) -> None:
        """Run this soon, unless too many tasks are running; an exception is logged and has no further effect."""
        if len(self._tasks) < MAX_TASKS:
            task = asyncio.get_running_loop().create_task(_run(work))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def drain(self) -> None:
        """Wait until no task is running."""
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)


async def _run(work: Callable[[], Awaitable[None]]) -> None:
    try:
        await work()
    except Exception as error:  # noqa: BLE001 - no caller waits for it, so the log is the only place for an error
        log.warning("background_task.failed", error=str(error))
