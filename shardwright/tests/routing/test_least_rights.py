"""The role set, and a router that may create nothing."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import pytest
from routing_test_cluster import QUERIES, Cluster, OpenShards, make_posts

from shardwright.errors import SetupInvalid
from shardwright.local import LocalServer
from shardwright.migrations import Migrator
from shardwright.routing import Queries, Shards, install_queries
from shardwright.routing.function_installer import drop_unused
from shardwright.topology import Directory, RoleSet, ensure_roles, fetch_rows, fetch_value, open_connection

ROLES = RoleSet("leased")
PASSWORD = "for tests alone"


def signed_in_as(role: str, dsn: str) -> str:
    parts = urlsplit(dsn)
    return urlunsplit(parts._replace(netloc=f"{role}:for%20tests%20alone@{parts.netloc.rpartition('@')[2]}"))


@dataclass
class Shared:
    """A cluster whose databases were given to the roles."""

    cluster: Cluster

    def dsns(self, role: str) -> dict[str, str]:
        return {name: signed_in_as(role, dsn) for name, dsn in self.cluster.dsns.items()}

    async def directory(self, role: str) -> Directory:
        dsns = self.dsns(role)
        return await Directory.open(dsns["a"], dsns=dsns)


@pytest.fixture
async def shared(own_cluster: Cluster) -> Shared:
    """What one superuser owned so far."""
    for dsn in own_cluster.dsns.values():
        await ensure_roles(dsn, ROLES, dict.fromkeys(ROLES.logins, PASSWORD))
    return Shared(own_cluster)


@pytest.fixture
async def runtime(shared: Shared, open_shards: OpenShards) -> AsyncIterator[Shards]:
    """A router of the application's role."""
    dsns = shared.dsns(ROLES.runtime)
    shards = await Shards.open(dsns["a"], queries=[QUERIES], dsns=dsns)
    yield shards
    await shards.close()


async def connect(dsn: str) -> asyncpg.Connection:
    return await open_connection(dsn, "a server")


async def counted_functions(cluster: Cluster) -> int:
    conn = await connect(cluster.dsns["a"])
    sql = (
        "SELECT count(*) FROM pg_proc WHERE pronamespace = 'shardwright'::regnamespace AND proname ~ '^[qg]_'"
    )
    found: int = await fetch_value(conn, sql)
    await conn.close()
    return found


async def test_a_runtime_role_creates_nothing_and_serves_every_kind_of_query(
    shared: Shared, runtime: Shards
) -> None:
    ids = [await runtime.shard(n).fetch_value(QUERIES.add, author_id=1, caption=f"in {n}") for n in range(4)]

    assert await runtime.shard(0).execute(QUERIES.change, id=ids[0], caption="changed") == 1
    assert await runtime.shard(0).execute(QUERIES.change, id=1, caption="changed") == 0
    assert await runtime.shard(0).execute(QUERIES.change_hot, id=ids[0], caption="changed") == 1
    assert await runtime.shard(0).fetch(QUERIES.change_hot, id=1, caption="changed") == []
    async with runtime.shard(0).begin() as transaction:
        assert await transaction.execute(QUERIES.change_hot, id=ids[0], caption="changed") == 1
        assert await transaction.execute(QUERIES.change, id=ids[0], caption="changed") == 1
        assert await transaction.fetch_one(QUERIES.find_hot, id=ids[0]) is not None
    for query in (QUERIES.find, QUERIES.find_hot):
        found = await runtime.owner(ids[0]).fetch_one(query, id=ids[0])
        assert found is not None
        assert found["caption"] == "changed"
    gathered = await runtime.gather(QUERIES.get, ids)
    assert sorted(row["id"] for row in gathered) == sorted(ids)
    everywhere = await runtime.everywhere().fetch(QUERIES.captions)
    assert sorted((row["shard_number"], row["caption"]) for row in everywhere) == [
        (0, "changed"),
        (1, "in 1"),
        (2, "in 2"),
        (3, "in 3"),
    ]
    assert await runtime.shard(1).fetch_one(QUERIES.find, id=5) is None
    assert await counted_functions(shared.cluster) == 0


@pytest.mark.slow
async def test_installed_functions_are_used_by_a_role_that_could_not_create_them(
    shared: Shared, runtime: Shards, caplog: pytest.LogCaptureFixture
) -> None:
    directory = await shared.directory(ROLES.migrator)
    first = await install_queries(directory, [QUERIES])
    again = await install_queries(directory, [QUERIES])

    assert all(report.created > len(QUERIES) for report in first), "gathers have functions of their own"
    assert [report.created for report in again] == [0, 0]
    assert not any(report.failed for report in [*first, *again])

    new_id = await runtime.shard(2).fetch_value(QUERIES.add, author_id=1, caption="x")
    assert [row["id"] for row in await runtime.gather(QUERIES.get, [new_id])] == [new_id]
    assert (await runtime.shard(2).fetch_one(QUERIES.find_hot, id=new_id)) is not None
    assert await runtime.shard(2).execute(QUERIES.change_hot, id=new_id, caption="x") == 1
    async with runtime.shard(2).begin() as transaction:
        assert await transaction.execute(QUERIES.change_hot, id=new_id, caption="x") == 1
        assert await transaction.fetch_value(QUERIES.whoami)
    assert len(await runtime.everywhere().fetch(QUERIES.captions)) == 1
    assert "query.not_installed" not in caplog.text
    await directory.close()


async def test_a_query_without_a_function_is_found_again_once_it_is_installed(
    shared: Shared, runtime: Shards, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shardwright.routing.server_functions.LOOK_AGAIN_S", 0.0)
    await runtime.shard(0).fetch(QUERIES.captions)
    await runtime.shard(0).fetch(QUERIES.captions)
    assert caplog.text.count("query.not_installed: captions") == 1

    directory = await shared.directory(ROLES.migrator)
    await install_queries(directory, [QUERIES])
    await runtime.shard(0).fetch(QUERIES.captions)

    server = runtime.server_for(0)
    assert {key.query.name for key in server.functions.installed} == {"captions"}
    await directory.close()


@pytest.mark.slow
async def test_a_function_of_older_columns_serves_until_it_no_longer_fits(
    shared: Shared, runtime: Shards, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shardwright.routing.server_functions.LOOK_AGAIN_S", 0.0)
    directory = await shared.directory(ROLES.migrator)
    await install_queries(directory, [QUERIES])
    number = runtime.map.shards_on("a")[0]
    new_id = await runtime.shard(number).fetch_value(QUERIES.add, author_id=7, caption="kept")

    await change_tables(shared, "ADD COLUMN place text")
    after_addition = await fresh_answer(shared, number, new_id)
    await change_tables(shared, "ALTER COLUMN author_id TYPE integer")
    after_change = await fresh_answer(shared, number, new_id)

    assert after_addition == after_change == (new_id, 7, "kept")
    assert (await runtime.shard(number).fetch_one(QUERIES.find, id=new_id)) is not None
    await directory.close()


async def change_tables(shared: Shared, change: str) -> None:
    for name, dsn in shared.dsns(ROLES.migrator).items():
        conn = await connect(dsn)
        for number in (await shared.cluster.directory.load()).shards_on(name):
            await conn.execute(f"ALTER TABLE s{number:04d}.posts {change}")
        await conn.close()


async def fresh_answer(shared: Shared, number: int, post_id: int) -> tuple[object, ...]:
    """What a router answers that was opened just now."""
    dsns = shared.dsns(ROLES.runtime)
    shards = await Shards.open(dsns["a"], queries=[QUERIES], dsns=dsns)
    try:
        return tuple(await shards.shard(number).fetch_one(QUERIES.find, id=post_id) or ())
    finally:
        await shards.close()


FORBIDDEN = [
    "CREATE SCHEMA mine",
    "CREATE TABLE s0000.mine (id bigint)",
    "CREATE TABLE public.mine (id bigint)",
    "CREATE TEMPORARY TABLE mine (id bigint)",
    "CREATE FUNCTION shardwright.mine() RETURNS int LANGUAGE sql RETURN 1",
    "ALTER TABLE s0000.posts ADD COLUMN mine text",
    "DROP TABLE s0000.posts",
    "TRUNCATE s0000.posts",
    "DROP FUNCTION s0000.guard()",
    "ALTER TABLE s0000.posts DISABLE TRIGGER shardwright_guard",
    "SET session_replication_role = replica",
    "SET ROLE leased_owner",
    "UPDATE shardwright_directory.settings SET map_version = 99",
    "DELETE FROM shardwright_directory.shards",
    "UPDATE shardwright.identity SET server_name = 'mine'",
    "CREATE ROLE mine",
    "COPY s0000.posts TO PROGRAM 'true'",
    "SELECT pg_read_file('/etc/passwd')",
]


@pytest.mark.parametrize("role", [ROLES.runtime, ROLES.reader])
async def test_no_ddl_and_no_way_around_the_guards(shared: Shared, role: str) -> None:
    conn = await connect(shared.dsns(role)["a"])
    for statement in FORBIDDEN:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await conn.execute(statement)
    await conn.close()


async def test_a_reader_reads_and_writes_nothing(shared: Shared) -> None:
    conn = await connect(shared.dsns(ROLES.reader)["a"])
    assert await fetch_value(conn, "SELECT count(*) FROM s0000.posts") == 0
    for statement in (
        "INSERT INTO s0000.posts (id, author_id, caption) VALUES (1, 1, '')",
        "DELETE FROM s0000.posts",
        "SELECT s0000.next_id()",
        "SELECT setval('s0000.ids', 1)",
        "UPDATE shardwright.dispatch_functions SET asked_at = now()",
    ):
        with pytest.raises((asyncpg.InsufficientPrivilegeError, asyncpg.UndefinedTableError)):
            await conn.execute(statement)
    await conn.close()


@pytest.mark.slow
async def test_what_is_created_later_belongs_to_the_owner_and_serves_the_runtime(
    shared: Shared, runtime: Shards, tmp_path: Path
) -> None:
    (tmp_path / "shard").mkdir()
    (tmp_path / "shard" / "0001_notes.sql").write_text(
        "CREATE TABLE notes (id bigint PRIMARY KEY, body text)"
    )
    directory = await shared.directory(ROLES.migrator)

    await Migrator(directory, tmp_path).apply()
    shard_map = await directory.ensure_shards(6, prepare=make_posts)

    number = 5
    conn = await connect(shared.dsns(ROLES.runtime)[shard_map.owners[number]])
    post_id = await fetch_value(
        conn, "INSERT INTO s0005.posts (author_id, caption) VALUES (1, 'new') RETURNING id"
    )
    assert shard_map.layout.id_shard(post_id) == number
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await conn.execute("DROP TABLE s0005.posts")
    await conn.close()
    old = await connect(shared.dsns(ROLES.runtime)["a"])
    first = shard_map.shards_on("a")[0]
    await old.execute(f"INSERT INTO s{first:04d}.notes VALUES (1, 'x')")
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await old.execute(f"DELETE FROM s{first:04d}.schema_version")
    await old.close()
    await directory.close()


async def test_everything_that_exists_becomes_the_owners(shared: Shared) -> None:
    """All but the event trigger's function: its owner decides what runs when a superuser creates a table."""
    conn = await connect(shared.cluster.dsns["a"])
    foreign = await fetch_rows(
        conn,
        "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
        "WHERE n.nspname ~ '^(shardwright.*|common|s[0-9]{4})$' AND c.relowner <> 'leased_owner'::regrole "
        "UNION ALL SELECT p.proname FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace "
        "WHERE n.nspname ~ '^(shardwright.*|common|s[0-9]{4})$' AND p.proowner <> 'leased_owner'::regrole",
    )
    assert [row[0] for row in foreign] == ["guard_tables"]
    await conn.close()
    again = await ensure_roles(shared.cluster.dsns["a"], ROLES, {})
    assert (again.created, again.adopted) == ((), ())


async def test_set_ups_that_meet_finish_each_other(shared: Shared) -> None:
    await asyncio.gather(
        *(
            ensure_roles(dsn, ROLES, {ROLES.runtime: PASSWORD})
            for dsn in (*shared.cluster.dsns.values(), *shared.cluster.dsns.values())
        )
    )
    conn = await connect(shared.dsns(ROLES.runtime)["a"])
    assert await conn.fetchval("SELECT current_user") == ROLES.runtime
    await conn.close()


async def test_a_role_that_is_a_superuser_is_refused(servers: Mapping[str, LocalServer]) -> None:
    conn = await connect(servers["a"].dsn())
    await conn.execute("DROP ROLE IF EXISTS strong_runtime; CREATE ROLE strong_runtime SUPERUSER")
    with pytest.raises(SetupInvalid, match="strong_runtime exists and has more rights"):
        await ensure_roles(servers["a"].dsn(), RoleSet("strong"), {})
    await conn.execute("DROP ROLE strong_runtime")
    await conn.close()


@pytest.mark.slow
async def test_the_owner_of_a_database_needs_no_superuser(servers: Mapping[str, LocalServer]) -> None:
    admin = await connect(servers["a"].dsn())
    await admin.execute("CREATE ROLE landlord LOGIN CREATEROLE PASSWORD 'for tests alone'")
    await admin.execute("CREATE DATABASE landlords OWNER landlord")
    dsn = signed_in_as("landlord", servers["a"].dsn("landlords"))
    directory = await Directory.open(dsn)
    await directory.create()
    await directory.add_server("a", dsn)
    await directory.ensure_shards(2, prepare=make_posts)
    roles = RoleSet("let")

    report = await ensure_roles(dsn, roles, dict.fromkeys(roles.logins, PASSWORD))

    assert {"s0000", "s0001", "shardwright_directory"} <= set(report.adopted)
    runtime = await connect(signed_in_as(roles.runtime, dsn))
    assert await fetch_value(
        runtime, "INSERT INTO s0001.posts (author_id, caption) VALUES (1, '') RETURNING id"
    )
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await runtime.execute("ALTER TABLE s0001.posts ADD COLUMN mine text")
    await runtime.close()
    await directory.close()
    await admin.execute("DROP DATABASE landlords WITH (FORCE)")
    await admin.execute("DROP ROLE let_runtime, let_reader, let_migrator, let_owner, landlord")
    await admin.close()


@pytest.mark.slow
async def test_unused_functions_go_while_those_of_a_living_router_stay(
    shared: Shared, open_shards: OpenShards
) -> None:
    directory = await shared.directory(ROLES.migrator)
    await install_queries(directory, [QUERIES])
    admin = await connect(shared.cluster.dsns["a"])
    await admin.execute("UPDATE shardwright.dispatch_functions SET asked_at = now() - interval '40 days'")
    dsns = shared.dsns(ROLES.runtime)
    living = Queries.parse("-- name: captions\nSELECT caption FROM posts ORDER BY caption;")
    shards = await Shards.open(dsns["a"], queries=[living], dsns=dsns)

    await install_queries(directory, [Queries.parse("-- name: new_one\nSELECT id FROM posts;")])

    kept = await fetch_rows(admin, "SELECT function FROM shardwright.dispatch_functions ORDER BY 1")
    assert [row["function"].rpartition("_")[0] for row in kept] == ["q_captions", "q_new_one"]
    await shards.shard(shards.map.shards_on("a")[0]).fetch(living.captions)
    conn = await connect(dsns["a"])
    assert await drop_unused(conn, unused_days=0) == 0, "a runtime role drops nothing"
    await conn.close()
    await admin.close()
    await shards.close()
    await directory.close()


async def test_wrong_queries_are_reported_and_the_others_installed(shared: Shared) -> None:
    directory = await shared.directory(ROLES.migrator)
    mixed = Queries.parse("""
-- name: right
SELECT id FROM posts;
-- name: no_table
SELECT id FROM nothing;
-- name: no_sense
SELECT FROM FROM posts;
-- name: odd_ids
SELECT id FROM posts WHERE id = :ids;
""")
    for report in await install_queries(directory, [mixed]):
        assert set(report.failed) == {"no_table", "no_sense"}
        assert report.created == 2
    runtime = await shared.directory(ROLES.runtime)
    with pytest.raises(SetupInvalid, match="may not create functions"):
        await install_queries(runtime, [mixed])
    await runtime.close()
    await directory.close()


def test_a_prefix_is_checked() -> None:
    with pytest.raises(SetupInvalid, match="lower-case"):
        RoleSet('x"; DROP')
