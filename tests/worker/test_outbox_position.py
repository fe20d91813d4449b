"""How far the outbox is published, under open transactions, large backlogs, older relays and restored databases."""

from collections.abc import Awaitable, Callable
from typing import cast

import asyncpg
import pytest

from tests.support import eventually, on_server
from tests.worker.conftest import NumberNoted, Run, recording
from tintype.wiring import Rooms
from tintype.worker import connect_to_server, outbox_relay

Publish = Callable[..., Awaitable[None]]
INSERT = "INSERT INTO common.outbox (event, payload, request_id) VALUES ('number_noted', $1, '')"
# What the release before did, word for word.
OLD_CLAIM = """
SELECT o.id, o.event, o.payload, o.request_id, s.source
FROM common.outbox AS o CROSS JOIN common.outbox_source AS s
WHERE o.stream_seq IS NULL
ORDER BY o.id
LIMIT $1
FOR UPDATE OF o SKIP LOCKED
"""
OLD_MARK = """
UPDATE common.outbox AS o SET stream_seq = sent.seq
FROM unnest($1::bigint[], $2::bigint[]) AS sent (id, seq)
WHERE o.id = sent.id
"""
OLD_SWEEP = """
WITH old AS (
    SELECT id FROM common.outbox
    WHERE stream_seq IS NOT NULL AND created_at < now() - make_interval(secs => $1)
    ORDER BY id LIMIT $2
), swept AS (DELETE FROM common.outbox AS o USING old WHERE o.id = old.id RETURNING 1)
SELECT count(*) FROM swept
"""


async def test_an_open_transaction_delays_only_its_own_events(
    run_worker: Run, publish: Publish, rooms: Rooms
) -> None:
    seen: list[int] = []
    async with connect_to_server(rooms.settings.postgres_admin[0]) as slow, run_worker(recording(seen)):
        transaction = slow.transaction()
        await transaction.start()
        await slow.execute(INSERT, NumberNoted(100).encode())
        await publish(*range(16))
        await eventually(_is(lambda: sorted(seen) == list(range(16))), what="the others were handled")
        await publish(*range(16, 32))
        await eventually(_is(lambda: sorted(seen) == list(range(32))), what="those after them too")
        await transaction.commit()
        await eventually(_is(lambda: sorted(seen) == [*range(32), 100]), what="its own event came after all")


async def test_an_event_of_a_subtransaction_that_was_kept_is_published(run_worker: Run, rooms: Rooms) -> None:
    seen: list[int] = []
    async with connect_to_server(rooms.settings.postgres_admin[0]) as connection, connection.transaction():
        await connection.execute("SAVEPOINT one")
        await connection.execute(INSERT, NumberNoted(1).encode())
        await connection.execute("ROLLBACK TO one")
        await connection.execute("SAVEPOINT two")
        await connection.execute(INSERT, NumberNoted(2).encode())
    async with run_worker(recording(seen)):
        await eventually(_is(lambda: seen == [2]), what="what was kept was published")


async def test_a_backlog_of_many_batches_is_published_once(
    run_worker: Run, publish: Publish, rooms: Rooms, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox_relay, "BATCH", 7)
    seen: list[int] = []
    await publish(*range(40))
    async with connect_to_server(rooms.settings.postgres_admin[0]) as slow:
        transaction = slow.transaction()
        await transaction.start()
        for number in range(100, 115):
            await slow.execute(INSERT, NumberNoted(number).encode())
        await publish(*range(40, 80))
        async with run_worker(recording(seen)):
            await eventually(_is(lambda: sorted(seen) == list(range(80))), what="the backlog was handled")
            await transaction.commit()
            await publish(*range(80, 90))
            expected = [*range(90), *range(100, 115)]
            await eventually(_is(lambda: sorted(seen) == expected), what="the rest was handled")
            await eventually(_relayed(rooms), what="the windows ended")


async def test_relay_and_sweep_of_the_release_before_work_beside_ours(
    run_worker: Run, publish: Publish, rooms: Rooms
) -> None:
    await publish(*range(10))
    for dsn in rooms.settings.postgres:
        async with connect_to_server(dsn) as old, old.transaction():
            rows = await _fetch(old, OLD_CLAIM, 3)
            await old.execute(OLD_MARK, [row["id"] for row in rows], [1 for _ in rows])
            assert await old.fetchval(OLD_SWEEP, 3600.0, 100) == 0
            assert await old.fetchval(OLD_SWEEP, -1.0, 100) == len(rows)  # the published ones, and no other
    left = [
        NumberNoted.decode(row["payload"]).number
        for dsn in rooms.settings.postgres_admin
        for row in await on_server(dsn, "SELECT payload FROM common.outbox")
    ]

    seen: list[int] = []
    async with run_worker(recording(seen)):
        await eventually(_is(lambda: sorted(seen) == sorted(left)), what="the rest was published")
        await eventually(_relayed(rooms), what="the position says so")
    for dsn in rooms.settings.postgres:
        async with connect_to_server(dsn) as old:
            # After a way back to the release before: its relay publishes again what is there, and loses nothing.
            assert len(await _fetch(old, OLD_CLAIM, 100)) == len(
                await _fetch(old, "SELECT 1 FROM common.outbox")
            )


@pytest.mark.parametrize("is_ahead", [True, False])
async def test_a_database_restored_on_another_server_publishes_old_and_new_events(
    run_worker: Run, publish: Publish, rooms: Rooms, *, is_ahead: bool
) -> None:
    async with run_worker(recording([])):
        await publish(1, 2)
        await eventually(_relayed(rooms), what="events were relayed on the old server")
    await publish(3, 4)
    xid = "9000000000000" if is_ahead else "10"  # transactions of the other cluster count higher or lower
    sources = [
        (
            await on_server(
                dsn,
                f"UPDATE common.outbox SET xid = '{xid}'",
                f"UPDATE common.outbox_position SET cluster = 'other', done = '{xid}:{xid}:'",
                "SELECT source FROM common.outbox_source",
            )
        )[0][0]
        for dsn in rooms.settings.postgres_admin
    ]
    seen: list[int] = []
    async with run_worker(recording(seen)):
        await publish(5, 6)
        await eventually(_is(lambda: {3, 4, 5, 6} <= set(seen)), what="what was waiting and what is new came")
        await eventually(_relayed(rooms), what="the position is of this server")
    for dsn, source in zip(rooms.settings.postgres_admin, sources, strict=True):
        assert (await on_server(dsn, "SELECT source FROM common.outbox_source"))[0][0] != source


async def _fetch(connection: asyncpg.Connection, statement: str, *args: object) -> list[asyncpg.Record]:
    return cast("list[asyncpg.Record]", await connection.fetch(statement, *args))


def _relayed(rooms: Rooms) -> Callable[[], Awaitable[bool]]:
    async def check() -> bool:
        waiting = [
            (await on_server(dsn, "SELECT common.count_waiting_events()"))[0][0]
            for dsn in rooms.settings.postgres_admin
        ]
        return not any(waiting)

    return check


def _is(claim: Callable[[], bool]) -> Callable[[], Awaitable[bool]]:
    async def check() -> bool:
        return claim()

    return check
