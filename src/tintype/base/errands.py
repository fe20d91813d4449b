"""Small work that nobody waits for: a reader's answer goes out while it is done."""

import asyncio
from collections.abc import Awaitable, Callable

from tintype.base.log import get_log

log = get_log("errands")
MOST = 256
"""With so many under way something is slow: new ones are left out rather than heaped up."""


class Errands:
    """What is under way in this process."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, errand: Callable[[], Awaitable[None]]) -> None:
        """Do it soon, if there is room; what fails is logged and forgotten."""
        if len(self._tasks) < MOST:
            task = asyncio.get_running_loop().create_task(_run(errand))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def settle(self) -> None:
        """Everything that was under way is done."""
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)


async def _run(errand: Callable[[], Awaitable[None]]) -> None:
    try:
        await errand()
    except Exception as error:  # noqa: BLE001 - nobody waits for it, so there is nobody to tell but the log
        log.warning("errand.failed", error=str(error))
