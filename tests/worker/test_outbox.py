from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import cast

import asyncpg
import pytest

from tests.support import eventually, on_server
from tests.worker.conftest import NumberNoted, Run, recording
from tintype.base.jobs import on
from tintype.base.log import begin_request, current_request_id
from tintype.base.nats import NatsNames
from tintype.base.outbox import Outbox
from tintype.wiring import Rooms
from tintype.worker import outbox_relay
from tintype.worker.server_connection import connect_to_server

Publish = Callable[..., Awaitable[None]]


async def test_events_of_every_shard_reach_their_handler(run_worker: Run, publish: Publish) -> None:
    seen: list[int] = []
    async with run_worker(recording(seen)):
        await publish(*range(40))
        await eventually(lambda: _is(sorted(seen) == list(range(40))), what="every event was handled")


async def test_every_handler_of_an_event_gets_it(run_worker: Run, publish: Publish) -> None:
    one: list[int] = []
    other: list[int] = []
    async with run_worker(recording(one), recording(other, name="tests-note-too")):
        await publish(1, 2, 3)
        await eventually(lambda: _is(sorted(one) == sorted(other) == [1, 2, 3]), what="both handlers saw all")


async def test_an_event_of_a_failed_transaction_is_never_published(
    run_worker: Run, publish: Publish, rooms: Rooms
) -> None:
    seen: list[int] = []
    outbox = Outbox(_no_poke)
    async with run_worker(recording(seen)):
        with pytest.raises(RuntimeError, match="changed my mind"):
            async with rooms.shards.shard(1).begin() as tx:
                await outbox.add(tx, NumberNoted(13))
                raise RuntimeError("changed my mind")
        await publish(7)
        await eventually(lambda: _is(7 in seen), what="the committed event was handled")

    assert seen == [7]


async def test_a_lost_poke_delays_an_event_and_does_not_lose_it(run_worker: Run, publish: Publish) -> None:
    seen: list[int] = []
    async with run_worker(recording(seen)):
        await publish(1, 2, is_poked=False)
        await eventually(lambda: _is(sorted(seen) == [1, 2]), what="the poll found the events")


async def test_events_of_a_time_without_a_worker_are_handled_later(run_worker: Run, publish: Publish) -> None:
    await publish(*range(10))
    seen: list[int] = []
    async with run_worker(recording(seen)):
        await eventually(lambda: _is(sorted(seen) == list(range(10))), what="the backlog was handled")


@pytest.mark.slow
async def test_two_workers_share_the_events(run_worker: Run, publish: Publish) -> None:
    seen: list[int] = []
    async with run_worker(recording(seen)), run_worker(recording(seen)):
        await publish(*range(60))
        await eventually(lambda: _is(set(seen) == set(range(60))), what="every event was handled")

    assert sorted(seen) == list(range(60))


async def test_a_stream_that_was_lost_is_refilled_from_the_outbox(
    run_worker: Run, publish: Publish, rooms: Rooms
) -> None:
    async with run_worker(recording([])):
        await publish(*range(10))
        await _all_relayed(rooms)
    await rooms.nats.jetstream().delete_stream(NatsNames(rooms.settings.namespace).events_stream)

    seen: list[int] = []
    async with run_worker(recording(seen, name="tests-after-the-loss")):
        await eventually(lambda: _is(set(seen) == set(range(10))), what="relayed events were sent again")


@pytest.mark.slow
async def test_the_lost_tail_of_a_stream_is_published_again(
    run_worker: Run, publish: Publish, rooms: Rooms
) -> None:
    async with run_worker(recording([])):
        await publish(*range(10))
        await _all_relayed(rooms)
    # As after a power cut: the position says the stream went further than it now does.
    for dsn in rooms.settings.postgres_admin:
        await on_server(
            dsn,
            "UPDATE common.outbox_position SET stream_seq = 1000000",
            "UPDATE common.outbox_checkpoints SET stream_seq = 1000000",
        )

    # The dedupe window still knows the ids; a real cut loses them with the tail, so give the rows new ones.
    await rooms.nats.jetstream().purge_stream(NatsNames(rooms.settings.namespace).events_stream)
    for dsn in rooms.settings.postgres_admin:
        await on_server(dsn, "UPDATE common.outbox_source SET source = gen_random_uuid()")
    seen: list[int] = []
    async with run_worker(recording(seen)):
        await eventually(lambda: _is(set(seen) == set(range(10))), what="the lost tail was sent again")


async def test_published_events_are_deleted_after_their_retention(
    run_worker: Run, publish: Publish, rooms: Rooms
) -> None:
    async with run_worker(recording([])) as worker:
        await publish(*range(10))
        await _all_relayed(rooms)
        for dsn in rooms.settings.postgres_admin:
            await on_server(dsn, "UPDATE common.outbox SET created_at = created_at - interval '2 hours'")

        await worker.sweep_outboxes()

        assert await _count(rooms, "true") == 0


async def test_the_request_id_travels_with_the_event(run_worker: Run, publish: Publish) -> None:
    seen: list[str] = []

    async def see(_: NumberNoted) -> None:
        seen.append(current_request_id())

    begin_request("from-the-browser")
    await publish(1)
    async with run_worker(on(NumberNoted, see, name="tests-request-id")):
        await eventually(lambda: _is(seen == ["from-the-browser"]), what="the handler knew the request")


async def test_a_relay_that_has_worked_again_begins_with_the_shortest_pause(
    run_worker: Run, publish: Publish, rooms: Rooms, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[asyncpg.Connection] = []
    pauses: list[float] = []

    @asynccontextmanager
    async def connect(dsn: str) -> AsyncGenerator[asyncpg.Connection]:
        async with connect_to_server(dsn) as connection:
            held.append(connection)
            yield connection

    monkeypatch.setattr(outbox_relay, "connect_to_server", connect)
    monkeypatch.setattr(outbox_relay, "log", _Pauses(pauses))
    servers = len(rooms.settings.postgres)
    async with run_worker(recording([])):
        for cut in range(1, 4):
            for _ in range(2):  # the second is relayed only after the first has ended the backoff
                await publish(*range(rooms.settings.shard_count))
                await _all_relayed(rooms)
            for connection in held:
                connection.terminate()
            held.clear()
            await eventually(lambda cut=cut: _is(len(pauses) >= cut * servers), what="every relay noticed")

    assert set(pauses) == {outbox_relay.FIRST_BACKOFF_S}


class _Pauses:
    """A log that keeps the pauses of interrupted relays."""

    def __init__(self, pauses: list[float]) -> None:
        self._pauses = pauses

    def warning(self, event: str, **fields: object) -> None:
        if event == "relay.interrupted":
            self._pauses.append(cast("float", fields["backoff_s"]))


async def _all_relayed(rooms: Rooms) -> None:
    async def is_so() -> bool:
        return sum([await _count_waiting(dsn) for dsn in rooms.settings.postgres_admin]) == 0

    await eventually(is_so, what="every event was relayed")


async def _count_waiting(dsn: str) -> int:
    return (await on_server(dsn, "SELECT common.count_waiting_events()"))[0][0]


async def _count(rooms: Rooms, condition: str) -> int:
    total = 0
    for dsn in rooms.settings.postgres_admin:
        total += len(await on_server(dsn, f"SELECT 1 FROM common.outbox WHERE {condition}"))
    return total


async def _is(claim: bool) -> bool:
    return claim


async def _no_poke(_server: str) -> None:
    return None
