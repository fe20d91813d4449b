"""Non-transactional migrations (concurrent index builds), and their recovery after interruptions."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import asyncpg
import pytest

from shardwright.migrations import MigrationFailed, MigratorOptions

if TYPE_CHECKING:
    from .conftest import Fleet

POSTS = "CREATE TABLE posts (id bigint PRIMARY KEY DEFAULT next_id(), mood text);"
BUILD = "-- no-transaction\nCREATE INDEX CONCURRENTLY posts_mood ON posts (mood);"
UNIQUE = "-- no-transaction\nCREATE UNIQUE INDEX CONCURRENTLY posts_mood ON posts (mood);"
REBUILD = """-- no-transaction
VACUUM posts;
REINDEX INDEX CONCURRENTLY posts_mood;
-- waive: mixed-no-transaction because it stands for whatever else comes
COMMENT ON TABLE posts IS 'rebuilt';
"""
PARTS = """
CREATE TABLE days (id bigint PRIMARY KEY) PARTITION BY RANGE (id);
CREATE TABLE days_1 PARTITION OF days FOR VALUES FROM (1) TO (2);
"""
DETACH = "-- no-transaction\nALTER TABLE days DETACH PARTITION days_1 CONCURRENTLY;"
VALID = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('posts_mood')"


@pytest.fixture
async def posts(fleet: Fleet) -> Fleet:
    """Shards that are in use, so that builds are truly concurrent."""
    fleet.put("shard/0001_posts", POSTS)
    await fleet.migrator().apply()
    return fleet


@pytest.mark.slow
async def test_an_index_is_built_outside_a_transaction(posts: Fleet) -> None:
    posts.put("shard/0002_index", BUILD)

    await posts.migrator().apply()

    assert await posts.value(3, VALID) is True
    assert await posts.versions() == dict.fromkeys(range(8), 2)


@pytest.mark.slow
async def test_a_build_waits_for_transactions_without_blocking_writes(posts: Fleet) -> None:
    posts.put("shard/0002_index", BUILD)
    async with posts.on(0) as reader:
        transaction = reader.transaction(isolation="repeatable_read")
        await transaction.start()
        await reader.fetch("SELECT * FROM posts")
        building = asyncio.create_task(posts.migrator(MigratorOptions(lock_timeout_ms=20)).apply())
        await wait_for_index(posts, shard=0)

        await posts.run(0, "INSERT INTO posts (mood) VALUES ('calm')")
        await transaction.rollback()
        await building

    assert await posts.value(0, VALID) is True


@pytest.mark.slow
async def test_an_invalid_index_left_by_a_crash_is_rebuilt(posts: Fleet) -> None:
    posts.put("shard/0002_index", BUILD)
    await interrupt_build(posts, shard=0)
    assert await posts.value(0, VALID) is False

    await posts.migrator().apply()

    assert await posts.value(0, VALID) is True
    assert (await posts.migrator().status()).is_up_to_date


async def wait_for_index(fleet: Fleet, shard: int) -> None:
    """Wait until a build has started: its index exists and is not valid yet."""
    await wait_until(fleet, shard, "SELECT to_regclass('posts_mood') IS NOT NULL")


async def wait_until(fleet: Fleet, shard: int, query: str) -> None:
    for _ in range(2000):
        if await fleet.value(shard, query) is True:
            return
        await asyncio.sleep(0.01)
    pytest.fail(f"never true: {query}")


async def interrupt_build(fleet: Fleet, shard: int) -> None:
    """Start the migration next to a transaction that it must wait for, then kill its backend."""
    async with fleet.on(shard) as reader:
        transaction = reader.transaction(isolation="repeatable_read")
        await transaction.start()
        await reader.fetch("SELECT * FROM posts")
        building = asyncio.create_task(fleet.migrator().apply())
        await wait_for_index(fleet, shard)
        await fleet.value(
            shard,
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE query LIKE 'CREATE INDEX CONC%'",
        )
        with pytest.raises(MigrationFailed):
            await building
        await transaction.rollback()


@pytest.mark.slow
async def test_an_index_finished_just_before_the_crash_is_kept(posts: Fleet) -> None:
    posts.put("shard/0002_index", BUILD)
    migration = posts.migrator().folder.shard[1]
    await posts.run(0, "CREATE INDEX posts_mood ON posts (mood)")
    await posts.run(
        0,
        f"INSERT INTO schema_version (number, name, checksum) VALUES (2, 'index', '{migration.checksum}')",
    )
    before = await posts.value(0, "SELECT 'posts_mood'::regclass::oid")

    await posts.migrator().apply()

    assert await posts.value(0, "SELECT 'posts_mood'::regclass::oid") == before
    assert await posts.versions() == dict.fromkeys(range(8), 2)


async def test_a_name_taken_by_something_else_is_refused(posts: Fleet) -> None:
    posts.put("shard/0002_index", BUILD)
    await posts.run(0, "CREATE INDEX posts_mood ON posts (id)")

    with pytest.raises(MigrationFailed, match='"posts_mood" already exists'):
        await posts.migrator().apply()


@pytest.mark.slow
async def test_a_unique_index_that_cannot_be_built_leaves_nothing_behind(posts: Fleet) -> None:
    posts.put("shard/0002_index", UNIQUE)
    await posts.run(5, "INSERT INTO posts (mood) VALUES ('calm'), ('calm')")

    with pytest.raises(MigrationFailed, match=r"s0005 on .: shard/0002_index: could not create unique index"):
        await posts.migrator().apply(keep_going=True)

    assert await posts.value(5, VALID) is None
    assert await posts.versions() == dict.fromkeys(range(8), 2) | {5: 1}
    await posts.run(5, "DELETE FROM posts")
    await posts.migrator().apply()
    assert (await posts.migrator().status()).is_up_to_date


@pytest.mark.slow
async def test_a_failed_file_may_be_corrected(posts: Fleet) -> None:
    posts.put("shard/0002_index", BUILD.replace("(mood)", "(moood)"))
    with pytest.raises(MigrationFailed, match="moood"):
        await posts.migrator().apply()

    posts.put("shard/0002_index", BUILD)
    await posts.migrator().apply()

    assert await posts.versions() == dict.fromkeys(range(8), 2)


@pytest.mark.slow
async def test_indexes_are_dropped_and_rebuilt_concurrently_too(posts: Fleet) -> None:
    posts.put("shard/0002_index", BUILD)
    posts.put("shard/0003_again", "-- no-transaction\nREINDEX INDEX CONCURRENTLY posts_mood; VACUUM posts;")
    posts.put("shard/0004_gone", "-- no-transaction\nDROP INDEX CONCURRENTLY posts_mood;")
    await posts.migrator().apply()
    assert await posts.value(0, VALID) is None

    # As after a crash between each last statement and its version.
    await posts.run(0, "UPDATE schema_version SET applied_at = NULL WHERE number = 4")
    await posts.migrator().apply()

    assert await posts.versions() == dict.fromkeys(range(8), 4)


@pytest.mark.slow
async def test_leftovers_of_a_rebuild_are_removed(posts: Fleet) -> None:
    posts.put("shard/0002_index", BUILD)
    await posts.migrator().apply()
    posts.put("shard/0003_again", "-- no-transaction\nREINDEX INDEX CONCURRENTLY posts_mood;")
    await posts.run(0, "CREATE INDEX posts_mood_ccnew ON posts (mood)")
    await posts.run(
        0, "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 's0000.posts_mood_ccnew'::regclass"
    )
    checksum = posts.migrator().folder.shard[2].checksum
    await posts.run(
        0, f"INSERT INTO schema_version (number, name, checksum) VALUES (3, 'again', '{checksum}')"
    )

    await posts.migrator().apply()

    assert (await posts.migrator().status()).is_up_to_date


@pytest.mark.slow
async def test_two_migrators_build_each_index_once(posts: Fleet) -> None:
    posts.put("shard/0002_index", BUILD.replace("(mood)", "(lower(mood)) WHERE mood <> ''"))

    reports = await asyncio.gather(*(posts.migrator().apply() for _ in range(2)))

    applied = [name for report in reports for outcome in report.outcomes for name in outcome.applied]
    assert applied == ["shard/0002_index"] * 8
    assert (await posts.migrator().status()).is_up_to_date


@pytest.mark.slow
async def test_cancelling_leaves_no_lock_behind(posts: Fleet) -> None:
    posts.put("shard/0002_index", BUILD)
    async with posts.on(0) as reader:
        transaction = reader.transaction(isolation="repeatable_read")
        await transaction.start()
        await reader.fetch("SELECT * FROM posts")
        started = asyncio.create_task(posts.migrator().apply())
        await wait_for_index(posts, shard=0)
        started.cancel()
        with pytest.raises(asyncio.CancelledError):
            await started
        await transaction.rollback()

    await posts.migrator().apply()

    assert await posts.value(0, VALID) is True
    assert (await posts.migrator().status()).is_up_to_date


@pytest.mark.slow
async def test_a_new_shard_gets_the_index_inside_its_transaction(posts: Fleet) -> None:
    posts.put("shard/0002_index", BUILD)
    posts.put("shard/0003_rebuild", REBUILD)
    async with posts.on(0) as reader, reader.transaction(isolation="repeatable_read"):
        # A concurrent build on the same server would wait for this one's end.
        await reader.fetch("SELECT 1")
        await posts.directory.add_shards(4, prepare=posts.migrator().prepare)

    assert (await posts.versions())[11] == 3
    await posts.migrator().apply()
    assert (await posts.migrator().status()).is_up_to_date


@pytest.mark.slow
async def test_a_partition_is_detached_alike_in_new_and_old_shards(posts: Fleet) -> None:
    posts.put("shard/0002_parts", PARTS)
    posts.put("shard/0003_detach", DETACH)
    posts.put("shard/0004_title", "ALTER TABLE posts ADD COLUMN title text;")

    await posts.migrator().apply()
    await posts.directory.add_shards(2, prepare=posts.migrator().prepare)

    assert await posts.versions() == dict.fromkeys(range(10), 4)
    assert (await posts.migrator().status()).is_up_to_date


@pytest.mark.slow
async def test_an_interrupted_detach_is_finished(posts: Fleet) -> None:
    posts.put("shard/0002_parts", PARTS)
    await posts.migrator().apply()
    posts.put("shard/0003_detach", DETACH)
    checksum = posts.migrator().folder.shard[2].checksum
    begun = f"INSERT INTO schema_version (number, name, checksum) VALUES (3, 'detach', '{checksum}')"
    await posts.run(0, begun)
    await posts.run(1, begun)
    await posts.run(1, "ALTER TABLE days DETACH PARTITION days_1 CONCURRENTLY")
    await posts.run(2, begun)
    await interrupt_detaching(posts, shard=2)

    await posts.migrator().apply()

    assert await posts.versions() == dict.fromkeys(range(8), 3)
    assert (await posts.migrator().status()).is_up_to_date


async def interrupt_detaching(fleet: Fleet, shard: int) -> None:
    """Cancel a DETACH while it waits for a reader: the partition stays half detached."""
    is_pending = "SELECT inhdetachpending FROM pg_inherits WHERE inhrelid = 'days_1'::regclass"
    async with fleet.on(shard) as reader, reader.transaction():
        await reader.fetch("SELECT * FROM days")
        detaching = asyncio.create_task(
            fleet.run(shard, "ALTER TABLE days DETACH PARTITION days_1 CONCURRENTLY")
        )
        await wait_until(fleet, shard, is_pending)
        await fleet.run(
            shard,
            "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE 'ALTER TABLE days DET%'",
        )
        with pytest.raises(asyncpg.QueryCanceledError):
            await detaching
