"""Batching of concurrent calls: reads by key in one query, and writes to the same key in one transaction.

A busy worker has dozens of jobs running that each want one row of somewhere. One by one they cost a round trip each,
and the round trips are most of the work. `BatchLoader` collects the keys that are wanted in one turn of the event
loop, or while too many batches are in flight already, and loads them together. A caller that is alone waits for
nobody.

`KeyedBatcher` is for writes under one row lock: when a post goes viral, hundreds of jobs want that lock. Here they
wait without holding a connection, and whoever comes first writes for all the others in one transaction.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar
from weakref import WeakValueDictionary

from tintype.base.errors import Unavailable

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")
MAX_BATCH = 64
BATCHES_IN_FLIGHT = 2
"""While one batch is loaded another can be on its way; more would only make them smaller."""
MAX_KEYED_BATCH = 200


class BatchLoader(Generic[K, T]):
    """Loads values by key. `load_batch` gets each key once; an exception in its result is raised for that key only."""

    def __init__(
        self,
        load_batch: Callable[[Sequence[K]], Awaitable[Mapping[K, T | Exception]]],
        *,
        max_batch: int = MAX_BATCH,
    ) -> None:
        self._load_batch, self._max_batch = load_batch, max_batch
        self._waiting: deque[tuple[K, asyncio.Future[T | None]]] = deque()
        self._in_flight: set[asyncio.Task[None]] = set()

    async def load(self, key: K) -> T | None:
        """The value of one key, read after this call began; None where there is none."""
        future: asyncio.Future[T | None] = asyncio.get_running_loop().create_future()
        self._waiting.append((key, future))
        if len(self._in_flight) < BATCHES_IN_FLIGHT:
            task = asyncio.create_task(self._run())
            self._in_flight.add(task)
            task.add_done_callback(self._in_flight.discard)
        return await future

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


class KeyedBatcher(Generic[K, T]):
    """One batch at a time per key; `run_batch` gets everything that waits for the key, in the order it came."""

    def __init__(self, run_batch: Callable[[K, list[T]], Awaitable[None]]) -> None:
        self._run_batch = run_batch
        self._locks: WeakValueDictionary[K, asyncio.Lock] = WeakValueDictionary()
        self._waiting: dict[K, list[tuple[T, asyncio.Future[None]]]] = {}

    def lock(self, key: K) -> asyncio.Lock:
        """The lock under which batches of a key run, for work that is done outside of a batch."""
        lock = self._locks.get(key)
        if lock is None:
            lock = self._locks[key] = asyncio.Lock()
        return lock

    async def add(self, key: K, item: T) -> None:
        """Return once a batch with this item has run; raises what that batch raised."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(key, []).append((item, done))
        try:
            async with self.lock(key):
                while not done.done():
                    await self._run_next(key)
        finally:
            self._discard(key, done)
        done.result()

    async def _run_next(self, key: K) -> None:
        waiting = self._waiting[key]
        batch, self._waiting[key] = waiting[:MAX_KEYED_BATCH], waiting[MAX_KEYED_BATCH:]
        try:
            await self._run_batch(key, [item for item, _ in batch])
        except BaseException as error:
            _fail((done for _, done in batch), error)
            if not isinstance(error, Exception):
                raise
        else:
            for _, done in batch:
                if not done.done():
                    done.set_result(None)

    def _discard(self, key: K, done: asyncio.Future[None]) -> None:
        """Remove the item of a caller that leaves, which may have been cancelled while it waited."""
        left = [each for each in self._waiting.get(key, ()) if each[1] is not done]
        if left:
            self._waiting[key] = left
        else:
            self._waiting.pop(key, None)
        if done.done() and not done.cancelled():
            done.exception()  # marks it as retrieved, so that asyncio does not log it


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
