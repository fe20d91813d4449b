"""Batching of concurrent reads: those by key that many callers want at once are one query.

A busy worker has dozens of jobs running that each want one row of somewhere. One by one they cost a round trip each,
and the round trips are most of the work. `BatchLoader` collects the keys that are wanted in one turn of the event
loop, or while too many batches are in flight already, and loads them together. A caller that is alone waits for
nobody.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from tintype.base.errors import Unavailable

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")
MAX_BATCH = 64
BATCHES_IN_FLIGHT = 2
"""While one batch is loaded another can be on its way; more would only make them smaller."""


class BatchLoader(Generic[K, T]):
    """Loads values by key. `load_batch` gets each key once; an exception in its result is raised for that key only."""

    def __init__(
        self,
        load_batch: Callable[[Sequence[K]], Awaitable[Mapping[K, T | Exception]]],
        *,
        max_batch: int = MAX_BATCH,
        in_flight: int = BATCHES_IN_FLIGHT,
    ) -> None:
        self._load_batch, self._max_batch, self._max_in_flight = load_batch, max_batch, in_flight
        self._waiting: deque[tuple[K, asyncio.Future[T | None]]] = deque()
        self._in_flight: set[asyncio.Task[None]] = set()

    async def load(self, key: K) -> T | None:
        """The value of one key, read after this call began; None where there is none."""
        future: asyncio.Future[T | None] = asyncio.get_running_loop().create_future()
        self._waiting.append((key, future))
        self._start_if_due()
        return await future

    def _start_if_due(self) -> None:
        if self._waiting and len(self._in_flight) < self._max_in_flight:
            task = asyncio.create_task(self._run())
            self._in_flight.add(task)
            task.add_done_callback(self._end)

    def _end(self, task: asyncio.Task[None]) -> None:
        """Go on with what was wanted after the task had looked for the last time, and before it counted as done."""
        self._in_flight.discard(task)
        if not task.cancelled():
            self._start_if_due()
        elif not self._in_flight:
            waiting, self._waiting = self._waiting, deque()
            _fail((future for _, future in waiting), asyncio.CancelledError())

    async def _run(self) -> None:
        while self._waiting:
            batch = [self._waiting.popleft() for _ in range(min(self._max_batch, len(self._waiting)))]
            try:
                values = await self._load_batch(
                    list({key: None for key, future in batch if not future.done()})
                )
            except BaseException as error:
                _fail((future for _, future in batch), error)
                if not isinstance(error, Exception):
                    raise
            else:
                _deliver(batch, values)


def _deliver(batch: Sequence[tuple[K, asyncio.Future[T | None]]], values: Mapping[K, T | Exception]) -> None:
    for key, future in batch:
        value = values.get(key)
        if future.done():
            continue  # the caller was cancelled
        if isinstance(value, Exception):
            future.set_exception(value)
        else:
            future.set_result(value)


def _fail(futures: Iterable[asyncio.Future[Any]], error: BaseException) -> None:
    """Raise the error of a batch in every caller that waits for it.

    Where the task that ran the batch was cancelled, the other callers were not: they get `Unavailable` and may retry.
    """
    for future in futures:
        if not future.done():
            future.set_exception(error if isinstance(error, Exception) else Unavailable())
