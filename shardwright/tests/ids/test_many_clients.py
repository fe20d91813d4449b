"""One shard, many clients: ids increase in the order they were generated, also when clients are cancelled."""

import asyncio
from datetime import datetime
from typing import cast

import asyncpg
import pytest
from id_test_shard import IdShard, ids

CLIENTS = 8
BATCH = 250_000


@pytest.mark.slow
async def test_a_draw_that_begins_after_another_ended_is_larger(id_shard: IdShard) -> None:
    async def draw(client: asyncpg.Connection) -> list[tuple[datetime, int, datetime]]:
        # One statement draws for a while, so that clients meet within it.
        rows = cast(
            "list[asyncpg.Record]",
            await client.fetch(
                "SELECT clock_timestamp(), s0042.next_id(), clock_timestamp() FROM generate_series(1, 15000)"
            ),
        )
        return [cast("tuple[datetime, int, datetime]", tuple(row)) for row in rows]

    clients = [await id_shard.connect() for _ in range(CLIENTS)]
    drawn = [each for some in await asyncio.gather(*map(draw, clients)) for each in some]
    await asyncio.gather(*(client.close() for client in clients))

    assert len({made for _, made, _ in drawn}) == CLIENTS * 15_000
    assert_linear(drawn)


def assert_linear(drawn: list[tuple[datetime, int, datetime]]) -> None:
    """Check in order of time: an id must be larger than all ids whose calls had ended before its own began."""
    events = sorted(
        [(began, 1, made) for began, made, _ in drawn] + [(ended, 2, made) for _, made, ended in drawn]
    )
    floor = 0
    pending: list[tuple[datetime, int]] = []
    for moment, kind, made in events:
        while pending and pending[0][0] < moment:  # equal microseconds may have overlapped
            floor = max(floor, pending.pop(0)[1])
        if kind == 1:
            assert made > floor
        else:
            pending.append((moment, made))


async def test_batches_and_single_draws_mix_without_repeat(id_shard: IdShard) -> None:
    async def draw(client: asyncpg.Connection, number: int) -> list[int]:
        sql = (
            "SELECT s0042.next_ids(50)"
            if number % 2
            else "SELECT s0042.next_id() FROM generate_series(1, 50)"
        )
        return [made for _ in range(60) for made in await ids(client, sql)]

    clients = [await id_shard.connect() for _ in range(CLIENTS)]
    drawn = await asyncio.gather(*(draw(client, number) for number, client in enumerate(clients)))
    await asyncio.gather(*(client.close() for client in clients))

    assert len({made for some in drawn for made in some}) == CLIENTS * 60 * 50


@pytest.mark.slow
async def test_cancelled_clients_leave_no_lock_and_no_repeat(id_shard: IdShard) -> None:
    await id_shard.conn.execute("CREATE UNLOGGED TABLE drawn (id bigint)")
    done = asyncio.Event()

    async def be_cancelled(client: asyncpg.Connection, timeout_ms: int) -> int:
        cancelled = 0
        await client.execute(f"SET statement_timeout = {timeout_ms}")
        while not done.is_set():
            try:
                await client.execute("SELECT s0042.next_id() FROM generate_series(1, 100000)")
            except asyncpg.QueryCanceledError:
                cancelled += 1
        return cancelled

    async def draw(client: asyncpg.Connection) -> None:
        for _ in range(150):
            await client.execute("INSERT INTO drawn SELECT s0042.next_id() FROM generate_series(1, 200)")

    clients = [await id_shard.connect() for _ in range(6)]
    victims = [
        asyncio.create_task(be_cancelled(client, ms)) for client, ms in zip(clients, (1, 2, 3), strict=False)
    ]
    await asyncio.gather(*map(draw, clients[3:]))
    done.set()
    cancelled = sum(await asyncio.gather(*victims))

    assert cancelled > 10
    assert await id_shard.count_locks() == 0  # with every session still there
    assert await id_shard.value("SELECT count(*) - count(DISTINCT id) FROM drawn") == 0
    await asyncio.gather(*(client.close() for client in clients))


@pytest.mark.slow
async def test_ten_million_ids_without_a_repeat_or_an_inversion(id_shard: IdShard) -> None:
    """Two clients draw one by one, two in batches; the ids are collected in a table."""
    await id_shard.conn.execute("CREATE UNLOGGED TABLE drawn (client int, chunk int, ids bigint[])")
    single = "SELECT array_agg(s0042.next_id()) FROM generate_series(1, 250000)"
    batch = "SELECT array_agg(id) FROM s0042.next_ids(250000) AS id"
    clients = [await id_shard.connect() for _ in range(4)]

    async def draw(number: int) -> None:
        for chunk in range(10):
            sql = batch if number % 2 else single
            await clients[number].execute(f"INSERT INTO drawn SELECT {number}, {chunk}, ({sql})")

    await asyncio.gather(*map(draw, range(len(clients))))
    inversions = (
        "SELECT count(*) FROM (SELECT id, lag(id) OVER () AS before FROM drawn, unnest(ids) AS id WHERE client = {})"
        " AS one WHERE id <= before"
    )
    counted = [
        cast("int", await client.fetchval(inversions.format(number))) for number, client in enumerate(clients)
    ]
    await id_shard.conn.execute("SET work_mem = '512MB'")
    made, distinct = cast(
        "tuple[int, int]",
        tuple(
            cast(
                "asyncpg.Record",
                await id_shard.conn.fetchrow(
                    "SELECT count(*), count(DISTINCT id) FROM drawn, unnest(ids) AS id"
                ),
            )
        ),
    )
    await asyncio.gather(*(client.close() for client in clients))
    assert (made, distinct, counted) == (10_000_000, 10_000_000, [0, 0, 0, 0])
