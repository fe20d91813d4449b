"""A migration that has reached 40 of 64 shards: routers of the old and of the new release side by side."""

import functools
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import pytest
from routing_test_cluster import Cluster, OpenShards, open_cluster

from shardwright.migrations import Migrator
from shardwright.routing import (
    PartialResult,
    Queries,
    Query,
    SchemaMismatch,
    Shards,
    Transaction,
    install_queries,
)
from shardwright.topology import Directory, RoleSet, ensure_roles

SHARDS = 64
POSTS = """
CREATE TABLE posts (id bigint PRIMARY KEY DEFAULT next_id(), author_id bigint NOT NULL, caption varchar(80) NOT NULL);
CREATE TABLE notes (post_id bigint PRIMARY KEY, body text);
"""
# All that an expanding migration may do: new columns (one of which makes `author_id` ambiguous in an old join), a wider
# type, a table, a function and a unique index.
EXPAND = """
ALTER TABLE posts ADD COLUMN place text, ALTER COLUMN caption TYPE text;
ALTER TABLE notes ADD COLUMN author_id bigint;
CREATE TABLE tags (post_id bigint, tag text, PRIMARY KEY (post_id, tag));
CREATE FUNCTION shout(text) RETURNS text LANGUAGE sql IMMUTABLE RETURN upper($1);
"""
OLD = Queries.parse("""
-- name: add
INSERT INTO posts (author_id, caption) VALUES (:author_id, :caption) RETURNING id, caption;
-- name: change
UPDATE posts SET caption = :caption WHERE id = :id;
-- name: find
SELECT id, author_id, caption FROM posts WHERE id = :id;
-- name: find_hot hot
SELECT id, author_id, caption FROM posts WHERE id = :id;
-- name: change_hot hot
UPDATE posts SET caption = :caption WHERE id = :id RETURNING id, caption;
-- name: get
SELECT id, caption FROM posts WHERE id = ANY(:ids);
-- name: captions
SELECT caption FROM posts;
-- name: noted
SELECT id, author_id, body FROM posts LEFT JOIN notes ON post_id = id WHERE id = :id;
""")
NEW = Queries.parse("""
-- name: add
INSERT INTO posts (author_id, caption, place) VALUES (:author_id, :caption, :place) RETURNING id, caption, place;
-- name: change
UPDATE posts SET caption = :caption, place = :place WHERE id = :id;
-- name: find
SELECT id, author_id, caption, place FROM posts WHERE id = :id;
-- name: find_hot hot
SELECT id, caption, place FROM posts WHERE id = :id;
-- name: get
SELECT id, caption, place FROM posts WHERE id = ANY(:ids);
-- name: captions
SELECT caption, place FROM posts;
-- name: tag
INSERT INTO tags (post_id, tag) VALUES (:id, :tag) ON CONFLICT DO NOTHING;
-- name: tags
SELECT tag FROM tags WHERE post_id = :id;
-- name: shout
SELECT shout(caption) AS loud FROM posts WHERE id = :id;
-- name: find_old
SELECT id, author_id, caption FROM posts WHERE id = :id;
""")
NEW_ON_NEW_SHARDS: list[tuple[Query, dict[str, object]]] = [
    (NEW.find, {"id": 1}),
    (NEW.find_hot, {"id": 1}),
    (NEW.captions, {}),
    (NEW.tags, {"id": 1}),
    (NEW.shout, {"id": 1}),
    (NEW.change, {"id": 1, "caption": "x", "place": "y"}),
    (NEW.add, {"author_id": 1, "caption": "x", "place": "y"}),
    (NEW.tag, {"id": 1, "tag": "x"}),
]


@dataclass
class HalfMigrated:
    """64 shards at 0001, and the folder with 0002."""

    cluster: Cluster
    folder: Path

    async def reach(self, numbers: Collection[int]) -> None:
        await Migrator(self.cluster.directory, self.folder).apply(shards=numbers, lint=False)


@pytest.fixture
def open_shards(open_shards: OpenShards) -> OpenShards:
    """Routers whose first gathers may take as long as a busy machine needs for statements on 64 shards."""
    return functools.partial(open_shards, gather_deadline_s=60.0)


@pytest.fixture
async def half(
    prepared_databases: Callable[..., Awaitable[dict[str, str]]], tmp_path: Path
) -> AsyncIterator[HalfMigrated]:
    (tmp_path / "shard").mkdir()
    (tmp_path / "shard" / "0001_posts.sql").write_text(POSTS)

    async def build(dsns: dict[str, str]) -> None:
        directory = await Directory.open(dsns["a"])
        await directory.create()
        for name, dsn in dsns.items():
            await directory.add_server(name, dsn)
        await directory.add_shards(SHARDS, prepare=Migrator(directory, tmp_path).prepare)
        await directory.close()

    cluster = await open_cluster(await prepared_databases("half_migrated", build))
    (tmp_path / "shard" / "0002_places.sql").write_text(EXPAND)
    yield HalfMigrated(cluster, tmp_path)
    await cluster.directory.close()


async def check_old(shards: Shards, numbers: Collection[int]) -> dict[int, int]:
    """Every query of the old release answers on each of these shards; returns an id of each."""
    ids: dict[int, int] = {}
    for number in numbers:
        shard = shards.shard(number)
        added = await shard.fetch_one(OLD.add, author_id=7, caption=f"in {number}")
        assert added is not None
        ids[number] = post_id = added["id"]
        assert added["caption"] == f"in {number}"
        assert await shard.execute(OLD.change, id=post_id, caption=f"still {number}") == 1
        for query in (OLD.find, OLD.find_hot):
            row = await shard.fetch_one(query, id=post_id)
            assert tuple(row or ()) == (post_id, 7, f"still {number}")
        row = await shard.fetch_one(OLD.change_hot, id=post_id, caption=f"still {number}")
        assert tuple(row or ()) == (post_id, f"still {number}")
        async with shard.begin() as transaction:
            for query in (OLD.find, OLD.find_hot):
                row = await transaction.fetch_one(query, id=post_id)
                assert tuple(row or ()) == (post_id, 7, f"still {number}")
            row = await transaction.fetch_one(OLD.change_hot, id=post_id, caption=f"still {number}")
            assert tuple(row or ()) == (post_id, f"still {number}")
    gathered = await shards.gather(OLD.get, list(ids.values()))
    assert sorted(row["id"] for row in gathered.complete()) == sorted(ids.values())
    everywhere = await shards.everywhere().fetch(OLD.captions)
    assert {(row["shard_number"], row["caption"]) for row in everywhere.complete()} >= {
        (number, f"still {number}") for number in numbers
    }
    return ids


async def check_new(shards: Shards, reached: Collection[int], ids: dict[int, int]) -> None:
    """Every query of the new release answers on the shards that have 0002, and fails clearly on the others."""
    for number, post_id in ids.items():
        shard = shards.shard(number)
        assert (await shard.fetch_one(NEW.find_old, id=post_id)) is not None, (
            "shards that differ, not what it names"
        )
        if number in reached:
            await check_new_shard(shards, number, post_id)
        else:
            for query, params in NEW_ON_NEW_SHARDS:
                with pytest.raises(SchemaMismatch, match=rf"query {query.name}: .*does not exist") as failure:
                    await shard.fetch(query, **params)
                check_mismatch(failure.value, number)
            assert (await shard.fetch_one(NEW.find_old, id=post_id)) is not None
    gathered = await shards.gather(NEW.get, list(ids.values()))
    assert sorted(row["id"] for row in gathered) == sorted(ids[number] for number in ids if number in reached)
    behind = {number for error in gathered.failed.values() for number in getattr(error, "shards", ())}
    assert behind == ids.keys() - set(reached)
    everywhere = await shards.everywhere().fetch(NEW.captions)
    assert {row["shard_number"] for row in everywhere} >= ids.keys() & set(reached)
    behind = {number for error in everywhere.failed.values() for number in getattr(error, "shards", ())}
    assert behind == set(range(SHARDS)) - set(reached)
    if behind:
        with pytest.raises(PartialResult, match="is at migration 0001_posts: finish the roll-out"):
            everywhere.complete()


async def check_new_shard(shards: Shards, number: int, post_id: int) -> None:
    shard = shards.shard(number)
    assert await shard.execute(NEW.change, id=post_id, caption="both", place="here") == 1
    row = await shard.fetch_one(NEW.find, id=post_id)
    assert tuple(row or ()) == (post_id, 7, "both", "here")
    row = await shard.fetch_one(NEW.find_hot, id=post_id)
    assert tuple(row or ()) == (post_id, "both", "here")
    added = await shard.fetch_one(NEW.add, author_id=7, caption="both", place="there")
    assert tuple(added or ())[1:] == ("both", "there")
    assert await shard.execute(NEW.tag, id=post_id, tag="new") == 1
    assert await shard.fetch_value(NEW.tags, id=post_id) == "new"
    assert await shard.fetch_value(NEW.shout, id=post_id) == "BOTH"


def check_mismatch(error: SchemaMismatch, number: int) -> None:
    assert error.shards == (number,)
    assert error.version == "0001_posts"
    assert f"shard {number} (s{number:04d} on server {error.server}) is at migration 0001_posts" in str(error)
    assert "shardwright migrate" in str(error)
    assert isinstance(error, asyncpg.PostgresError), "whoever caught PostgreSQL's own error still does"


SAMPLE = [0, 1, 20, 39, 40, 41, 63]


@pytest.mark.slow
async def test_both_releases_answer_at_40_of_64_shards(half: HalfMigrated, open_shards: OpenShards) -> None:
    old = await open_shards(half.cluster, queries=OLD)
    early = await open_shards(half.cluster, queries=NEW)  # deployed before its migration
    await check_old(old, SAMPLE)

    reached = range(40)
    await half.reach(reached)
    late = await open_shards(half.cluster, queries=NEW)
    restarted = await open_shards(half.cluster, queries=OLD)

    await check_new(early, reached, await check_old(restarted, SAMPLE))
    await check_new(late, reached, await check_old(old, range(SHARDS)))

    await half.reach(range(SHARDS))
    servers = {late.server_for(number) for number in SAMPLE}
    for server in servers:
        server.fit.misfits.clear()  # as after ten seconds
    await check_new(late, range(SHARDS), await check_old(old, SAMPLE))
    assert not any(server.fit.misfits for server in servers)


@pytest.mark.slow
async def test_the_first_shard_of_a_server_may_be_the_one_that_is_behind(
    half: HalfMigrated, open_shards: OpenShards
) -> None:
    """Dispatch functions are created from the first shard's columns, unless another one has what they name."""
    reached = range(24, SHARDS)
    await half.reach(reached)
    old = await open_shards(half.cluster, queries=OLD)
    new = await open_shards(half.cluster, queries=NEW, max_connections=1, spare_connections=0)

    await check_new(new, reached, await check_old(old, SAMPLE))


@pytest.mark.slow
async def test_an_old_query_that_a_new_column_makes_ambiguous_keeps_its_function(
    half: HalfMigrated, open_shards: OpenShards
) -> None:
    before = await open_shards(half.cluster, queries=OLD)
    post_id = await before.shard(3).fetch_value(OLD.add, author_id=1, caption="kept")
    await before.shard(3).fetch(OLD.noted, id=post_id)
    await half.reach(range(SHARDS))
    restarted = await open_shards(half.cluster, queries=OLD)

    for shards in (before, restarted):
        row = await shards.shard(3).fetch_one(OLD.noted, id=post_id)
        assert tuple(row or ()) == (post_id, 1, None)


@pytest.mark.slow
async def test_types_that_differ_between_shards_do_not_fail_transactions(
    half: HalfMigrated, open_shards: OpenShards
) -> None:
    await half.reach(range(40))
    shards = await open_shards(half.cluster, queries=OLD, max_connections=1, spare_connections=0)
    for number in [0, 40, 1, 41, 0, 40]:
        async with shards.shard(number).begin() as transaction:
            assert await transaction.fetch(OLD.captions) == []
    for number in [0, 40, 1, 41]:
        assert await shards.shard(number).transact(write_and_read) is None
    for number in [2, 42, 3, 43, 2, 42]:
        async with shards.shard(number).begin() as transaction:
            await write_and_read(transaction)  # the query that does not fit comes second
            assert len(await transaction.fetch(OLD.captions)) == 1
            await transaction.raw.execute("DELETE FROM posts")
            shards.server_for(number).fit.misfits.clear()  # as after ten seconds


async def write_and_read(transaction: Transaction) -> object:
    await transaction.execute(OLD.add, author_id=1, caption="x")
    return await transaction.fetch_one(OLD.get, ids=[1])


@pytest.mark.slow
async def test_a_transaction_on_a_shard_that_is_behind_fails_clearly_and_leaves_the_connection_usable(
    half: HalfMigrated, open_shards: OpenShards
) -> None:
    await half.reach(range(40))
    shards = await open_shards(half.cluster, queries=NEW, max_connections=1, spare_connections=0)
    for number in (40, 41):
        with pytest.raises(SchemaMismatch, match='column "place" does not exist') as failure:
            async with shards.shard(number).begin() as transaction:
                await transaction.fetch(NEW.captions)
        check_mismatch(failure.value, number)
        assert await shards.shard(number).fetch(NEW.find_old, id=1) == []
    async with shards.shard(0).begin() as transaction:
        assert await transaction.fetch(NEW.captions) == []


async def test_a_query_that_no_shard_can_answer_is_raised(
    half: HalfMigrated, open_shards: OpenShards
) -> None:
    wrong = Queries.parse("-- name: wrong\nSELECT id, nothing FROM posts WHERE id = ANY(:ids)")
    shards = await open_shards(half.cluster, queries=wrong)
    with pytest.raises(SchemaMismatch, match="or correct the query"):
        await shards.shard(0).fetch(wrong.wrong, ids=[1])
    ids = [shard_id(shards, number) for number in (0, 1, 2, 3)]
    with pytest.raises(SchemaMismatch, match="and 1 more shards of this server"):
        await shards.gather(wrong.wrong, ids)
    with pytest.raises(SchemaMismatch, match=r"and 31 more shards of this server: .* …"):
        await shards.everywhere().fetch(wrong.wrong, ids=[])


def shard_id(shards: Shards, number: int) -> int:
    return 1 << 40 | number << 10


@pytest.mark.slow
@pytest.mark.parametrize("reached", [range(40), range(24, SHARDS)])
async def test_a_role_without_ddl_serves_both_releases(half: HalfMigrated, reached: range) -> None:
    roles, password = RoleSet("halved"), "for tests alone"
    for dsn in half.cluster.dsns.values():
        await ensure_roles(dsn, roles, dict.fromkeys(roles.logins, password))

    def dsns_of(role: str) -> dict[str, str]:
        places = {name: dsn.rpartition("@")[2] for name, dsn in half.cluster.dsns.items()}
        return {name: f"postgresql://{role}:for%20tests%20alone@{place}" for name, place in places.items()}

    dsns = dsns_of(roles.migrator)
    migrator = await Directory.open(dsns["a"], dsns=dsns)
    await install_queries(migrator, [OLD])
    await Migrator(migrator, half.folder).apply(shards=reached, lint=False)
    for report in await install_queries(migrator, [NEW]):
        assert report.failed == {}
    await migrator.close()
    dsns = dsns_of(roles.runtime)
    old = await Shards.open(dsns["a"], queries=[OLD], dsns=dsns)
    new = await Shards.open(dsns["a"], queries=[NEW], dsns=dsns)
    try:
        await check_new(new, reached, await check_old(old, SAMPLE))
    finally:
        await old.close()
        await new.close()
