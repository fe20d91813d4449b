"""Events that a statement stores by itself, in one round trip with the rows that make them true."""

from collections.abc import Awaitable, Callable

import pytest

from tests.support import eventually
from tests.worker.conftest import Run
from tintype.base.events import Event
from tintype.base.jobs import on
from tintype.base.log import begin_request, current_request_id
from tintype.base.outbox import Outbox
from tintype.wiring import Rooms

STORE = """
WITH changed AS (SELECT 1234567890123 AS change_id)
INSERT INTO common.outbox (event, payload, request_id)
SELECT $1, convert_to($2 || changed.change_id || '}', 'UTF8'), $3 FROM changed
"""


class ThingChanged(Event, frozen=True):
    """An event whose change id the statement makes."""

    thing_id: int
    change_id: int
    title: str
    note: str | None = None


class ThingMade(Event, frozen=True):
    """An event of which everything is made by the statement."""

    thing_id: int


async def test_an_event_of_one_call_reaches_its_handler_with_the_number_that_the_statement_made(
    run_worker: Run, rooms: Rooms
) -> None:
    woken: list[str] = []
    seen: list[tuple[ThingChanged, str]] = []

    async def poke(server: str) -> None:
        woken.append(server)
        await rooms.nats.publish(f"{rooms.settings.namespace}.poke.{server}")

    async def see(event: ThingChanged) -> None:
        seen.append((event, current_request_id()))

    outbox, shard = Outbox(poke), rooms.shards.shard(1)
    begin_request("from-the-browser")
    async with run_worker(on(ThingChanged, see, name="tests-prepared")):
        prepared = outbox.prepare(ThingChanged, thing_id=7, title='q"} \x00 ü 😀')
        await shard.raw.execute(STORE, *prepared.values())
        await outbox.wake(shard)
        await eventually(_is(lambda: len(seen) == 1), what="the event arrived")

    assert seen == [(ThingChanged(7, 1234567890123, 'q"} \x00 ü 😀'), "from-the-browser")]
    assert woken == [shard.server]


def test_the_statement_may_make_any_one_field() -> None:
    prepared = Outbox(_no_poke).prepare(ThingMade, last="thing_id")

    assert ThingMade.decode((prepared["payload"] + "5}").encode()) == ThingMade(5)


def test_the_statement_may_make_more_fields_after_it() -> None:
    prepared = Outbox(_no_poke).prepare(ThingChanged, more=("thing_id",), title="x")

    assert ThingChanged.decode((prepared["payload"] + '5,"thing_id":7}').encode()) == ThingChanged(7, 5, "x")


@pytest.mark.parametrize(
    ("event", "fields"),
    [
        (ThingChanged, {"thing_id": 1}),
        (ThingChanged, {"thing_id": 1, "title": "x", "colour": "red"}),
        (ThingChanged, {"thing_id": 1, "title": "x", "last": "changed"}),
        (ThingMade, {"last": "thing_id", "thing_id": 1}),
        (ThingMade, {"thing_id": 1}),
    ],
)
def test_fields_that_do_not_make_the_event_are_refused(event: type[Event], fields: dict[str, object]) -> None:
    with pytest.raises(TypeError, match=event.__name__):
        Outbox(_no_poke).prepare(event, **fields)  # pyright: ignore[reportArgumentType] - wrong on purpose


async def test_a_poke_that_fails_does_not_undo_the_write(rooms: Rooms) -> None:
    async def fail(_server: str) -> None:
        raise ConnectionError("no NATS")

    await Outbox(fail).wake(rooms.shards.shard(1))


def _is(claim: Callable[[], bool]) -> Callable[[], Awaitable[bool]]:
    async def check() -> bool:
        return claim()

    return check


async def _no_poke(_server: str) -> None:
    return None
