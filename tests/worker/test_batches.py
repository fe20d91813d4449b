"""Handlers that take what waits in one call, and events that feed several handlers with one delivery."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from shardwright.routing import Shard
from shardwright.topology import set_owned
from tests.support import eventually
from tests.worker.conftest import NumberNoted, Run, recording
from tintype.base.jobs import MAX_BATCH, on
from tintype.base.log import begin_request, current_request_id
from tintype.base.nats import NatsNames
from tintype.base.shard_groups import run_by_shard
from tintype.base.store import QUERIES
from tintype.wiring import Rooms
from tintype.worker import DeadLetters, connect_to_server

Publish = Callable[..., Awaitable[None]]


async def test_a_handler_of_batches_gets_what_waits_in_one_call(
    run_worker: Run, publish: Publish, rooms: Rooms
) -> None:
    calls: list[list[int]] = []
    may_go_on = asyncio.Event()

    async def note(events: list[NumberNoted]) -> None:
        calls.append([event.number for event in events])
        await may_go_on.wait()

    async with run_worker(on(NumberNoted, note, name="tests-batch", many=True, concurrency=1)):
        await publish(0)
        await eventually(_is(lambda: calls == [[0]]), what="one event alone does not wait for others")
        await publish(*range(1, 151))
        await eventually(lambda: _is_waiting(rooms, 151), what="all of them wait")
        may_go_on.set()
        await eventually(_is(lambda: _all(calls) == list(range(151))), what="every event was handled")

    assert max(len(call) for call in calls) > 20
    assert max(len(call) for call in calls) <= MAX_BATCH


@pytest.mark.slow
async def test_a_poisoned_event_does_not_hold_its_batch_back(
    run_worker: Run, publish: Publish, rooms: Rooms
) -> None:
    dead = DeadLetters(rooms.nats.jetstream(), NatsNames(rooms.settings.namespace))
    done: list[int] = []
    tries: list[int] = []

    async def refuse_thirteen(events: list[NumberNoted]) -> None:
        numbers = [event.number for event in events]
        if numbers == [13]:
            tries.append(13)
        if 13 in numbers:
            raise ValueError("poison")
        done.extend(numbers)

    await publish(*range(64))
    async with run_worker(on(NumberNoted, refuse_thirteen, name="tests-poison", many=True)):
        rest = [number for number in range(64) if number != 13]
        await eventually(_is(lambda: sorted(done) == rest), what="its mates were handled")
        await eventually(_letters(dead, 1), what="the poisoned one was dead-lettered")

    assert sorted(done) == rest  # each of its mates once, in spite of the halves
    assert len(tries) == 4
    letter = (await dead.list())[0]
    assert (letter.payload, letter.attempts, letter.error) == ('{"number":13}', 4, "ValueError: poison")


@pytest.mark.slow
async def test_a_handler_that_fails_is_retried_without_the_others(run_worker: Run, publish: Publish) -> None:
    one: list[int] = []
    other: list[int] = []
    tries: list[int] = []

    async def fail_twice(event: NumberNoted) -> None:
        tries.append(event.number)
        if len(tries) < 3:
            raise ValueError("not yet")
        one.append(event.number)

    failing = on(NumberNoted, fail_twice, name="tests-fails")
    async with run_worker(failing, recording(other, name="tests-succeeds")):
        await publish(5)
        await eventually(_is(lambda: one == [5]), what="the third try came")

    assert tries == [5, 5, 5]
    assert other == [5]


async def test_one_delivery_feeds_all_handlers_of_an_event(
    run_worker: Run, publish: Publish, rooms: Rooms
) -> None:
    seen: list[list[int]] = [[], [], []]
    handlers = [recording(own, name=f"tests-note-{number}") for number, own in enumerate(seen)]
    async with run_worker(*handlers):
        await publish(*range(10))
        await eventually(_is(lambda: all(sorted(own) == list(range(10)) for own in seen)), what="all saw all")
        infos = await rooms.nats.jetstream().consumers_info(NatsNames(rooms.settings.namespace).events_stream)

    delivered = {info.name.split("-")[0]: info.delivered for info in infos}
    assert delivered.keys() == {"number_noted", "retries"}
    assert delivered["number_noted"] is not None
    assert delivered["number_noted"].consumer_seq == 10


@pytest.mark.slow
async def test_a_payload_that_cannot_be_read_becomes_a_dead_letter_of_every_handler(
    run_worker: Run, publish: Publish, rooms: Rooms
) -> None:
    names = NatsNames(rooms.settings.namespace)
    dead = DeadLetters(rooms.nats.jetstream(), names)
    seen: list[int] = []
    async with run_worker(recording(seen, name="tests-a"), recording(seen, name="tests-b")):
        await publish(1)
        await eventually(_is(lambda: seen == [1, 1]), what="the durables are there")
        await rooms.nats.jetstream().publish(names.event("number_noted"), b'{"number":"many"}')
        await eventually(_letters(dead, 2), what="both were dead-lettered")

    letters = await dead.list()
    assert {letter.handler for letter in letters} == {"tests-a", "tests-b"}
    assert all("Expected `int`" in letter.error for letter in letters)


async def test_a_batch_has_the_request_id_of_an_event(run_worker: Run, publish: Publish) -> None:
    seen: list[str] = []

    async def see(_events: list[NumberNoted]) -> None:
        seen.append(current_request_id())

    begin_request("from-the-browser")
    await publish(1)
    async with run_worker(on(NumberNoted, see, name="tests-batch-id", many=True)):
        await eventually(_is(lambda: seen == ["from-the-browser"]), what="the handler knew the request")


async def test_a_batch_outlasts_a_move_of_one_of_its_shards(
    run_worker: Run, publish: Publish, rooms: Rooms
) -> None:
    done: list[int] = []
    has_begun = asyncio.Event()

    async def write(shard: Shard, numbers: list[int]) -> None:
        has_begun.set()
        for number in numbers:
            await shard.execute(QUERIES.acquire_lease, name=f"tests-{number}", holder="batch", ttl_s=60.0)
        done.extend(numbers)

    async def write_all(events: list[NumberNoted]) -> None:
        await run_by_shard(rooms.shards, [event.number for event in events], _id_on_shard(rooms), write)

    moving = rooms.shards.shard(1)
    dsn = next(
        dsn
        for dsn, name in zip(rooms.settings.postgres_admin, rooms.shards.map.servers, strict=True)
        if name == moving.server
    )
    async with connect_to_server(dsn) as server:
        await set_owned(server, 1, owned=False)
        try:
            await publish(*range(16))
            async with run_worker(on(NumberNoted, write_all, name="tests-moves", many=True)):
                await has_begun.wait()
                await eventually(_is(lambda: len(done) >= 14), what="the other shards were written")
                assert {1, 9}.isdisjoint(done)
                await set_owned(server, 1, owned=True)
                await eventually(
                    _is(lambda: sorted(done) == list(range(16))), what="so was the one that moved"
                )
        finally:
            await set_owned(server, 1, owned=True)


def _id_on_shard(rooms: Rooms) -> Callable[[int], int]:
    """The id of a number on the shard on which `publish` has put its event."""

    def find(number: int) -> int:
        return rooms.shards.map.layout.compose(1_000_000 + number, number % rooms.settings.shard_count, 0)

    return find


async def _is_waiting(rooms: Rooms, count: int) -> bool:
    """Whether so many events wait in the process or the stream: none of them is in a call yet."""
    infos = await rooms.nats.jetstream().consumers_info(NatsNames(rooms.settings.namespace).events_stream)
    return sum((info.num_pending or 0) + (info.num_ack_pending or 0) for info in infos) == count


def _all(calls: list[list[int]]) -> list[int]:
    return sorted(number for call in calls for number in call)


def _letters(dead: DeadLetters, count: int) -> Callable[[], Awaitable[bool]]:
    async def check() -> bool:
        return len(await dead.list()) == count

    return check


def _is(claim: Callable[[], bool]) -> Callable[[], Awaitable[bool]]:
    async def check() -> bool:
        return claim()

    return check
