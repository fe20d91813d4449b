"""Work on one thing at a time, and together what has gathered while waiting.

Everything of one recipient happens under one row lock. When a post goes viral, hundreds of acts want that lock: here
they wait without holding a connection, and whoever comes first takes all the others along in one transaction.
"""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar
from weakref import WeakValueDictionary

from tintype.base.errors import Unavailable

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")
MOST_TOGETHER = 200


class Turns(Generic[K, T]):
    """One turn at a time per key; `do` gets everything that waits for the key's turn, in the order it came."""

    def __init__(self, do: Callable[[K, list[T]], Awaitable[None]]) -> None:
        self._do = do
        self._locks: WeakValueDictionary[K, asyncio.Lock] = WeakValueDictionary()
        self._waiting: dict[K, list[tuple[T, asyncio.Future[None]]]] = {}

    def of(self, key: K) -> asyncio.Lock:
        """The turn of a key, for work that is done alone."""
        lock = self._locks.get(key)
        if lock is None:
            lock = self._locks[key] = asyncio.Lock()
        return lock

    async def add(self, key: K, item: T) -> None:
        """Have it done, alone or together with others; whoever was in a part that failed is told so."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(key, []).append((item, done))
        try:
            async with self.of(key):
                while not done.done():
                    await self._take(key)
        finally:
            self._forget(key, done)
        done.result()

    async def _take(self, key: K) -> None:
        waiting = self._waiting[key]
        part, self._waiting[key] = waiting[:MOST_TOGETHER], waiting[MOST_TOGETHER:]
        try:
            await self._do(key, [item for item, _ in part])
        except BaseException as error:
            for _, done in part:
                if not done.done():
                    # The one who did the work may have been stopped; the others were not and try again.
                    done.set_exception(error if isinstance(error, Exception) else Unavailable())
            if not isinstance(error, Exception):
                raise
        for _, done in part:
            if not done.done():
                done.set_result(None)

    def _forget(self, key: K, done: asyncio.Future[None]) -> None:
        """Leave nothing behind, also when stopped while waiting."""
        left = [each for each in self._waiting.get(key, ()) if each[1] is not done]
        if left:
            self._waiting[key] = left
        else:
            self._waiting.pop(key, None)
        if done.done() and not done.cancelled():
            done.exception()  # seen, so that nobody complains that it was not
