"""Drift detection finds manual changes to shards, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pytest

from shardwright.errors import ServerUnavailable
from shardwright.local import LocalServer
from shardwright.migrations.catalog import read_facts
from shardwright.migrations.drift import find_drift
from shardwright.migrations.targets import all_targets
from shardwright.topology import Server

if TYPE_CHECKING:
    from .conftest import Fleet

BY_HAND = [
    ("ALTER TABLE posts ADD COLUMN extra int", "column posts.extra exists here but not elsewhere: integer"),
    ("DROP INDEX posts_account", "index posts.posts_account is missing: CREATE INDEX posts_account ON posts"),
    (
        "ALTER TABLE likes ALTER COLUMN made_at TYPE timestamp",
        "column likes.made_at is timestamp without time zone",
    ),
    (
        "ALTER TABLE accounts ALTER COLUMN mood SET DEFAULT 'loud'",
        "column accounts.mood is mood DEFAULT 'loud'::mood NOT NULL, elsewhere mood DEFAULT 'calm'::mood NOT NULL",
    ),
    ("ALTER TABLE accounts ALTER COLUMN made_at DROP NOT NULL", "column accounts.made_at is timestamp with"),
    (
        "ALTER TABLE posts DROP CONSTRAINT likes_positive",
        "constraint posts.likes_positive is missing: CHECK ((likes_count >= 0))",
    ),
    ("ALTER TABLE posts VALIDATE CONSTRAINT caption_short", "constraint posts.caption_short is CHECK"),
    ("DROP TRIGGER count_like ON likes", "trigger likes.count_like is missing"),
    ("DROP TRIGGER shardwright_guard ON posts", "guard posts.shardwright_guard is missing"),
    ("ALTER TABLE accounts DISABLE TRIGGER shardwright_guard", "/* DISABLED */, elsewhere CREATE TRIGGER"),
    (
        "CREATE OR REPLACE FUNCTION shorten(caption text) RETURNS text LANGUAGE sql IMMUTABLE RETURN left(caption, 9)",
        "function shorten(text) is CREATE OR REPLACE FUNCTION shorten",
    ),
    ("CREATE TABLE stray ()", "table stray exists here but not elsewhere"),
    ("ALTER TABLE posts SET (fillfactor = 70)", "table posts is WITH (fillfactor=70), elsewhere WITH"),
    ("ALTER TYPE mood ADD VALUE 'sad'", "type mood is CREATE TYPE mood AS ENUM ('calm', 'loud', 'sad')"),
    (
        "ALTER DOMAIN username DROP CONSTRAINT username_shape",
        "type username is CREATE DOMAIN username AS text",
    ),
    ("DROP VIEW a_summary", "view a_summary is missing: CREATE VIEW a_summary AS"),
    ("DROP STATISTICS posts_together", "statistics posts.posts_together is missing"),
    ("COMMENT ON TABLE accounts IS 'other'", "comment accounts. is COMMENT ON TABLE accounts IS 'other'"),
    ("DROP FUNCTION next_ids(integer)", "library next_ids(integer) is missing"),
    (
        "ALTER TABLE posts REPLICA IDENTITY FULL",
        "setting posts.replica identity exists here but not elsewhere",
    ),
    (
        "ALTER TABLE posts ENABLE ROW LEVEL SECURITY",
        "setting posts.row security exists here but not elsewhere",
    ),
    ("CREATE POLICY own ON posts USING (account_id = 1)", "policy posts.own exists here but not elsewhere"),
    (
        "CREATE SEQUENCE visits",
        "sequence visits exists here but not elsewhere: CREATE SEQUENCE visits AS bigint",
    ),
    (
        "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 's0003.posts_caption'::regclass",
        "/* INVALID */, elsewhere CREATE INDEX",
    ),
]


@pytest.fixture
async def settled(fleet: Fleet) -> Fleet:
    """Eight shards alike, on two servers."""
    fleet.put_example()
    await fleet.migrator().apply()
    assert await fleet.migrator().drift() == []
    return fleet


@pytest.mark.slow
async def test_every_change_by_hand_is_found_and_named(settled: Fleet) -> None:
    for sql, _ in BY_HAND:
        await settled.run(3, sql)

    found = [str(difference) for difference in await settled.migrator().drift()]

    owner = (await settled.map()).server_of(3).name
    assert all(text.startswith(f"s0003 on {owner}: ") for text in found)
    for sql, expected in BY_HAND:
        assert any(expected in text for text in found), (sql, found)
    assert len(found) == len(BY_HAND), found


@pytest.mark.slow
async def test_columns_in_another_order_are_found(settled: Fleet) -> None:
    await settled.run(6, 'ALTER TABLE accounts DROP COLUMN "order"')
    await settled.run(6, 'ALTER TABLE accounts ADD COLUMN "order" integer NOT NULL DEFAULT 0')

    (difference,) = await settled.migrator().drift()

    assert difference.what == "order of the columns of accounts"
    assert difference.found == "id, username, mood, made_at, order"


@pytest.mark.slow
async def test_partitions_created_and_dropped_by_time_are_not_drift(settled: Fleet) -> None:
    for shard in range(8):
        await settled.run(shard, "CREATE TABLE days (id bigint PRIMARY KEY) PARTITION BY RANGE (id)")
        await settled.run(
            shard,
            "CREATE TRIGGER shardwright_guard BEFORE INSERT ON days FOR EACH STATEMENT EXECUTE FUNCTION guard()",
        )
    await settled.run(3, "CREATE TABLE days__20260115 PARTITION OF days FOR VALUES FROM (1) TO (2)")
    assert await settled.migrator().drift() == []

    await settled.run(3, "CREATE TABLE days_old PARTITION OF days FOR VALUES FROM (0) TO (1)")
    assert [each.what for each in await settled.migrator().drift()] == ["table days_old"]


@pytest.mark.slow
async def test_servers_are_compared_with_each_other_too(settled: Fleet) -> None:
    await settled.run(0, "ALTER TABLE common.outbox ADD COLUMN extra text")

    (difference,) = (await settled.migrator().status()).drift

    assert difference.target.number is None
    assert difference.what == "column outbox.extra"


@pytest.mark.slow
async def test_shards_at_different_versions_are_behind_and_have_not_drifted(settled: Fleet) -> None:
    settled.put("shard/0008_title", "ALTER TABLE posts ADD COLUMN title text;")
    await settled.migrator().apply(shards=[1, 2])

    status = await settled.migrator().status()

    assert list(status.drift) == []
    assert {each.target.number for each in status.behind} == {0, 3, 4, 5, 6, 7}
    assert not status.is_up_to_date


@pytest.mark.slow
async def test_a_replay_is_the_reference_even_when_most_shards_have_drifted(
    settled: Fleet, servers: Mapping[str, LocalServer]
) -> None:
    for shard in range(7):
        await settled.run(shard, "ALTER TABLE posts ADD COLUMN extra int")

    by_majority = await settled.migrator().drift()
    by_replay = await settled.migrator().drift(replay_dsn=servers["b"].dsn())

    assert [difference.target.number for difference in by_majority] == [7]
    assert [difference.target.number for difference in by_replay] == list(range(7))


async def test_a_server_lost_on_the_way_is_named(fleet: Fleet) -> None:
    lost = (await fleet.map()).with_server(Server("b", "postgresql://nobody@127.0.0.1:1/none"))

    with pytest.raises(ServerUnavailable, match="server b cannot be reached"):
        await find_drift(lost, dict.fromkeys(all_targets(lost), 0))


async def test_an_empty_shard_has_only_the_library_s_own_objects(fleet: Fleet) -> None:
    async with fleet.on(0) as connection:
        facts = await read_facts(connection, ["s0000"])

    assert {fact.kind for fact in facts["s0000"]} == {"library"}
    assert "next_id()" in {fact.name for fact in facts["s0000"]}
