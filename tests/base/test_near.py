"""What is kept near is what Redis holds, for whoever has asked Redis anything since."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import closing

import pytest

from tintype.base.bringing import Bringing
from tintype.base.ids import AccountId
from tintype.base.near import Near, Shelf
from tintype.base.ties import Ties
from tintype.base.wire import PipelinedWire, SharedWire, Wire
from tintype.wiring import Rooms

START = "near-test:"


@pytest.fixture
async def wire(rooms: Rooms) -> AsyncIterator[SharedWire]:
    made = SharedWire(rooms.redis)
    await made.ask(("PING",))
    yield made
    await made.close()


def shelf_of(wire: Wire, most: int = 100) -> Shelf[int, bytes]:
    return wire.near.shelf(START, int, most)


async def bring(wire: Wire, *ids: int) -> list[bytes | None]:
    shelf = shelf_of(wire)
    with closing(Bringing(wire)) as bringing:
        bringing.add(("MGET", *(f"{START}{each}" for each in ids)), shelf, ids)
        [values] = await bringing.ask()
        for each, value in zip(ids, values, strict=True):
            if value is not None:
                bringing.keep(shelf, each, value)
    return values


async def test_what_was_brought_is_here_until_somebody_changes_it(rooms: Rooms, wire: SharedWire) -> None:
    await rooms.redis.mset({f"{START}1": "a", f"{START}2": "b"})
    await bring(wire, 1, 2)
    assert shelf_of(wire).here == {1: b"a", 2: b"b"}

    await rooms.redis.set(f"{START}1", "c")
    await wire.ask(("PING",))

    assert shelf_of(wire).here == {2: b"b"}


@pytest.mark.parametrize("change", ["delete", "expire", "flush"])
async def test_it_is_gone_when_it_is_gone_there(rooms: Rooms, wire: SharedWire, change: str) -> None:
    await rooms.redis.set(f"{START}1", "a")
    await bring(wire, 1)

    if change == "delete":
        await rooms.redis.delete(f"{START}1")
    elif change == "expire":
        await rooms.redis.pexpire(f"{START}1", 1)
        await asyncio.sleep(0.01)
        await rooms.redis.get(f"{START}1")
    else:
        await rooms.redis.flushdb()
    await wire.ask(("PING",))

    assert shelf_of(wire).here == {}


async def test_an_answer_that_news_of_a_change_has_overtaken_is_not_kept(
    rooms: Rooms, wire: SharedWire
) -> None:
    shelf = shelf_of(wire)
    await rooms.redis.set(f"{START}1", "old")
    with closing(Bringing(wire)) as bringing:
        bringing.add(("MGET", f"{START}1"), shelf, [1])
        [[value]] = await bringing.ask()
        await rooms.redis.set(f"{START}1", "new")
        await wire.ask(("PING",))  # the news is here before anything was made of the answer

        bringing.keep(shelf, 1, value)

    assert shelf.here == {}


async def test_nothing_is_kept_from_a_connection_that_was_lost(rooms: Rooms, wire: SharedWire) -> None:
    await rooms.redis.set(f"{START}1", "a")
    await bring(wire, 1)
    [number] = await wire.ask(("CLIENT", "ID"))

    await rooms.redis.execute_command("CLIENT", "KILL", "ID", number)
    await asyncio.sleep(0.05)

    assert shelf_of(wire).here == {}
    assert not wire.near.is_live
    await wire.ask(("PING",))
    await bring(wire, 1)
    assert shelf_of(wire).here == {1: b"a"}


async def test_a_wire_that_hears_no_news_keeps_nothing(rooms: Rooms) -> None:
    wire = PipelinedWire(rooms.redis)
    await rooms.redis.set(f"{START}1", "a")

    assert await bring(wire, 1) == [b"a"]

    assert shelf_of(wire).here == {}


def test_what_came_first_makes_room() -> None:
    shelf = Near().shelf(START, int, 2)
    for each in (1, 2, 3):
        shelf.expect([each], shelf)
        shelf.keep(each, b"", shelf)

    assert list(shelf.here) == [2, 3]


@pytest.mark.parametrize("seed", range(3))
async def test_readers_never_see_what_was_changed_before_they_began(
    rooms: Rooms, wire: SharedWire, seed: int
) -> None:
    """Writers note what they have written only once Redis has confirmed it; readers must never find less than that."""
    chance = random.Random(seed)  # noqa: S311 - not a secret
    confirmed, ids, is_over = dict.fromkeys(range(5), 0), range(5), False

    async def write(each: int) -> None:
        for number in range(1, 200):
            await rooms.redis.set(f"{START}{each}", number)
            confirmed[each] = number

    async def read() -> int:
        found = 0
        while not is_over:
            least = dict(confirmed)
            await wire.ask(("PING",))
            for each in chance.sample(ids, 3):
                value = shelf_of(wire).here.get(each)
                if value is None:
                    [value] = await bring(wire, each)
                else:
                    found += 1
                assert int(value or 0) >= least[each]
        return found

    readers = [asyncio.create_task(read()) for _ in range(4)]
    await asyncio.gather(*(write(each) for each in ids))
    await asyncio.sleep(0.05)
    is_over = True

    assert sum(await asyncio.gather(*readers)) > 20
    await wire.ask(("PING",))
    await bring(wire, *ids)
    assert shelf_of(wire).here == dict.fromkeys(ids, b"199")


@pytest.mark.parametrize("changed", [START, "near-other:{3}:"])
async def test_what_was_made_of_several_keys_goes_with_each_of_them(
    rooms: Rooms, wire: SharedWire, changed: str
) -> None:
    other = "near-other:{3}:"
    shelf: Shelf[int, list[bytes | None]] = wire.near.shelf(START, int, 100, other)
    await rooms.redis.set(f"{START}7", "a")  # the other need not even exist
    with closing(Bringing(wire)) as bringing:
        bringing.add_for(shelf, 7, ("GET", f"{START}7"), ("GET", f"{other}7"))
        await bringing.ask()
        answers = bringing.answers_for(shelf, 7)
        assert (answers, bringing.answers_for(shelf, 8)) == ([b"a", None], None)
        bringing.keep(shelf, 7, answers)
    assert shelf.here == {7: [b"a", None]}

    await rooms.redis.set(f"{changed}7", "b")
    await wire.ask(("PING",))

    assert shelf.here == {}


async def test_ties_that_changed_in_another_process_are_told(rooms: Rooms, wire: SharedWire) -> None:
    here, elsewhere = (Ties(each, "near-test") for each in (wire, PipelinedWire(rooms.redis)))
    ana, bo = AccountId(7), AccountId(8)
    shelf = here.shelf(most=10)
    with closing(Bringing(wire)) as bringing:
        for each in (ana, bo):
            here.ask(each, bringing, shelf)
        await bringing.ask()
        for each in (ana, bo):
            bringing.keep(shelf, each, "as it was")

    await elsewhere.changed(ana)
    await wire.ask(("PING",))

    assert shelf.here == {bo: "as it was"}
