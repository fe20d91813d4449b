"""Table locks, concurrent and killed migrators, moved shards: each shard still gets each file once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from shardwright.errors import MigrationRefused
from shardwright.migrations import (
    LOCK_CLASS,
    MigrationFailed,
    MigratorOptions,
    Outcome,
    Progress,
    Report,
    Target,
)

if TYPE_CHECKING:
    from .conftest import Fleet

POSTS = "CREATE TABLE posts (id bigint PRIMARY KEY DEFAULT next_id(), mood text);"


@pytest.mark.slow
async def test_a_shard_that_moved_away_is_not_migrated(fleet: Fleet) -> None:
    fleet.put("shard/0001_posts", POSTS)
    await fleet.migrator().apply()
    await fleet.run(
        2,
        """CREATE OR REPLACE FUNCTION guard() RETURNS trigger LANGUAGE plpgsql
           AS $$ BEGIN RAISE EXCEPTION 'moved' USING ERRCODE = 'SW001'; END $$""",
    )
    fleet.put("shard/0002_title", "ALTER TABLE posts ADD COLUMN title text;")

    with pytest.raises(MigrationFailed, match=r"s0002 on .: shard/0002_title: the shard has moved"):
        await fleet.migrator().apply(keep_going=True)

    assert (await fleet.versions())[2] == 1


@pytest.mark.slow
async def test_a_locked_table_is_retried_with_short_timeouts(fleet: Fleet) -> None:
    fleet.put("shard/0001_posts", POSTS)
    await fleet.migrator().apply()
    fleet.put("shard/0002_title", "ALTER TABLE posts ADD COLUMN title text;")
    waits = 0
    async with fleet.on(4) as holder:
        transaction = holder.transaction()
        await transaction.start()
        await holder.execute("LOCK TABLE posts IN ACCESS SHARE MODE")
        released = asyncio.Event()

        def count(progress: Progress) -> None:
            nonlocal waits
            if progress.what == "waited":
                assert progress.target.number == 4
                waits += 1
                if waits == 3:
                    released.set()

        migrating = asyncio.create_task(fleet.migrator().apply(progress=count))
        await released.wait()
        await transaction.rollback()
        await migrating

    assert waits >= 3
    assert await fleet.versions() == dict.fromkeys(range(8), 2)


@pytest.mark.slow
async def test_a_table_locked_for_too_long_fails_that_shard(fleet: Fleet) -> None:
    fleet.put("shard/0001_posts", POSTS)
    await fleet.migrator().apply()
    fleet.put("shard/0002_title", "ALTER TABLE posts ADD COLUMN title text;")
    async with fleet.on(4) as holder, holder.transaction():
        await holder.execute("LOCK TABLE posts IN ACCESS SHARE MODE")

        with pytest.raises(MigrationFailed, match="the table was locked by others during every attempt"):
            await fleet.migrator(MigratorOptions(lock_timeout_ms=20, attempts=2)).apply(keep_going=True)

    assert await fleet.versions() == dict.fromkeys(range(8), 2) | {4: 1}


async def test_a_statement_timeout_is_the_files_own_or_the_options(fleet: Fleet) -> None:
    fleet.put("shard/0001_slow", "-- statement-timeout: 20ms\nSELECT pg_sleep(5);")

    with pytest.raises(
        MigrationFailed, match=r"shard/0001_slow: canceling statement due to statement timeout"
    ):
        await fleet.migrator().apply()


@pytest.mark.slow
async def test_two_migrators_at_once_share_the_work(fleet: Fleet) -> None:
    fleet.put_example()

    reports = await asyncio.gather(*(fleet.migrator().apply() for _ in range(3)))

    applied = [name for report in reports for outcome in report.outcomes for name in outcome.applied]
    assert len(applied) == 2 + 8 * 7
    assert (await fleet.migrator().status()).is_up_to_date


def test_a_long_report_is_truncated() -> None:
    failed = [Outcome(Target("a", number), error="no") for number in range(30)]
    report = Report(failed, [Target("a", number) for number in range(30, 60)])

    text = str(report)

    assert text.startswith("0 finished, 30 failed, 30 not started\n  s0000 on a: no\n")
    assert "… and 10 more failed" in text
    assert "s0049 …" in text


async def test_options_without_connections_are_refused() -> None:
    with pytest.raises(MigrationRefused, match="at least one connection"):
        MigratorOptions(per_server=0)


@pytest.mark.slow
async def test_waiting_for_another_migrator_times_out(fleet: Fleet) -> None:
    fleet.put("shard/0001_posts", POSTS)
    async with fleet.on(3) as other:
        await other.execute(f"SELECT pg_advisory_lock({LOCK_CLASS}, 3)")

        with pytest.raises(MigrationFailed, match=r"s0003 on .: another migrator has held it for 0\.1 s"):
            await fleet.migrator(MigratorOptions(busy_timeout_s=0.1)).apply(keep_going=True)

    await fleet.migrator().apply()
    assert await fleet.versions() == dict.fromkeys(range(8), 1)


@pytest.mark.slow
@pytest.mark.parametrize("after", [1, 6, 14])
async def test_a_migration_killed_in_the_middle_is_continued(fleet: Fleet, after: int) -> None:
    fleet.put("shard/0001_posts", POSTS)
    await fleet.migrator().apply()
    slow = "SELECT pg_sleep(0.02);"
    fleet.put("shard/0002_title", f"ALTER TABLE posts ADD COLUMN title text; {slow}")
    fleet.put(
        "shard/0003_index", "-- no-transaction\nCREATE INDEX CONCURRENTLY posts_title ON posts (title);"
    )
    fleet.put("shard/0004_likes", f"CREATE TABLE likes (post_id bigint PRIMARY KEY); {slow}")
    await fleet.kill_migrator(after)
    assert (await fleet.versions())[7] == 1
    await fleet.migrator().apply()

    assert await fleet.versions() == dict.fromkeys(range(8), 4)
    assert (await fleet.migrator().status()).is_up_to_date
