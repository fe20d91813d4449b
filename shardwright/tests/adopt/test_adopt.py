"""A shop's database is adopted into shards while it is written, returned, and adopted again."""

import pytest
from adopt_test_site import Load, read_old, read_shards

from shardwright.adopt import Adopter, Plan, Step
from shardwright.topology import Directory, fetch_value, open_connection


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("shards", [64])
async def test_adopted_into_64_shards_while_it_is_written_and_returned(
    directory: Directory, old: str, adopter: Adopter, plan: Plan, load: Load, shards: int
) -> None:
    await load.wait_for_writes(30)

    adoption = await adopter.start(plan)
    assert adoption.step is Step.FOLLOW
    await load.wait_for_writes(50)
    report = await adopter.check()
    assert (report.count, report.differences, report.busy) == (0, [], 0)
    assert report.rows > 3000
    shadow = await adopter.shadow(samples=10)
    assert (shadow.differences, shadow.busy) == ([], 0)
    assert shadow.reads == 60

    adoption = await adopter.switch()
    assert adoption.is_switched
    await load.wait_for_writes(100)
    assert all(writer.is_in_shards for writer in load.writers)
    assert (await adopter.check()).is_equal

    adoption = await adopter.back()
    assert not adoption.is_switched
    await load.wait_for_writes(50)
    assert not any(writer.is_in_shards for writer in load.writers)

    adoption = await adopter.switch()
    await load.wait_for_writes(50)
    await load.stop()
    await adopter.resume()
    rows = await read_shards(directory)
    assert rows == await read_old(old)
    load.check(rows)
    adoption = await adopter.finish()
    assert adoption.step is Step.DONE


async def count_left(dsn: str) -> int:
    """What an adoption has left in a database."""
    conn = await open_connection(dsn, "left")
    try:
        return await fetch_value(
            conn,
            "SELECT (SELECT count(*) FROM pg_replication_slots WHERE database = current_database()) "
            "+ (SELECT count(*) FROM pg_publication) "
            "+ (SELECT count(*) FROM pg_namespace WHERE nspname = 'shardwright_adopt') "
            "+ (SELECT count(*) FROM pg_trigger WHERE tgname = 'shardwright_adopt_guard')",
        )
    finally:
        await conn.close()
