"""Asking for many at once what many ask for at the same moment.

A busy worker has dozens of jobs under way that each want one row of somewhere. Asked one by one they cost a round trip
each, and the round trips are most of the work. Here the first who asks waits for one turn of the event loop; whoever
asks in that turn, or while too many questions are under way already, goes along with the next question. Somebody who is
alone waits for nobody.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Generic, TypeVar

K = TypeVar("K", bound=int | str)
T = TypeVar("T")
MOST = 64
UNDER_WAY = 2
"""Questions at once: while one is answered another can be on its way; more would only make them smaller."""


class Together(Generic[K, T]):
    """Answers by key. `ask` is given each key once, and may answer a key with an error, which is that key's alone."""

    def __init__(
        self, ask: Callable[[Sequence[K]], Awaitable[Mapping[K, T | Exception]]], *, most: int = MOST
    ) -> None:
        self._ask, self._most = ask, most
        self._waiting: deque[tuple[K, asyncio.Future[T | None]]] = deque()
        self._asking: set[asyncio.Task[None]] = set()

    async def find(self, key: K) -> T | None:
        """The answer for one key, read after this call began; None where there is none."""
        future: asyncio.Future[T | None] = asyncio.get_running_loop().create_future()
        self._waiting.append((key, future))
        if len(self._asking) < UNDER_WAY:
            task = asyncio.create_task(self._work())
            self._asking.add(task)
            task.add_done_callback(self._asking.discard)
        return await future

    async def _work(self) -> None:
        while self._waiting:
            some = [self._waiting.popleft() for _ in range(min(self._most, len(self._waiting)))]
            try:
                answers = await self._ask(list({key: None for key, future in some if not future.done()}))
            except BaseException as error:
                _tell(some, error)
                if not isinstance(error, Exception):
                    raise
            else:
                _answer(some, answers)


def _answer(some: Sequence[tuple[K, asyncio.Future[T | None]]], answers: Mapping[K, T | Exception]) -> None:
    for key, future in some:
        answer = answers.get(key)
        if future.done():
            continue  # whoever asked has gone
        if isinstance(answer, Exception):
            future.set_exception(answer)
        else:
            future.set_result(answer)


def _tell(some: Sequence[tuple[K, asyncio.Future[T | None]]], error: BaseException) -> None:
    for _, future in some:
        if future.done():
            continue
        if isinstance(error, Exception):
            future.set_exception(error)
        else:
            future.cancel()
