"""Prefetched tickets, so that most callers do not wait for a server."""

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable, Callable


class PrefetchBuffer:
    """Tickets of one sequence; refilled in the background once half are gone, by one refill at a time."""

    def __init__(self, size: int, draw: Callable[[], Awaitable[list[int]]]) -> None:
        self._size = size
        self._draw = draw
        self._ready: deque[int] = deque()
        self._refill: asyncio.Task[None] | None = None

    async def next(self) -> int:
        """Return a ticket, waiting only when the buffer is empty."""
        while not self._ready:
            # Shielded: a cancelled caller must not cancel the refill that others wait for.
            await asyncio.shield(self._start_refill())
        ticket = self._ready.popleft()
        if len(self._ready) < self._size / 2:
            self._start_refill()
        return ticket

    async def close(self) -> None:
        """Stop refilling."""
        if self._refill is not None:
            self._refill.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):  # no caller waits for its result
                await self._refill

    def _start_refill(self) -> asyncio.Task[None]:
        if self._refill is None or self._refill.done():
            self._refill = asyncio.create_task(self._fill(), name="ticket refill")
            # A background refill may fail: the next caller finds the buffer empty and gets the error.
            self._refill.add_done_callback(lambda task: task.cancelled() or task.exception())
        return self._refill

    async def _fill(self) -> None:
        self._ready.extend(await self._draw())
