"""Items that wait for the same key run in one batch, and none is lost."""

import asyncio

import pytest

from tintype.base.batch_loader import KeyedBatcher
from tintype.base.errors import Unavailable


async def test_items_that_wait_for_a_key_run_in_one_batch_in_order() -> None:
    done: list[list[int]] = []

    async def run(_key: str, items: list[int]) -> None:
        await asyncio.sleep(0)
        done.append(items)

    batches: KeyedBatcher[str, int] = KeyedBatcher(run)
    await asyncio.gather(*(batches.add("ana", number) for number in range(5)), batches.add("bo", 9))

    assert sorted(done) == [[0], [1, 2, 3, 4], [9]]


async def test_the_error_of_a_batch_is_raised_in_its_callers_and_in_no_others() -> None:
    async def run(_key: str, items: list[int]) -> None:
        await asyncio.sleep(0)
        if 1 in items:
            raise ValueError

    batches: KeyedBatcher[str, int] = KeyedBatcher(run)
    outcomes = await asyncio.gather(*(batches.add("ana", each) for each in (0, 1, 2)), return_exceptions=True)
    await batches.add("ana", 3)

    assert [type(each) for each in outcomes] == [type(None), ValueError, ValueError]


async def test_when_the_caller_that_runs_a_batch_is_cancelled_the_others_get_a_retryable_error() -> None:
    begun = asyncio.Event()

    async def run(_key: str, items: list[int]) -> None:
        if 1 in items:
            begun.set()
            await asyncio.sleep(60)

    batches: KeyedBatcher[str, int] = KeyedBatcher(run)
    async with batches.lock("ana"):
        first, second = (asyncio.create_task(batches.add("ana", number)) for number in (1, 2))
        await asyncio.sleep(0)
    await begun.wait()
    first.cancel()

    with pytest.raises(Unavailable):
        await second
    assert first.cancelled()


async def test_the_item_of_a_caller_cancelled_while_waiting_does_not_run() -> None:
    done: list[list[int]] = []

    async def run(_key: str, items: list[int]) -> None:
        done.append(items)

    batches: KeyedBatcher[str, int] = KeyedBatcher(run)
    async with batches.lock("ana"):
        waiting = asyncio.create_task(batches.add("ana", 1))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
    await batches.add("ana", 2)

    assert done == [[2]]
