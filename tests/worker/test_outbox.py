from collections.abc import Awaitable, Callable

import pytest

from tests.support import eventually, on_server
from tests.worker.conftest import NumberNoted, Run, noting
from tintype.base.bus import Names
from tintype.base.jobs import on
from tintype.base.log import begin_request, current_request_id
from tintype.base.outbox import Outbox
from tintype.wiring import Rooms

Note = Callable[..., Awaitable[None]]


async def test_events_of_every_shard_reach_their_handler(run_worker: Run, note: Note) -> None:
    seen: list[int] = []
    async with run_worker(noting(seen)):
        await note(*range(40))
        await eventually(lambda: _is(sorted(seen) == list(range(40))), what="every event was handled")


async def test_every_handler_of_an_event_gets_it(run_worker: Run, note: Note) -> None:
    one: list[int] = []
    other: list[int] = []
    async with run_worker(noting(one), noting(other, name="tests-note-too")):
        await note(1, 2, 3)
        await eventually(lambda: _is(sorted(one) == sorted(other) == [1, 2, 3]), what="both handlers saw all")


async def test_an_event_of_a_transaction_that_failed_is_never_sent(
    run_worker: Run, note: Note, rooms: Rooms
) -> None:
    seen: list[int] = []
    outbox = Outbox(_no_poke)
    async with run_worker(noting(seen)):
        with pytest.raises(RuntimeError, match="changed my mind"):
            async with rooms.shards.shard(1).begin() as tx:
                await outbox.add(tx, NumberNoted(13))
                raise RuntimeError("changed my mind")
        await note(7)
        await eventually(lambda: _is(7 in seen), what="the committed event was handled")

    assert seen == [7]


async def test_a_lost_poke_delays_an_event_and_does_not_lose_it(run_worker: Run, note: Note) -> None:
    seen: list[int] = []
    async with run_worker(noting(seen)):
        await note(1, 2, is_poked=False)
        await eventually(lambda: _is(sorted(seen) == [1, 2]), what="the poll found the events")


async def test_events_written_while_no_worker_runs_wait_for_one(run_worker: Run, note: Note) -> None:
    await note(*range(10))
    seen: list[int] = []
    async with run_worker(noting(seen)):
        await eventually(lambda: _is(sorted(seen) == list(range(10))), what="the backlog was handled")


async def test_two_workers_share_the_events(run_worker: Run, note: Note) -> None:
    seen: list[int] = []
    async with run_worker(noting(seen)), run_worker(noting(seen)):
        await note(*range(60))
        await eventually(lambda: _is(set(seen) == set(range(60))), what="every event was handled")

    assert sorted(seen) == list(range(60))


async def test_a_stream_that_was_lost_is_refilled_from_the_outbox(
    run_worker: Run, note: Note, rooms: Rooms
) -> None:
    async with run_worker(noting([])):
        await note(*range(10))
        await _all_relayed(rooms)
    await rooms.bus.jetstream().delete_stream(Names(rooms.settings.namespace).events_stream)

    seen: list[int] = []
    async with run_worker(noting(seen, name="tests-after-the-loss")):
        await eventually(lambda: _is(set(seen) == set(range(10))), what="relayed events were sent again")


async def test_a_stream_that_lost_its_tail_gets_the_tail_again(
    run_worker: Run, note: Note, rooms: Rooms
) -> None:
    async with run_worker(noting([])):
        await note(*range(10))
        await _all_relayed(rooms)
    # As after a power cut: the marks say the stream went further than it now does.
    for dsn in rooms.settings.postgres:
        await on_server(dsn, "UPDATE common.outbox SET stream_seq = 1000000")

    # The dedupe window still knows the ids; a real cut loses them with the tail, so give the rows new ones.
    await rooms.bus.jetstream().purge_stream(Names(rooms.settings.namespace).events_stream)
    for dsn in rooms.settings.postgres:
        await on_server(dsn, "UPDATE common.outbox_source SET source = gen_random_uuid()")
    seen: list[int] = []
    async with run_worker(noting(seen)):
        await eventually(lambda: _is(set(seen) == set(range(10))), what="the lost tail was sent again")


async def test_relayed_events_are_swept_when_their_time_is_up(
    run_worker: Run, note: Note, rooms: Rooms
) -> None:
    async with run_worker(noting([])) as worker:
        await note(*range(10))
        await _all_relayed(rooms)
        for dsn in rooms.settings.postgres:
            await on_server(dsn, "UPDATE common.outbox SET created_at = created_at - interval '2 hours'")

        await worker.sweep_outboxes()

        assert await _count(rooms, "true") == 0


async def test_the_request_id_travels_with_the_event(run_worker: Run, note: Note) -> None:
    seen: list[str] = []

    async def see(_: NumberNoted) -> None:
        seen.append(current_request_id())

    begin_request("from-the-browser")
    await note(1)
    async with run_worker(on(NumberNoted, see, name="tests-request-id")):
        await eventually(lambda: _is(seen == ["from-the-browser"]), what="the handler knew the request")


async def _all_relayed(rooms: Rooms) -> None:
    async def is_so() -> bool:
        return await _count(rooms, "stream_seq IS NULL") == 0

    await eventually(is_so, what="every event was relayed")


async def _count(rooms: Rooms, condition: str) -> int:
    total = 0
    for dsn in rooms.settings.postgres:
        total += len(await on_server(dsn, f"SELECT 1 FROM common.outbox WHERE {condition}"))
    return total


async def _is(claim: bool) -> bool:
    return claim


async def _no_poke(_server: str) -> None:
    return None
