"""The order of video conversions in one worker: one at a time, and fair between people.

A person's first videos go before those of people who have several waiting already; of every four conversions one is
of the latter, so that they go on too. Without this, whoever uploads fifty clips would keep everybody waiting.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncGenerator
from typing import Literal

Lane = Literal["first", "further"]
FIRSTS_IN_A_ROW = 3
FIRST_VIDEOS = 2
"""So many waiting videos of a person count as their first."""


def lane_of(waiting: int) -> Lane:
    """The lane of a new video whose owner has this many waiting."""
    return "first" if waiting < FIRST_VIDEOS else "further"


class ConversionTurns:
    """Lets one conversion run at a time."""

    def __init__(self) -> None:
        self._is_busy = False
        self._waiting: dict[Lane, deque[asyncio.Future[None]]] = {"first": deque(), "further": deque()}
        self._firsts = 0

    @contextlib.asynccontextmanager
    async def turn(self, lane: Lane) -> AsyncGenerator[None]:
        """Wait for a turn, and hold it for the length of the block."""
        await self._acquire(lane)
        try:
            yield
        finally:
            self._release()

    async def _acquire(self, lane: Lane) -> None:
        if not self._is_busy:
            self._is_busy = True
            self._count(lane)
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting[lane].append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._waiting[lane] = deque(each for each in self._waiting[lane] if each is not turn)
            else:
                self._release()  # it was handed over in the moment of the cancellation
            raise

    def _release(self) -> None:
        while (lane := self._next_lane()) is not None:
            turn = self._waiting[lane].popleft()
            if not turn.cancelled():
                self._count(lane)
                turn.set_result(None)
                return
        self._is_busy = False

    def _next_lane(self) -> Lane | None:
        is_due = self._firsts >= FIRSTS_IN_A_ROW
        order: tuple[Lane, Lane] = ("further", "first") if is_due else ("first", "further")
        return next((lane for lane in order if self._waiting[lane]), None)

    def _count(self, lane: Lane) -> None:
        self._firsts = self._firsts + 1 if lane == "first" else 0
