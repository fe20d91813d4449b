"""The published function, as a contrast: where it repeats itself, next_id() does not."""

import asyncio

import pytest
from id_drawing import PUBLISHED, Drawing, rises

NOON_MS = 50_000_000_000
CLIENTS = 8
EACH = 100_000


async def draw_published(timed: Drawing, count: int) -> list[int]:
    return await timed.ids("SELECT published() FROM generate_series(1, $1::int)", count)


@pytest.fixture
async def both(timed: Drawing) -> Drawing:
    await timed.conn.execute(PUBLISHED.format(epoch_ms=timed.layout.epoch_ms, clock="clock.shown()"))
    await timed.set_clock(NOON_MS)
    return timed


async def test_more_than_1024_draws_in_a_millisecond(both: Drawing) -> None:
    assert len(set(await draw_published(both, 3000))) == 1024
    assert len(set(await both.draw(3000))) == 3000


async def test_a_clock_that_steps_back(both: Drawing) -> None:
    published, ours = await draw_published(both, 1000), await both.draw(1000)
    await both.set_clock(NOON_MS - 64)
    await draw_published(both, 24)
    await both.set_clock(NOON_MS)
    published += await draw_published(both, 1000)
    ours += await both.draw(1000)
    assert len(set(published)) == 1000
    assert len(set(ours)) == 2000


async def test_the_order_of_one_client_s_draws(both: Drawing) -> None:
    published = await draw_published(both, 1000)
    for ms in range(1, 20):
        await both.set_clock(NOON_MS + ms)
        published += await draw_published(both, 100)
    assert len(set(published)) == len(published)
    assert not rises(published)


@pytest.mark.slow
async def test_eight_clients_on_a_real_clock(drawing: Drawing) -> None:
    await drawing.conn.execute(PUBLISHED.format(epoch_ms=drawing.layout.epoch_ms, clock="clock_timestamp()"))
    published = await count_repeats(drawing, "published()")
    ours = await count_repeats(drawing, "s0042.next_id()")
    assert published > 0
    assert ours == 0


async def count_repeats(drawing: Drawing, draw: str) -> int:
    """Return how many of the ids that several clients drew at the same time were there already."""
    await drawing.conn.execute("DROP TABLE IF EXISTS drawn; CREATE UNLOGGED TABLE drawn (id bigint)")
    clients = [await drawing.connect() for _ in range(CLIENTS)]
    try:
        await asyncio.gather(
            *(
                client.execute(f"INSERT INTO drawn SELECT {draw} FROM generate_series(1, {EACH})")
                for client in clients
            )
        )
    finally:
        await asyncio.gather(*(client.close() for client in clients))
    return await drawing.value("SELECT count(*) - count(DISTINCT id) FROM drawn")
