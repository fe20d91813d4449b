"""redis-py's client and pipeline: a cancelled task ends."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from tintype.wiring import Rooms


async def _alone(rooms: Rooms) -> object:
    return await rooms.redis.delete("a")


async def _pipelined(rooms: Rooms) -> object:
    async with rooms.redis.pipeline(transaction=False) as pipe:
        pipe.get("a")
        return await pipe.execute()


@pytest.mark.parametrize("call", [_alone, _pipelined], ids=["command", "pipeline"])
async def test_a_cancellation_is_never_lost_in_a_command(
    rooms: Rooms, call: Callable[[Rooms], Awaitable[object]]
) -> None:
    async def use() -> None:
        await call(rooms)
        await asyncio.sleep(10)

    for turns in range(12):
        task = asyncio.create_task(use())
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task], timeout=5)
        assert task.cancelled(), f"cancelled after {turns} turns of the loop"
