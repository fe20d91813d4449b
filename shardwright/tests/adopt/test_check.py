"""Differences between the sides are found and repaired; what cannot be adopted is refused; aborting leaves nothing."""

from dataclasses import replace

import pytest
from adopt_test_site import read_old, read_shards
from test_adopt import count_left

from shardwright.adopt import Adopter, AdoptOptions, AdoptRefused, Plan, Step
from shardwright.topology import Directory, fetch_value, open_connection


async def run_on(dsn: str, sql: str) -> None:
    conn = await open_connection(dsn, "test")
    await conn.execute(sql)
    await conn.close()


@pytest.mark.slow
async def test_differences_are_shown_and_repaired(
    directory: Directory, dsns: dict[str, str], old: str, adopter: Adopter, plan: Plan
) -> None:
    await adopter.start(plan)
    as_replica = "SET session_replication_role = replica; "
    await run_on(dsns["a"], f"{as_replica} UPDATE s0000.shop_order SET status = 'wrong'")
    await run_on(dsns["a"], f"{as_replica} DELETE FROM common.auth_group WHERE id = 1")
    await run_on(
        dsns["b"], f"{as_replica} INSERT INTO s0001.auth_user (id, username, password) VALUES (9, 'x', '')"
    )

    report = await adopter.check()
    assert not report.is_equal
    assert {each.table for each in report.differences} == {"shop_order", "auth_group", "auth_user"}
    assert any("wrong" in each.shards and "new" in each.old for each in report.differences)

    repaired = await adopter.check(repair=True)
    assert repaired.repaired == repaired.count == report.count
    assert (await adopter.check()).count == 0
    assert await read_shards(directory) == await read_old(old)


@pytest.mark.slow
async def test_an_aborted_adoption_leaves_nothing(
    directory: Directory, dsns: dict[str, str], old: str, adopter: Adopter, plan: Plan
) -> None:
    await adopter.start(plan)
    with pytest.raises(AdoptRefused, match="has not ended"):
        await adopter.start(plan)

    assert (await adopter.abort()).step is Step.ABORTED
    assert [await count_left(dsn) for dsn in (old, *dsns.values())] == [0, 0, 0]
    assert not any((await read_shards(directory)).values())
    assert (await adopter.start(plan)).step is Step.FOLLOW


@pytest.mark.slow
async def test_everything_is_kept_together_in_shard_0(
    directory: Directory, dsns: dict[str, str], old: str, adopter: Adopter, plan: Plan
) -> None:
    await adopter.start(replace(plan, placement="shard 0"))
    await run_on(
        old,
        "UPDATE shop_order SET status = 'late'; DELETE FROM shop_review WHERE id < 50; TRUNCATE shop_linenote",
    )
    await adopter.resume()

    assert await read_shards(directory) == await read_old(old)
    conn = await open_connection(dsns["a"], "test")
    assert await fetch_value(conn, "SELECT count(*) FROM s0000.shop_order WHERE status = 'late'") == 600
    await conn.close()


async def test_what_is_in_the_way_is_listed_before_anything_changes(
    dsns: dict[str, str], old: str, adopter: Adopter, plan: Plan
) -> None:
    await run_on(dsns["a"], "ALTER TABLE s0000.shop_order DROP COLUMN note")
    await run_on(old, "ALTER TABLE shop_review REPLICA IDENTITY NOTHING")

    with pytest.raises(AdoptRefused) as refused:
        await adopter.start(plan)

    assert "has no column note" in str(refused.value)
    assert "REPLICA IDENTITY DEFAULT" in str(refused.value)
    assert await count_left(old) == 0
    assert await adopter.status() == []


@pytest.mark.slow
async def test_narrow_keys_cannot_return_and_are_refused_unless_one_says_so(
    directory: Directory, dsns: dict[str, str], old: str, adopter: Adopter, plan: Plan
) -> None:
    await run_on(old, "ALTER TABLE shop_review ALTER COLUMN id TYPE integer")
    await adopter.start(plan)

    with pytest.raises(AdoptRefused, match=r"shardwright widen shop_review\.id"):
        await adopter.switch()
    assert (await adopter.status())[0].step is Step.FOLLOW

    final = Adopter(directory, old, options=AdoptOptions(may_return=False, max_lag_s=5.0))
    assert (await final.switch()).is_switched
    with pytest.raises(AdoptRefused, match="--no-return"):
        await final.back()
    assert (await final.finish()).step is Step.DONE
