"""An installation of release 0.1.0 is brought forward: it ends like a new one, keeps its guards, grants and ids."""

import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

import asyncpg
import pytest
from old_installation import QUERIES, SHARDS, Installation, OldRouter, server_of, shard_sql

from shardwright.errors import SetupInvalid
from shardwright.ids import DEFAULT_EPOCH_MS, Layout, lease_ids
from shardwright.local import LocalServer
from shardwright.migrations import (
    LibraryStatus,
    MigratorOptions,
    Release,
    Step,
    read_library_status,
    upgrade_library,
)
from shardwright.routing import Shards
from shardwright.topology import (
    LIBRARY_VERSION,
    SQLSTATE_NOT_OWNER,
    Directory,
    RoleSet,
    ensure_roles,
    fetch_rows,
    guard_function_sql,
    hash_key,
    is_owned,
    open_connection,
    server_sql,
    set_owned,
)

ALL = 1 + 2 + SHARDS
QUICK = MigratorOptions(lock_timeout_ms=50)
FRESH = Callable[[LocalServer], Awaitable[str]]

KEPT = {
    (
        "shardwright",
        "function",
        "shardwright.reserve_ticks(integer,regclass,regclass,regclass,bigint,bigint,bigint,bigint)",
    )
}
"""What shards of version 1 call, and statements that began before the upgrade: a server keeps it."""

# Everything that the library creates, without what depends on the order in which it was.
_OWN = "n.nspname ~ '^(shardwright|shardwright_directory|common|s[0-9]{4})$'"
_CATALOG = f"""
SELECT n.nspname, 'function', p.oid::regprocedure::text, pg_get_functiondef(p.oid)
FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
WHERE {_OWN} AND p.proname !~ '^[qg]_.*_[0-9a-f]{{16}}$'
UNION ALL
SELECT n.nspname, 'sequence', c.relname, concat_ws(' ', c.relpersistence, s.seqmin, s.seqmax, s.seqincrement,
  s.seqcycle, s.seqcache, format_type(s.seqtypid, NULL))
FROM pg_sequence s JOIN pg_class c ON c.oid = s.seqrelid JOIN pg_namespace n ON n.oid = c.relnamespace WHERE {_OWN}
UNION ALL
SELECT n.nspname, 'column', c.relname || '.' || a.attname,
  concat_ws(' ', format_type(a.atttypid, a.atttypmod), a.attnotnull, pg_get_expr(d.adbin, d.adrelid))
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE {_OWN} AND c.relkind IN ('r', 'p') AND c.relname NOT IN ('posts', 'dispatch_functions') AND a.attnum > 0
  AND NOT a.attisdropped
UNION ALL
SELECT n.nspname, 'constraint', c.relname || '.' || k.conname, pg_get_constraintdef(k.oid)
FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE {_OWN} AND c.relname NOT IN ('posts', 'dispatch_functions')
"""


async def read_catalog(dsn: str) -> set[tuple[str, ...]]:
    conn = await open_connection(dsn, "a server")
    try:
        return {tuple(row) for row in await fetch_rows(conn, _CATALOG)}
    finally:
        await conn.close()


async def status_of(installation: Installation) -> LibraryStatus:
    return await read_library_status(installation.directory)


async def test_what_release_0_1_0_made_counts_as_version_1(installation: Installation) -> None:
    status = await status_of(installation)

    assert status.directory == 1
    assert [(each.name, each.version) for each in status.servers] == [("a", 1), ("b", 1)]
    assert {n: v for each in status.servers for n, v in each.shards.items()} == dict.fromkeys(
        range(SHARDS), 1
    )
    assert status.behind == ALL
    assert status.advice == "run shardwright upgrade"


@pytest.mark.slow
async def test_an_upgraded_installation_equals_a_new_one(
    installation: Installation, servers: Mapping[str, LocalServer], fresh_database: FRESH
) -> None:
    dsns = {name: await fresh_database(server) for name, server in servers.items()}
    fresh = await Directory.open(dsns["a"])
    await fresh.create()
    for name, dsn in dsns.items():
        await fresh.add_server(name, dsn)
    await fresh.add_shards(SHARDS)
    assert (await read_library_status(fresh)).behind == 0
    await fresh.close()
    seen: list[tuple[int, int]] = []

    report = await upgrade_library(
        installation.directory, progress=lambda done, total: seen.append((done, total))
    )

    assert report.upgraded == ALL
    assert seen[-1] == (ALL, ALL)
    assert (await status_of(installation)).behind == 0
    for name, dsn in dsns.items():
        upgraded, new = await read_catalog(installation.dsns[name]), await read_catalog(dsn)
        assert {each[:3] for each in upgraded - new} == KEPT
        assert new - upgraded == set()
    assert (await upgrade_library(installation.directory)).upgraded == 0


@pytest.mark.slow
async def test_routers_of_both_releases_work_before_and_after(
    installation: Installation, old_router: OldRouter
) -> None:
    numbers = range(4)
    async with await Shards.open(installation.dsns["a"], queries=[QUERIES]) as shards:
        await old_router.works(numbers)
        await new_router_works(shards, installation, numbers)

        await upgrade_library(installation.directory)

        await old_router.works(numbers)
        await new_router_works(shards, installation, numbers)
    reopened = await OldRouter.open(installation.dsns)
    await reopened.works(numbers)
    await reopened.close()


async def new_router_works(shards: Shards, installation: Installation, numbers: range) -> None:
    for number in numbers:
        made = cast("int", await shards.shard(number).fetch_value(QUERIES.add, author_id=1, caption="new"))
        assert await shards.owner(made).execute(QUERIES.change, id=made, caption="changed") == 1
        row = await shards.owner(made).fetch_one(QUERIES.find, id=made)
        assert row is not None
        assert tuple(cast("Any", row)) == (made, 1, "changed")
        assert len(await shards.gather(QUERIES.get, [made])) == 1
        conn = await open_connection(installation.dsns[server_of(number)], "a server")
        lease = await lease_ids(conn, number, shards.map.layout, 5)
        await conn.close()
        assert lease.draw() > made


@pytest.mark.slow
async def test_a_copy_that_refuses_writes_goes_on_refusing(installation: Installation) -> None:
    conn = await open_connection(installation.dsns["b"], "b")
    await conn.execute(guard_function_sql(3, owned=False))
    await installation.run("a", shard_sql(5))  # a copy that the map does not know
    await installation.run("a", guard_function_sql(5, owned=False))

    await upgrade_library(installation.directory)

    assert await installation.value("a", "SELECT s0005.library_version()") == LIBRARY_VERSION
    with pytest.raises(asyncpg.PostgresError, match="not owned"):
        await installation.run("a", "INSERT INTO s0005.posts (author_id, caption) VALUES (1, 'x')")

    assert not await is_owned(conn, 3)
    assert await is_owned(conn, 5)
    with pytest.raises(asyncpg.PostgresError) as refused:
        await conn.execute("INSERT INTO s0003.posts (author_id, caption) VALUES (1, 'x')")
    assert cast("Any", refused.value).sqlstate == SQLSTATE_NOT_OWNER
    for draw in ("next_id()", "next_ids(2)", "reserve_ticks(2)"):
        with pytest.raises(asyncpg.PostgresError, match="shard 3 is not owned by this server"):
            await conn.execute(f"SELECT s0003.{draw}")
    await conn.execute("INSERT INTO s0005.posts (author_id, caption) VALUES (1, 'x')")
    await conn.close()


@pytest.mark.slow
async def test_steps_run_once_in_order_around_the_functions(installation: Installation) -> None:
    third, fourth = LIBRARY_VERSION + 1, LIBRARY_VERSION + 2
    steps = (
        Step(fourth, "shard", "insert", "INSERT INTO @schema@.log VALUES ('@schema@')", after_functions=True),
        Step(third, "shard", "log", "CREATE TABLE @schema@.log (name text);"),
        Step(third, "server", "note", "CREATE TABLE shardwright.note (); CREATE TABLE shardwright.note_2 ()"),
        Step(third, "directory", "hint", "ALTER TABLE shardwright_directory.servers ADD COLUMN hint text"),
        Step(fourth + 1, "shard", "future", "SELECT 1 / 0"),
    )
    await upgrade_library(installation.directory, release=Release(third, steps))
    await upgrade_library(installation.directory, release=Release(fourth, steps))
    await upgrade_library(installation.directory, release=Release(fourth, steps))

    assert await installation.shard_value(7, "SELECT array_agg(name) FROM @.log") == ["s0007"]
    assert await installation.shard_value(7, "SELECT @.library_version()") == fourth


@pytest.mark.parametrize("schema", ["shardwright_directory", "shardwright", "s0004"])
@pytest.mark.slow
async def test_what_is_newer_than_the_library_is_refused(installation: Installation, schema: str) -> None:
    await installation.run(
        "a", f"CREATE FUNCTION {schema}.library_version() RETURNS integer LANGUAGE sql AS 'SELECT 999'"
    )
    with pytest.raises(SetupInvalid, match=r"has version 999 of .* upgrade the package"):
        await upgrade_library(installation.directory)

    status = await status_of(installation)
    assert status.newest == 999
    assert "pip install" in status.advice
    assert await installation.value("b", "SELECT to_regprocedure('shardwright.library_version()')") is None


@pytest.mark.slow
async def test_a_shard_is_given_away_only_after_the_upgrade(installation: Installation) -> None:
    conn = await open_connection(installation.dsns["a"], "a")
    with pytest.raises(SetupInvalid, match="run `shardwright upgrade` first"):
        await set_owned(conn, 0, owned=False)
    await conn.execute(
        server_sql(Layout(DEFAULT_EPOCH_MS))
    )  # as if killed after the server, before its shards
    with pytest.raises(SetupInvalid, match="run `shardwright upgrade` first"):
        await set_owned(conn, 0, owned=False)
    assert await is_owned(conn, 0)

    await upgrade_library(installation.directory)
    await set_owned(conn, 0, owned=False)

    assert not await is_owned(conn, 0)
    await conn.close()


@pytest.mark.slow
async def test_a_newer_installation_is_not_set_back_by_init(installation: Installation) -> None:
    await upgrade_library(installation.directory, release=Release(LIBRARY_VERSION + 1))

    with pytest.raises(SetupInvalid, match=r"the directory .* upgrade the package"):
        await installation.directory.create()
    with pytest.raises(SetupInvalid, match=r"server a .* upgrade the package"):
        await installation.directory.add_server("a", installation.dsns["a"])
    with pytest.raises(SetupInvalid, match="upgrade the package"):
        await installation.directory.add_shards(1)


@pytest.mark.slow
async def test_an_older_installation_gets_no_new_shards_before_it_is_upgraded(
    installation: Installation,
) -> None:
    await installation.directory.create()
    await installation.directory.add_server("a", installation.dsns["a"])
    with pytest.raises(SetupInvalid, match="run `shardwright upgrade` first"):
        await installation.directory.ensure_shards(SHARDS + 2)
    assert (await status_of(installation)).behind == ALL

    await upgrade_library(installation.directory)
    shard_map = await installation.directory.ensure_shards(SHARDS + 2)

    assert len(shard_map.owners) == SHARDS + 2
    assert (await status_of(installation)).behind == 0


@pytest.mark.slow
async def test_functions_that_an_older_release_replaced_are_put_back(installation: Installation) -> None:
    await upgrade_library(installation.directory)
    await installation.run(
        "b",
        "CREATE OR REPLACE FUNCTION shardwright.lookup_shard(key text, lookup_shards integer) RETURNS integer "
        "LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT AS 'SELECT 0'",
    )
    assert (await status_of(installation)).findings() == [
        "an older release has replaced functions of shardwright on server b"
    ]

    assert (await upgrade_library(installation.directory)).upgraded == 1
    assert await installation.value("b", "SELECT shardwright.lookup_shard('ana', 16)") == hash_key("ana") % 16
    assert (await status_of(installation)).findings() == []


@pytest.mark.slow
@pytest.mark.parametrize("signs_in", ["migrator", "superuser"])
async def test_roles_and_grants_hold_for_new_functions(installation: Installation, signs_in: str) -> None:
    names = RoleSet(f"up_{secrets.token_hex(4)}")
    passwords = dict.fromkeys(names.logins, "word")
    for dsn in installation.dsns.values():
        await ensure_roles(dsn, names, passwords)
    migrator, runtime = (as_role(installation.dsns, role) for role in (names.migrator, names.runtime))
    forbidden = await Directory.open(runtime["a"], dsns=runtime)
    with pytest.raises(SetupInvalid, match=r"belongs to .*_owner: sign in as the migrator"):
        await upgrade_library(forbidden)
    await forbidden.close()

    dsns = migrator if signs_in == "migrator" else installation.dsns
    directory = await Directory.open(dsns["a"], dsns=dsns)
    new_function = Step(
        LIBRARY_VERSION + 1,
        "shard",
        "a function",
        "CREATE FUNCTION @schema@.another() RETURNS integer LANGUAGE sql AS 'SELECT 7'",
    )
    await upgrade_library(directory, release=Release(LIBRARY_VERSION + 1, (new_function,)))
    await directory.close()

    for dsn in installation.dsns.values():
        report = await ensure_roles(dsn, names, passwords)
        assert report.adopted == ()
    conn = await open_connection(runtime["a"], "a")
    assert await conn.fetchval("SELECT s0000.another() + s0000.library_version()") == 7 + LIBRARY_VERSION + 1
    assert await conn.fetchval("SELECT shardwright.library_version()") == LIBRARY_VERSION + 1
    await conn.execute("INSERT INTO s0000.posts (author_id, caption) VALUES (1, 'x')")
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await conn.execute(
            "CREATE OR REPLACE FUNCTION s0000.another() RETURNS integer LANGUAGE sql AS 'SELECT 8'"
        )
    public = (
        "SELECT count(*) FROM pg_proc p, aclexplode(p.proacl) a WHERE p.proname = 'another' AND a.grantee = 0"
    )
    assert await conn.fetchval(public) == 0
    await conn.close()


def as_role(dsns: dict[str, str], role: str) -> dict[str, str]:
    return {name: f"postgresql://{role}:word@{dsn.rpartition('@')[2]}" for name, dsn in dsns.items()}
