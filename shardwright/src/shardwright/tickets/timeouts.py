"""Timeouts that hold even against a server that hangs.

Cancelling a driver's call is not enough: asyncpg handles a cancellation by sending a cancel request to the server that
hangs. So the connection is dropped first, which ends the call immediately.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def run_within(seconds: float, work: Coroutine[Any, Any, T], abandon: Callable[[], None]) -> T:
    """Return the work's result, or abandon its connection and raise `TimeoutError`."""
    task = asyncio.ensure_future(work)
    try:
        done, _ = await asyncio.wait({task}, timeout=max(seconds, 0))
    except asyncio.CancelledError:
        await _end(task, abandon)
        raise
    if not done:
        await _end(task, abandon)
        raise TimeoutError(f"no answer within {seconds:.2f} s")
    return task.result()


async def _end(task: "asyncio.Future[Any]", abandon: Callable[[], None]) -> None:
    if not task.done():
        abandon()
        await asyncio.wait({task})
    if not task.cancelled():
        task.exception()  # retrieved, so that asyncio does not log it as never retrieved
