"""Every shard of two servers gets each migration once, also after failures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from shardwright.errors import MigrationRefused, ServerUnavailable
from shardwright.migrations import (
    Folder,
    MigrationFailed,
    MigratorOptions,
    Progress,
    progress_bar,
)
from shardwright.migrations.rollout import Rollout
from shardwright.migrations.targets import all_targets
from shardwright.topology import Server

if TYPE_CHECKING:
    from .conftest import Fleet

POSTS = "CREATE TABLE posts (id bigint PRIMARY KEY DEFAULT next_id(), mood text);"


@pytest.mark.slow
async def test_every_shard_and_server_gets_every_migration(fleet: Fleet) -> None:
    fleet.put_example()

    report = await fleet.migrator().apply()

    assert await fleet.versions() == dict.fromkeys(range(8), 7)
    assert len(report.finished) == 10
    assert (
        await fleet.value(5, "INSERT INTO accounts (username) VALUES ('ana') RETURNING id >> 10 & 8191") == 5
    )
    assert await fleet.value(5, "SELECT count(*) FROM outbox") == 0
    assert (await fleet.migrator().status()).is_up_to_date


@pytest.mark.slow
async def test_nothing_is_left_to_do_the_second_time(fleet: Fleet) -> None:
    fleet.put("shard/0001_posts", POSTS)
    await fleet.migrator().apply()

    report = await fleet.migrator().apply()

    assert report.outcomes == []
    assert await fleet.migrator().pending() == {}


@pytest.mark.slow
async def test_later_migrations_follow_one_by_one(fleet: Fleet) -> None:
    fleet.put("shard/0001_posts", POSTS)
    await fleet.migrator().apply()
    fleet.put("shard/0002_title", "ALTER TABLE posts ADD COLUMN title text;")
    fleet.put(
        "shard/0003_likes", "CREATE TABLE likes (post_id bigint PRIMARY KEY) -- no semicolon, then a comment"
    )

    assert len(await fleet.migrator().pending()) == 8
    report = await fleet.migrator().apply()

    assert report.finished[0].applied == ["shard/0002_title", "shard/0003_likes"]
    assert await fleet.versions() == dict.fromkeys(range(8), 3)


@pytest.mark.slow
async def test_every_new_table_is_guarded(fleet: Fleet) -> None:
    fleet.put("shard/0001_posts", POSTS)
    await fleet.migrator().apply()
    fleet.put("shard/0002_likes", "CREATE TABLE likes (post_id bigint PRIMARY KEY);")
    await fleet.migrator().apply()

    unguarded = await fleet.value(
        3,
        """SELECT count(*) FROM pg_class c WHERE relnamespace = 's0003'::regnamespace AND relkind = 'r'
           AND NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = c.oid AND tgfoid = 's0003.guard'::regproc)""",
    )

    assert unguarded == 0


@pytest.mark.slow
async def test_a_new_shard_gets_them_all_before_anybody_sees_it(fleet: Fleet) -> None:
    fleet.put_example()
    await fleet.migrator().apply()

    await fleet.directory.add_shards(3, prepare=fleet.migrator().prepare)

    assert await fleet.versions() == dict.fromkeys(range(11), 7)
    assert (await fleet.migrator().status()).is_up_to_date


@pytest.mark.slow
async def test_shards_added_without_migrations_are_brought_up_later(fleet: Fleet) -> None:
    fleet.put_example()
    await fleet.migrator().apply()
    await fleet.directory.add_shards(2)

    report = await fleet.migrator().apply()

    assert {outcome.target.number for outcome in report.finished} == {8, 9}
    assert (await fleet.migrator().status()).is_up_to_date


async def test_migrations_can_be_limited_to_some_shards(fleet: Fleet) -> None:
    fleet.put("shard/0001_posts", POSTS)

    await fleet.migrator().apply(shards=[2, 5])

    assert await fleet.versions() == dict.fromkeys(range(8), 0) | {2: 1, 5: 1}


@pytest.mark.slow
async def test_progress_reaches_the_total_and_can_be_shown(fleet: Fleet) -> None:
    fleet.put_example()
    seen: list[Progress] = []
    console = Console(record=True, width=120, force_terminal=False)

    with progress_bar(console) as show:

        def both(progress: Progress) -> None:
            seen.append(progress)
            show(progress)

        await fleet.migrator().apply(progress=both)

    assert (seen[-1].done, seen[-1].total) == (10, 10)
    assert sum(1 for each in seen if each.what == "applied") == 2 + 8 * 7
    assert "10/10" in console.export_text()


@pytest.mark.slow
async def test_a_failing_shard_stops_the_rest_and_is_reported_exactly(fleet: Fleet) -> None:
    fleet.put("shard/0001_posts", POSTS)
    await fleet.migrator().apply()
    await fleet.run(6, "CREATE TABLE likes (oops int)")
    fleet.put("shard/0002_likes", "CREATE TABLE likes (post_id bigint PRIMARY KEY);")
    fleet.put("shard/0003_title", "ALTER TABLE posts ADD COLUMN title text;")

    with pytest.raises(MigrationFailed) as failure:
        await fleet.migrator(MigratorOptions(per_server=1)).apply()

    report = failure.value.report
    (failed,) = report.failed
    assert failed.target.number == 6
    assert failed.error == 'shard/0002_likes: relation "likes" already exists (42P07)'
    assert f"s0006 on {failed.target.server}: shard/0002_likes" in str(failure.value)
    applied = {outcome.target.number for outcome in report.finished}
    waiting = {target.number for target in report.not_started}
    assert applied | waiting | {6} == set(range(8))
    assert await fleet.versions() == dict.fromkeys(applied, 3) | dict.fromkeys(waiting | {6}, 1)


@pytest.mark.slow
async def test_keep_going_leaves_only_the_failing_shard_behind(fleet: Fleet) -> None:
    fleet.put("shard/0001_posts", POSTS)
    await fleet.run(0, "CREATE TABLE posts (oops int)")

    with pytest.raises(MigrationFailed, match="7 finished, 1 failed, 0 not started"):
        await fleet.migrator().apply(keep_going=True)

    assert await fleet.versions() == dict.fromkeys(range(1, 8), 1) | {0: 0}
    await fleet.run(0, "DROP TABLE posts")
    await fleet.migrator().apply()
    assert (await fleet.migrator().status()).is_up_to_date


async def test_a_broken_migration_is_tried_on_one_shard_only(fleet: Fleet) -> None:
    fleet.put("shard/0001_broken", "SELECT 1 / 0;")

    with pytest.raises(MigrationFailed, match=r"shard/0001_broken: division by zero") as failure:
        await fleet.migrator().apply()

    assert len(failure.value.report.failed) == 1
    assert len(failure.value.report.not_started) == 7


async def test_among_many_files_for_a_new_shard_the_broken_one_is_named(fleet: Fleet) -> None:
    fleet.put("shard/0001_posts", POSTS)
    fleet.put("shard/0002_broken", "SELECT 1 / 0;")
    fleet.put("shard/0003_likes", "CREATE TABLE likes (post_id bigint PRIMARY KEY);")
    console = Console(record=True, width=120, force_terminal=False)

    with (
        pytest.raises(MigrationFailed, match=r"s0000 on .: shard/0002_broken: division by zero"),
        progress_bar(console) as show,
    ):
        await fleet.migrator().apply(progress=show)

    assert await fleet.versions() == dict.fromkeys(range(8), 0)
    assert await fleet.value(0, "SELECT to_regclass('posts')") is None
    assert "shard/0002_broken: division by zero" in console.export_text()


async def test_a_server_lost_on_the_way_fails_its_shards_and_no_others(fleet: Fleet) -> None:
    fleet.put("shard/0001_posts", POSTS)
    shard_map = await fleet.map()
    lost = shard_map.with_server(Server("b", "postgresql://nobody@127.0.0.1:1/none"))
    targets = [target for target in all_targets(lost) if target.number is not None]
    rollout = Rollout(lost, Folder.load(fleet.folder), MigratorOptions(), keep_going=True, on_progress=None)

    await rollout.run(targets)

    failed = {outcome.target.number for outcome in rollout.report.failed}
    assert failed == set(shard_map.shards_on("b"))
    assert {outcome.target.number for outcome in rollout.report.finished} == set(shard_map.shards_on("a"))


async def test_a_changed_file_is_refused_before_anything_is_applied(fleet: Fleet) -> None:
    fleet.put("shard/0001_posts", POSTS)
    await fleet.migrator().apply(shards=[7])
    fleet.put("shard/0001_posts", POSTS.replace("mood", "feeling"))

    with pytest.raises(MigrationRefused, match=r"s0007 on .* has shard/0001_posts with different content"):
        await fleet.migrator().apply()

    assert await fleet.versions() == dict.fromkeys(range(8), 0) | {7: 1}


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["shard/0001_posts"], "has 0002_likes, which the folder does not: the code is older"),
        (["shard/0001_posts", "shard/0002_loves"], "has 0002_likes where the folder has shard/0002_loves"),
    ],
)
@pytest.mark.slow
async def test_a_folder_that_conflicts_with_the_shards_is_refused(
    fleet: Fleet, names: list[str], message: str
) -> None:
    fleet.put("shard/0001_posts", POSTS)
    likes = fleet.put("shard/0002_likes", "CREATE TABLE likes (post_id bigint PRIMARY KEY);")
    await fleet.migrator().apply()
    likes.unlink()
    for name in names[1:]:
        fleet.put(name, "CREATE TABLE likes (post_id bigint PRIMARY KEY);")

    with pytest.raises(MigrationRefused, match=message):
        await fleet.migrator().apply()
    status = await fleet.migrator().status()
    assert len(status.conflicts) == 8
    assert not status.is_up_to_date


async def test_a_new_shard_that_conflicts_with_the_folder_is_refused(fleet: Fleet) -> None:
    fleet.put("shard/0001_posts", POSTS)
    await fleet.migrator().apply()
    fleet.put("shard/0001_posts", POSTS.replace("mood", "feeling"))

    async with fleet.on(3) as connection:
        with pytest.raises(
            MigrationRefused, match=r"s0003 on .* has shard/0001_posts with different content"
        ):
            await fleet.migrator().prepare(connection, 3)


async def test_a_version_that_was_removed_by_hand_is_refused(fleet: Fleet) -> None:
    fleet.put("shard/0001_posts", POSTS)
    fleet.put("shard/0002_likes", "CREATE TABLE likes (post_id bigint PRIMARY KEY);")
    await fleet.migrator().apply()
    await fleet.run(1, "DELETE FROM schema_version WHERE number = 1")

    with pytest.raises(MigrationRefused, match="has 0002_likes but not shard/0001_posts"):
        await fleet.migrator().apply()


@pytest.mark.slow
async def test_migrations_that_the_linter_refuses_are_not_applied_unless_some_shard_has_them(
    fleet: Fleet,
) -> None:
    fleet.put("shard/0001_posts", "CREATE TABLE posts (mood text);")

    with pytest.raises(MigrationRefused, match="missing-primary-key"):
        await fleet.migrator().apply()
    await fleet.migrator().apply(shards=[0], lint=False)
    await fleet.migrator().apply()

    assert await fleet.versions() == dict.fromkeys(range(8), 1)


async def test_an_unreachable_server_stops_everything_unless_told_otherwise(fleet: Fleet) -> None:
    fleet.put("shard/0001_posts", POSTS)
    shard_map = await fleet.map()
    on_a = shard_map.shards_on("a")
    lost = shard_map.with_server(Server("b", "postgresql://nobody@127.0.0.1:1/none"))
    migrator = type(fleet.migrator())(lost, fleet.folder)

    with pytest.raises(ServerUnavailable, match="nothing was applied: server b cannot be reached"):
        await migrator.apply()
    assert set((await fleet.versions()).values()) == {0}
    await migrator.apply(keep_going=True)

    assert await fleet.versions() == dict.fromkeys(range(8), 0) | dict.fromkeys(on_a, 1)
    status = await migrator.status()
    assert list(status.unreachable) == ["b"]
    assert not status.is_up_to_date
