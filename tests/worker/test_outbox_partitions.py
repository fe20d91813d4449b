"""Old events go with their partition, and never one that is not published."""

from collections.abc import Awaitable, Callable

import pytest

from tests.support import eventually, make_databases, on_server
from tests.worker.conftest import NumberNoted, Run, recording
from tintype.schema import MIGRATIONS
from tintype.wiring import Rooms
from tintype.worker import connect_to_server

OLD = "40 minutes"
"""Old enough for the sweep of these tests, and too young for the worker's own, which runs by schedule."""
KEPT_S = 1200


async def test_a_partition_with_unpublished_events_is_never_emptied(run_worker: Run, rooms: Rooms) -> None:
    dsn, slot = await _past_slot(rooms)
    await on_server(dsn, *(_insert(number, slot) for number in range(3)))

    assert await _sweep(rooms) == 0
    assert await _numbers(dsn) == [0, 1, 2]

    seen: list[int] = []
    async with run_worker(recording(seen)):
        await eventually(_is(lambda: sorted(seen) == [0, 1, 2]), what="they were published")
        await eventually(_relayed(dsn), what="the position says so")
    size = f"SELECT pg_relation_size('common.outbox__{slot}')"
    assert (await on_server(dsn, size))[0][0] > 0
    assert await _sweep(rooms) == 0
    assert await _numbers(dsn) == []
    assert (await on_server(dsn, size))[0][0] == 0  # truncated, not deleted row by row


async def test_an_event_that_is_still_being_written_survives_the_sweep(run_worker: Run, rooms: Rooms) -> None:
    dsn, slot = await _past_slot(rooms)
    seen: list[int] = []
    async with run_worker(recording(seen)):
        await on_server(dsn, _insert(1, slot))
        await eventually(_is(lambda: seen == [1]), what="the first was published")
        await eventually(_relayed(dsn), what="the position says so")
        async with connect_to_server(dsn) as slow:
            transaction = slow.transaction()
            await transaction.start()
            await slow.execute(_insert(2, slot))
            await _sweep(rooms)
            assert await _numbers(dsn) == [1]  # its writer holds the partition
            await transaction.commit()
        await eventually(_is(lambda: sorted(seen) == [1, 2]), what="the second was published")


async def test_old_events_beside_young_ones_are_deleted_by_themselves(run_worker: Run, rooms: Rooms) -> None:
    dsn, slot = await _past_slot(rooms)
    async with run_worker(recording([])):
        await on_server(dsn, _insert(1, slot), _insert(2, slot, at="now()"))
        await eventually(_relayed(dsn), what="both were published")
        await on_server(dsn, _insert(3, slot))
        await _sweep(rooms)
        assert 1 not in await _numbers(dsn)
        assert 2 in await _numbers(dsn)


async def test_the_sweep_is_not_everybodys(rooms: Rooms) -> None:
    found = await on_server(
        rooms.settings.postgres_admin[0],
        "SELECT has_function_privilege('pg_monitor', 'common.sweep_outbox(double precision, integer)', 'EXECUTE')",
    )

    assert found[0][0] is False


@pytest.mark.slow
async def test_the_migration_keeps_every_event_and_gives_no_id_out_twice(rooms: Rooms) -> None:
    name = "outbox_migration"
    dsn = (await make_databases(rooms.settings.postgres_admin[:1], name))[0]
    files = sorted((MIGRATIONS / "server").glob("*_outbox*.sql"))
    rows = "SELECT id, event, payload, stream_seq, created_at FROM outbox ORDER BY id"
    try:
        await on_server(dsn, "CREATE SCHEMA common", f'ALTER DATABASE "{name}" SET search_path = common')
        await _run(dsn, files[0].read_text())
        before = await on_server(
            dsn,
            "INSERT INTO outbox (event, payload, stream_seq) "
            "SELECT 'e', 'p', nullif(n, 3) FROM generate_series(1, 5) AS n",
            rows,
        )
        await _run(dsn, files[1].read_text())
        after = await on_server(dsn, rows)
        added = await on_server(dsn, "INSERT INTO outbox (event, payload) VALUES ('e', 'p') RETURNING id")
        waiting = await on_server(dsn, "SELECT id FROM read_outbox(10)")
    finally:
        await on_server(rooms.settings.postgres_admin[0], f'DROP DATABASE "{name}" WITH (FORCE)')

    assert before == after
    assert added[0]["id"] > max(row["id"] for row in before)
    assert [row["id"] for row in waiting] == [before[2]["id"], added[0]["id"]]


async def _run(dsn: str, script: str) -> None:
    """Run a script in one transaction, as the migrator does."""
    async with connect_to_server(dsn) as connection, connection.transaction():
        await connection.execute(script)


async def _past_slot(rooms: Rooms) -> tuple[str, int]:
    """A server, and a partition that nobody else writes to at this time."""
    dsn = rooms.settings.postgres_admin[0]
    return dsn, ((await on_server(dsn, "SELECT common.outbox_slot()"))[0][0] + 2) % 4


def _insert(number: int, slot: int, at: str = f"now() - interval '{OLD}'") -> str:
    payload = NumberNoted(number).encode().decode()
    return (
        "INSERT INTO common.outbox (event, payload, slot, created_at) "
        f"VALUES ('number_noted', '{payload}', {slot}, {at})"
    )


async def _sweep(rooms: Rooms) -> int:
    """Sweep as the worker does, as its role."""
    swept = 0
    for dsn in rooms.settings.postgres:
        swept += (await on_server(dsn, f"SELECT common.sweep_outbox({KEPT_S}, 1000)"))[0][0]
    return swept


async def _numbers(dsn: str) -> list[int]:
    rows = await on_server(dsn, "SELECT payload FROM common.outbox ORDER BY id")
    return [NumberNoted.decode(row["payload"]).number for row in rows]


def _relayed(dsn: str) -> Callable[[], Awaitable[bool]]:
    async def check() -> bool:
        return (await on_server(dsn, "SELECT common.count_waiting_events()"))[0][0] == 0

    return check


def _is(claim: Callable[[], bool]) -> Callable[[], Awaitable[bool]]:
    async def check() -> bool:
        return claim()

    return check
