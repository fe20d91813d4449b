"""The published algorithm for comparison: it repeats ids where next_id() does not."""

import asyncio

import pytest
from id_test_shard import PUBLISHED, IdShard, rises

NOON_MS = 50_000_000_000
CLIENTS = 8
EACH = 100_000


async def draw_published(timed: IdShard, count: int) -> list[int]:
    return await timed.ids("SELECT published() FROM generate_series(1, $1::int)", count)


@pytest.fixture
async def both(timed: IdShard) -> IdShard:
    await timed.conn.execute(PUBLISHED.format(epoch_ms=timed.layout.epoch_ms, clock="clock.shown()"))
    await timed.set_clock(NOON_MS)
    return timed


async def test_more_than_1024_draws_in_a_millisecond(both: IdShard) -> None:
    assert len(set(await draw_published(both, 3000))) == 1024
    assert len(set(await both.draw(3000))) == 3000


async def test_a_clock_that_steps_back(both: IdShard) -> None:
    published, ours = await draw_published(both, 1000), await both.draw(1000)
    await both.set_clock(NOON_MS - 64)
    await draw_published(both, 24)
    await both.set_clock(NOON_MS)
    published += await draw_published(both, 1000)
    ours += await both.draw(1000)
    assert len(set(published)) == 1000
    assert len(set(ours)) == 2000


async def test_the_order_of_one_client_s_draws(both: IdShard) -> None:
    published = await draw_published(both, 1000)
    for ms in range(1, 20):
        await both.set_clock(NOON_MS + ms)
        published += await draw_published(both, 100)
    assert len(set(published)) == len(published)
    assert not rises(published)


@pytest.mark.slow
async def test_eight_clients_on_a_real_clock(id_shard: IdShard) -> None:
    await id_shard.conn.execute(
        PUBLISHED.format(epoch_ms=id_shard.layout.epoch_ms, clock="clock_timestamp()")
    )
    published = await count_repeats(id_shard, "published()")
    ours = await count_repeats(id_shard, "s0042.next_id()")
    assert published > 0
    assert ours == 0


async def count_repeats(id_shard: IdShard, draw: str) -> int:
    """Return how many ids drawn by several concurrent clients were repeated."""
    await id_shard.conn.execute("DROP TABLE IF EXISTS drawn; CREATE UNLOGGED TABLE drawn (id bigint)")
    clients = [await id_shard.connect() for _ in range(CLIENTS)]
    try:
        await asyncio.gather(
            *(
                client.execute(f"INSERT INTO drawn SELECT {draw} FROM generate_series(1, {EACH})")
                for client in clients
            )
        )
    finally:
        await asyncio.gather(*(client.close() for client in clients))
    return await id_shard.value("SELECT count(*) - count(DISTINCT id) FROM drawn")
