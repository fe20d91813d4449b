"""Many who ask at the same moment cost one question, and one's trouble is not the others'."""

import asyncio
from collections.abc import Sequence

import pytest

from tintype.base.together import Together


class Source:
    """Doubles even numbers, knows no odd ones, and notes what it was asked."""

    def __init__(self) -> None:
        self.asked: list[list[int]] = []
        self.goes_on = asyncio.Event()
        self.goes_on.set()
        self.error: Exception | None = None

    async def answer(self, keys: Sequence[int]) -> dict[int, int | Exception]:
        self.asked.append(list(keys))
        await self.goes_on.wait()
        if self.error is not None:
            raise self.error
        return {key: 2 * key if key < 100 else OSError(f"no {key}") for key in keys if key % 2 == 0}


async def some_turns() -> None:
    """Whatever can happen without an answer has happened."""
    for _ in range(5):
        await asyncio.sleep(0)


async def test_many_who_ask_at_once_are_one_question() -> None:
    source = Source()
    asking = Together(source.answer)

    found = await asyncio.gather(*(asking.find(key) for key in (2, 4, 5, 2)))

    assert found == [4, 8, None, 4]
    assert source.asked == [[2, 4, 5]]


async def test_who_asks_while_questions_are_under_way_goes_along_with_the_next() -> None:
    source = Source()
    source.goes_on.clear()
    asking = Together(source.answer, most=2)
    first = [asyncio.create_task(asking.find(key)) for key in (2, 4, 6, 8)]
    await some_turns()
    later = [asyncio.create_task(asking.find(key)) for key in (2, 12)]
    await some_turns()
    source.goes_on.set()

    assert await asyncio.gather(*first, *later) == [4, 8, 12, 16, 4, 24]
    assert source.asked == [[2, 4], [6, 8], [2, 12]]


async def test_an_answer_that_is_an_error_is_one_askers_alone() -> None:
    asking = Together(Source().answer)

    good, bad = await asyncio.gather(asking.find(2), asking.find(100), return_exceptions=True)

    assert good == 4
    assert isinstance(bad, OSError)


async def test_a_question_that_fails_is_told_to_everybody_and_the_next_is_asked() -> None:
    source = Source()
    asking = Together(source.answer)
    source.error = OSError("away")
    failed = await asyncio.gather(asking.find(2), asking.find(4), return_exceptions=True)
    source.error = None

    assert [type(each) for each in failed] == [OSError, OSError]
    assert await asking.find(2) == 4


async def test_who_gives_up_waiting_disturbs_nobody() -> None:
    source = Source()
    source.goes_on.clear()
    asking = Together(source.answer)
    impatient, patient = (asyncio.create_task(asking.find(key)) for key in (2, 4))
    await some_turns()
    impatient.cancel()
    source.goes_on.set()

    assert await patient == 8
    with pytest.raises(asyncio.CancelledError):
        await impatient
