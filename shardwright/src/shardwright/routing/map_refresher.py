"""Loads the shard map on demand: after a refused write, and for shards that the cached map does not have."""

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import cast


class MapRefresher:
    """One load at a time, shared by everybody who asks meanwhile."""

    def __init__(self, load: Callable[[], Awaitable[None]], *, unknown_interval_s: float) -> None:
        self._load = load
        self._unknown_interval_s = unknown_interval_s
        self._task: asyncio.Task[None] | None = None
        self._began_at = float("-inf")

    async def refresh(self) -> None:
        """Load the latest map; concurrent callers share one load."""
        self.request()
        await asyncio.shield(cast("asyncio.Task[None]", self._task))

    def request(self) -> None:
        """Load the latest map in the background."""
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run(), name="shardwright-map")
            self._task.add_done_callback(_retrieve)

    async def refresh_for_unknown(self, is_known: Callable[[], bool]) -> None:
        """Return once the shard is known, or a load that began after this call did not find it.

        Whoever has an id of a new shard has it from somebody whose map is newer, so a load that begins now will find
        it. Loads begin at most once per interval however many unknown ids there are: callers wait for the next one.
        """
        asked_at = monotonic()
        while not is_known() and self._began_at < asked_at:
            is_loading = self._task is not None and not self._task.done()
            wait_s = self._began_at + self._unknown_interval_s - monotonic()
            if not is_loading and wait_s > 0:
                await asyncio.sleep(wait_s)
            else:
                await self.refresh()

    async def close(self) -> None:
        """Cancel a load that is in progress."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        self._began_at = monotonic()
        await self._load()


def _retrieve(task: "asyncio.Task[None]") -> None:
    """Nobody may be waiting any more when a load fails: that is no reason for a warning."""
    if not task.cancelled():
        task.exception()
