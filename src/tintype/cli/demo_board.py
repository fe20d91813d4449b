"""Tells the web how far the demo is, so that whoever pressed the button there can watch."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress

from tintype.api import BOARD
from tintype.base.board import Board, Notice
from tintype.wiring import Rooms

EVERY_S = 0.5
Tell = Callable[[str, int, int], None]


@asynccontextmanager
async def telling(rooms: Rooms) -> AsyncGenerator[Tell]:
    """What is told last is written up twice a second; at the end, how it ended."""
    board = Board(rooms.redis, rooms.settings.namespace, BOARD)
    latest = Notice("running")

    def tell(stage: str, done: int, total: int) -> None:
        nonlocal latest
        latest = Notice("running", stage, done, total)

    async def keep_writing() -> None:
        while True:
            await board.write(latest)
            await asyncio.sleep(EVERY_S)

    writing = asyncio.create_task(keep_writing())
    ended = Notice("failed")
    try:
        yield tell
        ended = Notice("done")
    finally:
        writing.cancel()
        with suppress(asyncio.CancelledError):
            await writing
        await board.write(ended)
