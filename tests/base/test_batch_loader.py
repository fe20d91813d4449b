"""Concurrent loads share a query, and an error of one key is not the others'."""

import asyncio
from collections.abc import Sequence

import pytest

from tintype.base.batch_loader import BatchLoader
from tintype.base.errors import Unavailable


class Source:
    """Doubles even numbers, has no odd ones, and records the batches it was called with."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.goes_on = asyncio.Event()
        self.goes_on.set()
        self.error: Exception | None = None

    async def load_batch(self, keys: Sequence[int]) -> dict[int, int | Exception]:
        self.batches.append(list(keys))
        await self.goes_on.wait()
        if self.error is not None:
            raise self.error
        return {key: 2 * key if key < 100 else OSError(f"no {key}") for key in keys if key % 2 == 0}


async def run_pending() -> None:
    """Let everything run that can run before a batch returns."""
    for _ in range(5):
        await asyncio.sleep(0)


async def test_loads_of_the_same_moment_are_one_batch() -> None:
    source = Source()
    loader = BatchLoader(source.load_batch)

    found = await asyncio.gather(*(loader.load(key) for key in (2, 4, 5, 2)))

    assert found == [4, 8, None, 4]
    assert source.batches == [[2, 4, 5]]


async def test_loads_made_while_batches_are_in_flight_join_the_next_batch() -> None:
    source = Source()
    source.goes_on.clear()
    loader = BatchLoader(source.load_batch, max_batch=2)
    first = [asyncio.create_task(loader.load(key)) for key in (2, 4, 6, 8)]
    await run_pending()
    later = [asyncio.create_task(loader.load(key)) for key in (2, 12)]
    await run_pending()
    source.goes_on.set()

    assert await asyncio.gather(*first, *later) == [4, 8, 12, 16, 4, 24]
    assert source.batches == [[2, 4], [6, 8], [2, 12]]


async def test_an_error_for_one_key_is_raised_for_that_key_only() -> None:
    loader = BatchLoader(Source().load_batch)

    good, bad = await asyncio.gather(loader.load(2), loader.load(100), return_exceptions=True)

    assert good == 4
    assert isinstance(bad, OSError)


async def test_a_failed_batch_raises_in_every_caller_and_the_next_batch_runs() -> None:
    source = Source()
    loader = BatchLoader(source.load_batch)
    source.error = OSError("away")
    failed = await asyncio.gather(loader.load(2), loader.load(4), return_exceptions=True)
    source.error = None

    assert [type(each) for each in failed] == [OSError, OSError]
    assert await loader.load(2) == 4


async def test_a_cancelled_caller_does_not_disturb_the_others() -> None:
    source = Source()
    source.goes_on.clear()
    loader = BatchLoader(source.load_batch)
    impatient, patient = (asyncio.create_task(loader.load(key)) for key in (2, 4))
    await run_pending()
    impatient.cancel()
    source.goes_on.set()

    assert await patient == 8
    with pytest.raises(asyncio.CancelledError):
        await impatient


async def test_who_asks_again_at_once_is_answered_though_only_one_batch_may_be_in_flight() -> None:
    source = Source()
    loader = BatchLoader(source.load_batch, in_flight=1)

    async with asyncio.timeout(10):
        assert [await loader.load(key) for key in (2, 4, 6)] == [4, 8, 12]


async def test_what_waits_behind_a_cancelled_batch_may_be_tried_again() -> None:
    source = Source()
    loader = BatchLoader(source.load_batch, max_batch=1, in_flight=1)
    source.goes_on.clear()
    before = asyncio.all_tasks()
    first = asyncio.create_task(loader.load(2))
    second = asyncio.create_task(loader.load(4))
    await run_pending()
    (batch,) = asyncio.all_tasks() - before - {first, second}

    batch.cancel()

    for each in (first, second):
        with pytest.raises(Unavailable):
            await each
    source.goes_on.set()
    assert await loader.load(6) == 12
