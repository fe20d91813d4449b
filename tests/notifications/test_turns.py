"""Those who wait for the same turn are done together, and nobody is forgotten."""

import asyncio

import pytest

from tintype.base.errors import Unavailable
from tintype.notifications.turns import Turns


async def test_whoever_waits_is_taken_along_in_order() -> None:
    done: list[list[int]] = []

    async def do(_key: str, items: list[int]) -> None:
        await asyncio.sleep(0)
        done.append(items)

    turns: Turns[str, int] = Turns(do)
    await asyncio.gather(*(turns.add("ana", number) for number in range(5)), turns.add("bo", 9))

    assert sorted(done) == [[0], [1, 2, 3, 4], [9]]


async def test_a_failure_is_told_to_everybody_in_it_and_to_nobody_else() -> None:
    async def do(_key: str, items: list[int]) -> None:
        await asyncio.sleep(0)
        if 1 in items:
            raise ValueError

    turns: Turns[str, int] = Turns(do)
    outcomes = await asyncio.gather(*(turns.add("ana", each) for each in (0, 1, 2)), return_exceptions=True)
    await turns.add("ana", 3)

    assert [type(each) for each in outcomes] == [type(None), ValueError, ValueError]


async def test_when_the_first_is_stopped_the_others_are_told_to_try_again() -> None:
    begun = asyncio.Event()

    async def do(_key: str, items: list[int]) -> None:
        if 1 in items:
            begun.set()
            await asyncio.sleep(60)

    turns: Turns[str, int] = Turns(do)
    async with turns.of("ana"):
        first, second = (asyncio.create_task(turns.add("ana", number)) for number in (1, 2))
        await asyncio.sleep(0)
    await begun.wait()
    first.cancel()

    with pytest.raises(Unavailable):
        await second
    assert first.cancelled()


async def test_who_is_stopped_while_waiting_is_not_done() -> None:
    done: list[list[int]] = []

    async def do(_key: str, items: list[int]) -> None:
        done.append(items)

    turns: Turns[str, int] = Turns(do)
    async with turns.of("ana"):
        waiting = asyncio.create_task(turns.add("ana", 1))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
    await turns.add("ana", 2)

    assert done == [[2]]
