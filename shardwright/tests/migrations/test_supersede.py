"""A migration that is found wrong after some shards got it: they are repaired, and the others never get it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import asyncpg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shardwright.errors import MigrationRefused
from shardwright.migrations import Folder, Migration, MigrationFailed, check_snapshot, lint, snapshot
from shardwright.migrations.versions import (
    Version,
    find_conflict,
    pending,
    superseded_numbers,
    unrepaired,
)

if TYPE_CHECKING:
    from .conftest import Fleet

POSTS = "CREATE TABLE posts (id bigint PRIMARY KEY DEFAULT next_id(), mood text);"
WRONG = "-- waive: narrow-id because nobody looked\nALTER TABLE posts ADD COLUMN place_id integer;"
GOOD = "-- supersedes: 0002\nALTER TABLE posts ADD COLUMN place_id bigint;\n"
REPAIR = """
-- waive: breaks-previous-release because no release has used it
ALTER TABLE posts DROP COLUMN place_id;
ALTER TABLE posts ADD COLUMN place_id bigint;
"""
TYPE = "SELECT atttypid::regtype::text FROM pg_attribute WHERE attrelid = 'posts'::regclass AND attname = 'place_id'"
HISTORY = "SELECT array_agg(number ORDER BY number) FROM schema_version WHERE applied_at IS NOT NULL"


def put_superseding(fleet: Fleet, name: str = "0003_places", good: str = GOOD, repair: str = REPAIR) -> None:
    fleet.put(f"shard/{name}", good)
    fleet.put(f"shard/{name}.repair", repair)


@pytest.fixture
async def stopped(fleet: Fleet) -> Fleet:
    """Shards 0 to 3 have the wrong file."""
    fleet.put("shard/0001_posts", POSTS)
    await fleet.migrator().apply()
    fleet.put("shard/0002_place", WRONG)
    await fleet.migrator().apply(shards=[0, 1, 2, 3])
    return fleet


@pytest.mark.slow
async def test_shards_with_the_wrong_file_are_repaired_and_the_others_never_get_it(stopped: Fleet) -> None:
    put_superseding(stopped)
    waiting = {
        target.number: [str(each) for each in missing]
        for target, missing in (await stopped.migrator().pending()).items()
    }
    repaired, others = ["shard/0003_places.repair"], ["shard/0003_places"]
    assert waiting == {number: repaired if number < 4 else others for number in range(8)}

    await stopped.migrator().apply()
    await stopped.directory.add_shards(1, prepare=stopped.migrator().prepare)

    assert await stopped.versions() == dict.fromkeys(range(9), 3)
    assert {await stopped.value(number, TYPE) for number in range(9)} == {"bigint"}
    histories = [await stopped.value(number, HISTORY) for number in range(9)]
    assert histories == [[1, 2, 3]] * 4 + [[1, 3]] * 5
    status = await stopped.migrator().status()
    assert status.is_up_to_date, status.drift
    assert await stopped.migrator().drift(replay_dsn=stopped.directory_dsn) == []
    assert (await stopped.migrator().apply()).outcomes == []


@pytest.mark.slow
async def test_the_schema_is_that_of_the_good_file_and_of_the_repair(stopped: Fleet, tmp_path: Path) -> None:
    put_superseding(stopped)
    schema = tmp_path / "schema.sql"
    schema.write_text(await snapshot(stopped.folder, stopped.directory_dsn))
    assert "place_id bigint" in schema.read_text()
    assert "integer" not in schema.read_text()
    await check_snapshot(stopped.folder, stopped.directory_dsn, schema)

    put_superseding(stopped, repair="ALTER TABLE posts ADD COLUMN place bigint;")
    with pytest.raises(MigrationRefused) as refused:
        await check_snapshot(stopped.folder, stopped.directory_dsn, schema)

    assert str(refused.value) == (
        "a target that has 0002 differs from the others after shard/0003_places.repair:\n"
        "column posts.place exists here but not elsewhere: bigint\n"
        "column posts.place_id is integer, elsewhere bigint"
    )


async def test_a_repair_that_leads_elsewhere_is_drift(stopped: Fleet) -> None:
    put_superseding(stopped, repair="COMMENT ON TABLE posts IS 'repaired';")
    await stopped.migrator().apply()

    drift = (await stopped.migrator().status()).drift

    assert {each.target.number for each in drift} in ({0, 1, 2, 3}, {4, 5, 6, 7})
    assert {each.what for each in drift} == {"column posts.place_id", "comment posts."}


@pytest.mark.slow
async def test_shards_that_wait_for_their_repair_have_not_drifted(stopped: Fleet) -> None:
    """0003 is applied everywhere, 0004, which supersedes 0002, nowhere."""
    fleet = stopped
    fleet.put("shard/0003_likes", "CREATE TABLE likes (post_id bigint PRIMARY KEY);")
    put_superseding(fleet, "0004_places", f"{GOOD} SELECT 1 / 0;", f"{REPAIR} SELECT 1 / 0;")
    with pytest.raises(MigrationFailed, match="division by zero"):
        await fleet.migrator().apply(keep_going=True)

    status = await fleet.migrator().status()

    assert {(each.version, each.unrepaired) for each in status.targets if each.target.number is not None} == {
        (3, (2,)),
        (3, ()),
    }
    assert list(status.drift) == []
    put_superseding(fleet, "0004_places")
    await fleet.migrator().apply()
    assert (await fleet.migrator().status()).is_up_to_date


@pytest.mark.slow
@pytest.mark.parametrize("after", [1, 5, 9])
async def test_a_repair_killed_in_the_middle_is_continued(stopped: Fleet, after: int) -> None:
    put_superseding(stopped, good=f"{GOOD} SELECT pg_sleep(0.02);", repair=f"{REPAIR} SELECT pg_sleep(0.02);")
    stopped.put("shard/0004_likes", "CREATE TABLE likes (post_id bigint PRIMARY KEY);")
    await stopped.kill_migrator(after)
    histories = [cast("list[int]", await stopped.value(number, HISTORY)) for number in range(8)]
    assert all(history[:2] == [1, 2] for history in histories[:4])
    assert not any(2 in history for history in histories[4:])

    await stopped.migrator().apply()

    assert [await stopped.value(number, HISTORY) for number in range(8)] == [[1, 2, 3, 4]] * 4 + [
        [1, 3, 4]
    ] * 4
    assert (await stopped.migrator().status()).is_up_to_date


UNIQUE = """-- no-transaction
CREATE INDEX CONCURRENTLY posts_id_mood ON posts (id, mood);
CREATE UNIQUE INDEX CONCURRENTLY posts_mood ON posts (mood);
"""
PLAIN = "-- supersedes: 0002\n-- no-transaction\nCREATE INDEX CONCURRENTLY posts_by_mood ON posts (mood);"
REBUILT = """-- no-transaction
DROP INDEX CONCURRENTLY IF EXISTS posts_id_mood;
DROP INDEX CONCURRENTLY IF EXISTS posts_mood;
CREATE INDEX CONCURRENTLY posts_by_mood ON posts (mood);
"""


@pytest.mark.slow
async def test_a_wrong_file_that_was_only_begun_is_repaired_too(fleet: Fleet) -> None:
    """Shard 2 has one of its two indexes; its `schema_version` says that it was begun."""
    fleet.put("shard/0001_posts", POSTS)
    await fleet.migrator().apply()
    await fleet.run(2, "INSERT INTO posts (mood) VALUES ('calm'), ('calm')")
    fleet.put("shard/0002_index", UNIQUE)
    with pytest.raises(MigrationFailed, match="could not create unique index"):
        await fleet.migrator().apply(shards=[1, 2], keep_going=True)
    put_superseding(fleet, "0003_index", PLAIN, REBUILT)
    await fleet.kill_migrator(2)

    await fleet.migrator().apply()

    indexes = "SELECT array_agg(indexname::text ORDER BY indexname) FROM pg_indexes WHERE schemaname = current_schema"
    for number in range(8):
        assert await fleet.value(number, f"{indexes} AND tablename = 'posts'") == [
            "posts_by_mood",
            "posts_pkey",
        ]
    assert [await fleet.value(number, HISTORY) for number in (0, 1, 2, 3)] == [
        [1, 3],
        [1, 2, 3],
        [1, 3],
        [1, 3],
    ]
    assert (await fleet.migrator().status()).is_up_to_date


@pytest.mark.slow
async def test_a_file_that_supersedes_may_be_superseded_itself(stopped: Fleet) -> None:
    """In the end shards have had: 0002; 0002 and the repair in 0003; 0003; none of them."""
    put_superseding(
        stopped,
        "0003_place",
        f"{GOOD} ALTER TABLE posts ADD COLUMN oops text;",
        "ALTER TABLE posts ADD COLUMN oops text;",
    )
    await stopped.migrator().apply(shards=[2, 3, 4, 5])
    tolerant = """
    -- waive: breaks-previous-release because no release has used them
    ALTER TABLE posts DROP COLUMN IF EXISTS oops, DROP COLUMN IF EXISTS place_id;
    ALTER TABLE posts ADD COLUMN place_id bigint;
    """
    put_superseding(
        stopped, "0004_place", "-- supersedes: 0003\nALTER TABLE posts ADD COLUMN place_id bigint;", tolerant
    )
    with pytest.raises(MigrationRefused, match=r"which supersedes others: write `-- supersedes: 0002, 0003`"):
        stopped.migrator()
    put_superseding(
        stopped,
        "0004_place",
        "-- supersedes: 0002, 0003_place\nALTER TABLE posts ADD COLUMN place_id bigint;",
        tolerant,
    )

    await stopped.migrator().apply()

    histories = [await stopped.value(number, HISTORY) for number in range(8)]
    assert histories == [[1, 2, 4]] * 2 + [[1, 2, 3, 4]] * 2 + [[1, 3, 4]] * 2 + [[1, 4]] * 2
    assert (await stopped.migrator().status()).is_up_to_date
    schema = stopped.folder.parent / "schema.sql"
    schema.write_text(await snapshot(stopped.folder, stopped.directory_dsn))
    await check_snapshot(stopped.folder, stopped.directory_dsn, schema)


async def test_neither_the_good_file_nor_the_repair_is_edited_afterwards(stopped: Fleet) -> None:
    put_superseding(stopped)
    await stopped.migrator().apply()

    put_superseding(stopped, repair=f"{REPAIR} SELECT 1;")
    with pytest.raises(
        MigrationRefused, match=r"s0000 on .* has shard/0003_places.repair with different content"
    ):
        await stopped.migrator().apply()
    put_superseding(stopped, good=f"{GOOD} SELECT 1;")
    with pytest.raises(MigrationRefused, match=r"s0004 on .* has shard/0003_places with different content"):
        await stopped.migrator().apply()


async def test_a_wrong_file_that_was_edited_is_refused_with_the_way_out(stopped: Fleet) -> None:
    stopped.put("shard/0002_place", WRONG.replace("integer", "bigint"))

    with pytest.raises(
        MigrationRefused, match="which says `-- supersedes: 0002` if no other shard shall get"
    ):
        await stopped.migrator().apply()


async def test_a_server_migration_can_be_superseded(fleet: Fleet) -> None:
    fleet.put("server/0001_outbox", "CREATE TABLE outbox (id bigint PRIMARY KEY);")
    fleet.put("server/0002_topic", "ALTER TABLE outbox ADD COLUMN topik text;")
    async with fleet.on(0) as connection:
        await fleet.migrator().prepare(connection, 0)
        server = (await fleet.map()).server_of(0).name
    fleet.put("server/0003_topic", "-- supersedes: 0002\nALTER TABLE outbox ADD COLUMN topic text;")
    fleet.put(
        "server/0003_topic.repair",
        "-- waive: breaks-previous-release because no release has used it\n"
        "ALTER TABLE outbox RENAME COLUMN topik TO topic;",
    )

    report = await fleet.migrator().apply()

    assert {
        outcome.target.server: outcome.applied[-1]
        for outcome in report.finished
        if outcome.target.number is None
    } == {
        server: "server/0003_topic.repair",
        "a" if server == "b" else "b": "server/0003_topic",
    }
    assert (await fleet.migrator().status()).is_up_to_date


REFUSED = [
    ({"0001_a": "-- supersedes: 7\n"}, r"0001_a.sql:1: write `-- supersedes: 0007`"),
    ({"0001_a": "", "0002_b": "-- supersedes: 0001"}, "0002_b.repair.sql belong together"),
    ({"0001_a": "", "0001_a.repair": ""}, "0001_a.repair.sql belong together"),
    ({"0001_a": "", "0001_b.repair": ""}, "0001_b.repair belongs to no file"),
    ({"0001_a": "-- supersedes: 0001", "0001_a.repair": ""}, "supersedes 0001, which is no earlier file"),
    ({"0001_a": "-- supersedes: 0002", "0001_a.repair": "", "0002_b": ""}, "which is no earlier file"),
    (
        {"0001_a": "", "0002_b": "-- supersedes: 0001", "0002_b.repair": "-- supersedes: 0001"},
        "only shard/0002_b itself says what it supersedes",
    ),
]


@pytest.mark.parametrize(("files", "message"), REFUSED)
def test_what_cannot_be_superseded_is_refused(tmp_path: Path, files: dict[str, str], message: str) -> None:
    (tmp_path / "shard").mkdir()
    for name, text in files.items():
        (tmp_path / "shard" / f"{name}.sql").write_text(text)

    with pytest.raises(MigrationRefused, match=message):
        Folder.load(tmp_path)


def test_the_linter_judges_the_good_file_without_the_wrong_one_and_the_repair_with_it(tmp_path: Path) -> None:
    home = tmp_path / "shard"
    home.mkdir()
    (home / "0001_posts.sql").write_text(POSTS)
    (home / "0002_wrong.sql").write_text(
        "CREATE TABLE tags (post_id integer, tag varchar(10)); DROP TABLE posts;"
    )
    (home / "0003_right.sql").write_text(
        "-- supersedes: 0002\nCREATE TABLE tags (post_id bigint PRIMARY KEY, tag text);"
    )
    repair = home / "0003_right.repair.sql"
    repair.write_text(
        "ALTER TABLE tags ALTER COLUMN tag TYPE text; ALTER TABLE tags ALTER COLUMN post_id TYPE bigint;"
    )

    findings = lint(tmp_path)

    assert [(each.path, each.rule, each.message) for each in findings] == [
        (repair, "type-rewrite", "tags.post_id becomes int8")
    ]
    assert lint(repair) == findings
    assert lint(home / "0003_right.sql") == []


def test_the_word_in_a_comment_is_no_header(tmp_path: Path) -> None:
    (tmp_path / "shard").mkdir()
    (tmp_path / "shard" / "0001_a.sql").write_text("-- supersedes what was done by hand\nSELECT 1;")

    assert Folder.load(tmp_path).shard[0].supersedes == ()


def a_file(number: int, supersedes: tuple[int, ...] = (), *, is_repair: bool = False) -> Migration:
    checksum = f"{number}{' repair' if is_repair else ''}"
    repair = a_file(number, is_repair=True) if supersedes else None
    return Migration(
        "shard", number, "x", "", checksum, Path(), supersedes=supersedes, repair=repair, is_repair=is_repair
    )


@given(st.data())
@pytest.mark.slow
def test_wherever_roll_outs_stop_every_shard_ends_without_anything_superseded_left(
    data: st.DataObject,
) -> None:
    """A folder grows, file by file; after each, a roll-out applies some of what a shard lacks, or only begins it."""
    folder: list[Migration] = []
    versions: list[Version] = []
    for number in range(1, data.draw(st.integers(2, 7)) + 1):
        wrong = (
            data.draw(st.sets(st.sampled_from([each.number for each in folder]))) if folder else set[int]()
        )
        wrong |= {chained for each in folder if each.number in wrong for chained in each.supersedes}
        folder.append(a_file(number, tuple(sorted(wrong))))
        is_last = data.draw(st.booleans())
        while waiting := pending(versions, folder):
            assert not {each.number for each in waiting} & superseded_numbers(folder)
            is_applied = data.draw(st.booleans())
            versions = [each for each in versions if each.number != waiting[0].number]
            versions.append(Version(waiting[0].number, "x", waiting[0].checksum, is_applied))
            versions.sort(key=lambda each: each.number)
            assert find_conflict(versions, folder) is None
            if not is_applied or is_last:
                break
    for _ in folder:
        for each in pending(versions, folder)[:1]:
            versions = [*(old for old in versions if old.number != each.number)]
            versions.append(Version(each.number, "x", each.checksum, is_applied=True))
            versions.sort(key=lambda each: each.number)

    assert find_conflict(versions, folder) is None
    assert pending(versions, folder) == ()
    assert unrepaired(versions, folder) == ()
    known = {each.number for each in versions}
    for each in folder:
        if each.supersedes and each.number not in superseded_numbers(folder):
            (own,) = [version for version in versions if version.number == each.number]
            assert own.checksum.endswith("repair") == bool(known & set(each.supersedes))


@pytest.mark.slow
async def test_an_unfinished_row_of_a_superseded_file_stays_as_a_trace(stopped: Fleet) -> None:
    await stopped.run(5, "INSERT INTO schema_version (number, name, checksum) VALUES (2, 'place', 'begun')")
    await stopped.run(5, "ALTER TABLE posts ADD COLUMN place_id integer")
    put_superseding(stopped)

    await stopped.migrator().apply()

    assert await stopped.value(5, TYPE) == "bigint"
    assert await stopped.value(5, HISTORY) == [1, 3]
    assert (await stopped.migrator().status()).is_up_to_date
    with pytest.raises(asyncpg.UniqueViolationError):
        await stopped.run(5, "INSERT INTO schema_version (number, name, checksum) VALUES (2, 'again', '')")
