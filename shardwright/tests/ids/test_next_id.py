"""One shard, one client: ids increase and never repeat, whatever the clock and the statement do."""

import asyncio
import itertools
from datetime import UTC, datetime, timedelta

import asyncpg
import pytest
from id_test_shard import IdShard, rises, state_of

from shardwright.errors import InvalidId, SetupInvalid
from shardwright.ids import (
    IDS_EXHAUSTED_SQLSTATE,
    LEGACY_LIMIT,
    MAX_BATCH,
    MAX_ID,
    Layout,
    advance_sql,
    ahead_ms_sql,
    shard_sql,
)

NOON_MS = 50_000_000_000
LAST_MS = (1 << 40) - 1


async def test_an_id_knows_its_shard_and_when_it_was_made(id_shard: IdShard) -> None:
    before = datetime.now(UTC) - timedelta(milliseconds=1)
    (made,) = await id_shard.draw(1)
    after = datetime.now(UTC) + timedelta(milliseconds=5)
    assert id_shard.layout.id_shard(made) == 42
    assert before <= id_shard.layout.id_time(made) <= after


async def test_a_column_default_gives_rising_ids_back_to_the_insert(id_shard: IdShard) -> None:
    await id_shard.conn.execute(
        "CREATE TABLE s0042.posts (id bigint PRIMARY KEY DEFAULT s0042.next_id(), n int)"
    )
    one_by_one = [
        await id_shard.value("INSERT INTO s0042.posts (n) VALUES ($1) RETURNING id", n) for n in range(50)
    ]
    together = await id_shard.ids("INSERT INTO s0042.posts (n) SELECT generate_series(1, 5000) RETURNING id")
    await id_shard.conn.copy_records_to_table(
        "posts", schema_name="s0042", columns=["n"], records=[(n,) for n in range(1000)]
    )
    copied = (await id_shard.ids("SELECT id FROM s0042.posts ORDER BY ctid"))[-1000:]
    assert rises(one_by_one + together + copied)


async def test_a_rolled_back_insert_leaves_a_gap_and_no_repeat(id_shard: IdShard) -> None:
    transaction = id_shard.conn.transaction()
    await transaction.start()
    lost = await id_shard.draw(10)
    await transaction.rollback()
    assert rises(lost + await id_shard.draw(10))


async def test_more_than_1024_in_a_millisecond_borrow_from_the_next(timed: IdShard) -> None:
    await timed.set_clock(NOON_MS)
    drawn = await timed.draw(5000)
    assert rises(drawn)
    assert {made >> 23 for made in drawn} == set(range(NOON_MS, NOON_MS + 5))


async def test_a_clock_that_steps_back_changes_nothing(timed: IdShard) -> None:
    drawn: list[int] = []
    for ms in (NOON_MS, NOON_MS - 64, NOON_MS - 10_000_000, NOON_MS - 3, NOON_MS + 1, NOON_MS):
        await timed.set_clock(ms)
        drawn += await timed.draw(700)
    assert rises(drawn)


async def test_a_clock_that_jumps_ahead_and_returns_changes_nothing(timed: IdShard) -> None:
    drawn: list[int] = []
    for ms in (NOON_MS, NOON_MS + 3_600_000, NOON_MS + 1, NOON_MS + 7_200_000, NOON_MS + 2):
        await timed.set_clock(ms)
        drawn += await timed.draw(700)
    assert rises(drawn)
    assert drawn[-1] >> 23 == NOON_MS + 7_200_000 + 1


async def test_a_clock_that_moves_within_the_statement_is_followed(timed: IdShard) -> None:
    steps = [NOON_MS, NOON_MS + 20, NOON_MS + 900, NOON_MS + 899, NOON_MS + 5_000_000, NOON_MS - 7]
    drawn = await timed.ids(
        "SELECT CASE WHEN setval('clock.us', us) > 0 THEN s0042.next_id() END FROM unnest($1::bigint[]) AS us",
        [(timed.layout.epoch_ms + ms) * 1000 for ms in steps * 50],
    )
    assert rises(drawn)
    assert [made >> 23 for made in drawn[:5]] == [*steps[:3], steps[2], steps[4]]


async def test_an_id_is_never_older_than_the_clock(timed: IdShard) -> None:
    for ms in itertools.accumulate([1, 1, 2, 1, 5, 1, 256, 1, 1, 4000, 1], initial=NOON_MS):
        await timed.set_clock(ms + 0.999)
        drawn = await timed.draw(700)
        assert drawn[0] >> 23 >= ms


async def test_a_busy_shard_runs_a_few_milliseconds_ahead_and_no_further(timed: IdShard) -> None:
    for ms in range(NOON_MS, NOON_MS + 100):
        await timed.set_clock(ms)
        drawn = await timed.draw(3)
        assert ms <= drawn[-1] >> 23 <= ms + 17


async def test_past_the_last_millisecond_there_is_a_clear_error_and_no_negative_id(timed: IdShard) -> None:
    await timed.set_clock(LAST_MS - 1000)
    (last_but_one,) = await timed.draw(1)
    for ms in (LAST_MS + 1, LAST_MS * 3):
        await timed.set_clock(ms)
        for _ in range(2):
            with pytest.raises(asyncpg.PostgresError, match="no ids left") as refused:
                await timed.draw(1)
            assert state_of(refused.value) == IDS_EXHAUSTED_SQLSTATE

    await timed.set_clock(NOON_MS)  # the clock was wrong, and is right again: nothing is lost
    (made,) = await timed.draw(1)
    assert last_but_one < made <= MAX_ID


async def test_the_very_last_ids_are_refused_rather_than_overrun(timed: IdShard) -> None:
    await timed.set_clock(LAST_MS - 300)
    drawn = await timed.draw(1)
    for sql in ("SELECT s0042.next_ids(5000)", "SELECT s0042.next_id() FROM generate_series(1, 5000)"):
        with pytest.raises(asyncpg.PostgresError) as refused:
            await draw_on(timed, sql, drawn)
        assert state_of(refused.value) == IDS_EXHAUSTED_SQLSTATE
    assert rises(drawn)
    assert drawn[-1] <= MAX_ID


async def draw_on(timed: IdShard, sql: str, drawn: list[int]) -> None:
    for _ in range(100):
        drawn += await timed.ids(sql)


@pytest.mark.parametrize("ms", [-1_735_689_500_000, 0, 1, 255])
async def test_a_clock_in_the_past_makes_no_legacy_ids(timed: IdShard, ms: int) -> None:
    await timed.set_clock(ms)
    drawn = await timed.draw(2000)
    assert drawn[0] > LEGACY_LIMIT
    assert rises(drawn)


@pytest.mark.slow
async def test_a_batch_rises_above_everything_before_it(id_shard: IdShard) -> None:
    drawn = await id_shard.draw(3)
    for _ in range(3):
        drawn += await id_shard.ids("SELECT s0042.next_ids(100000)")
        drawn += await id_shard.draw(10)
        drawn += await id_shard.ids("SELECT * FROM s0042.next_ids(1)")
    assert rises(drawn)
    assert {id_shard.layout.id_shard(made) for made in drawn} == {42}


@pytest.mark.parametrize("count", [0, -1, MAX_BATCH + 1])
async def test_a_batch_of_an_invalid_size_is_refused(id_shard: IdShard, count: int) -> None:
    drawn: list[int] = []
    for _ in range(3):
        with pytest.raises(asyncpg.InvalidParameterValueError, match="in one call"):
            await id_shard.ids("SELECT s0042.next_ids($1)", count)
        drawn += await id_shard.draw(5)
    assert rises(drawn)


async def test_many_small_batches_don_t_run_far_ahead(timed: IdShard) -> None:
    await timed.set_clock(NOON_MS)
    drawn = [made for _ in range(100) for made in await timed.ids("SELECT s0042.next_ids(2)")]
    assert rises(drawn)
    assert drawn[-1] >> 23 < NOON_MS + 100


async def test_the_first_and_the_last_shard_make_ids_too(id_shard: IdShard) -> None:
    for number in (0, 8191):
        await id_shard.conn.execute(f"CREATE SCHEMA s{number:04d}")
        await id_shard.conn.execute(shard_sql(number, id_shard.layout))
        made = await id_shard.value(f"SELECT s{number:04d}.next_id()")
        assert id_shard.layout.id_shard(made) == number
        assert made > LEGACY_LIMIT


async def test_no_lock_outlives_the_call_not_even_to_the_end_of_the_transaction(id_shard: IdShard) -> None:
    async with id_shard.conn.transaction():
        for _ in range(20):
            await id_shard.draw(1)
            await id_shard.ids("SELECT s0042.next_ids(5)")
            assert await id_shard.count_locks() == 0
            await asyncio.sleep(0.002)


async def test_draws_write_no_wal_but_a_horizon_every_few_seconds(timed: IdShard) -> None:
    async def written(clock_ms: int) -> bool:
        await timed.set_clock(clock_ms)
        await timed.draw(1)
        return await timed.value("SELECT last_value FROM s0042.ids_horizon") != horizon

    await timed.set_clock(NOON_MS)
    await timed.draw(1)
    horizon = await timed.value("SELECT last_value FROM s0042.ids_horizon")
    assert not any([await written(NOON_MS + ms) for ms in range(0, 5000, 100)])
    assert await written(NOON_MS + 5001)


async def test_a_gate_left_closed_is_opened_by_the_next_draw(id_shard: IdShard) -> None:
    drawn = await id_shard.draw(2)
    await id_shard.value("SELECT setval('s0042.ids_gate', 0)")
    drawn += await id_shard.draw(2)
    assert await id_shard.value("SELECT last_value FROM s0042.ids_gate") > 0
    assert rises(drawn)


async def test_advancing_moves_ids_ahead_and_never_back(timed: IdShard) -> None:
    await timed.set_clock(NOON_MS)
    drawn = await timed.draw(1)
    await timed.value(advance_sql(42, by_ms=60_000))
    drawn += await timed.draw(1)
    assert drawn[-1] >> 23 == NOON_MS + 60_000
    await timed.value(advance_sql(42))
    assert rises(drawn + await timed.draw(1))
    with pytest.raises(SetupInvalid):
        advance_sql(42, by_ms=-1)


async def test_the_doctor_can_tell_how_far_ids_run_ahead(id_shard: IdShard) -> None:
    await id_shard.draw(1)
    assert await id_shard.value(ahead_ms_sql(42, id_shard.layout)) < 1000
    await id_shard.value(advance_sql(42, by_ms=60_000))
    assert 50_000 < await id_shard.value(ahead_ms_sql(42, id_shard.layout)) < 62_000


@pytest.mark.parametrize("ahead_ms", [0, 3_600_001])
def test_an_invalid_advance_is_refused(ahead_ms: int) -> None:
    with pytest.raises(SetupInvalid):
        shard_sql(1, Layout(), ahead_ms=ahead_ms)


def test_a_shard_that_cannot_exist_is_refused() -> None:
    with pytest.raises(InvalidId):
        shard_sql(8192, Layout())
