"""A superuser's installation is brought forward to roles; what needs DDL at run time has a way of its own."""

from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import msgspec
import pytest

from tests.support import make_databases, on_server, with_roles
from tests.template_databases import ROLE_PREFIX
from tintype.base.errors import SettingsInvalid
from tintype.base.settings import Settings, as_migrator
from tintype.schema import QUERY_FILES, apply_schema, ensure_database_roles
from tintype.wiring import QUERIES, Rooms, open_rooms

pytestmark = pytest.mark.slow

FOREIGN = """
SELECT n.nspname, c.relname AS name FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname ~ '^(s[0-9]{4}|common|shardwright.*)$' AND c.relowner <> '%(owner)s'::regrole
UNION ALL SELECT n.nspname, p.proname FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
WHERE n.nspname ~ '^(s[0-9]{4}|common|shardwright.*)$' AND p.proowner <> '%(owner)s'::regrole
  AND n.nspname <> 'shardwright_events'  -- an event trigger's function, which stays the superuser's
"""
FORGET_VERSIONS = """
DO $$ BEGIN EXECUTE (
  SELECT string_agg(format('DROP FUNCTION %s', p.oid::regprocedure), ';') FROM pg_proc AS p
  WHERE p.proname = 'library_version'
); END $$
"""
"""What is left is as an earlier release of the shard library made it."""
DEFINERS = """
SELECT p.proname, coalesce(array_to_string(p.proconfig, ' '), '') AS config,
       has_function_privilege('public', p.oid, 'EXECUTE') AS is_public
FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
WHERE p.prosecdef AND n.nspname !~ '^pg_'
"""


@pytest.fixture
async def old_settings(engines: dict[str, Any], settings: Settings) -> AsyncIterator[Settings]:
    """An installation of an earlier release, in which one superuser does everything."""
    name = f"{settings.namespace}_old"
    databases = tuple(await make_databases(engines["postgres"], name))
    made = msgspec.structs.replace(
        settings, postgres=databases, postgres_migrator=(), postgres_admin=(), namespace=name, shard_count=2
    )
    await apply_schema(made)
    yield made
    for dsn in engines["postgres"]:
        await on_server(dsn, f'DROP DATABASE "{name}" WITH (FORCE)')


async def test_an_installation_of_one_superuser_is_brought_forward(old_settings: Settings) -> None:
    before = msgspec.structs.replace(old_settings, postgres_admin=old_settings.postgres)
    for dsn in before.postgres:
        await on_server(dsn, FORGET_VERSIONS)
    current = await with_roles(before)
    applied = await apply_schema(current)

    assert applied.upgraded == 1 + len(before.postgres) + before.shard_count
    assert (await apply_schema(current)).upgraded == 0
    for dsn in before.postgres:
        assert await on_server(dsn, FOREIGN % {"owner": f"{before.namespace}_owner"}) == []
    async with open_rooms(current, process="tests") as rooms:
        await rooms.stories.rotate_partitions()
    again = await ensure_database_roles(current)
    assert again.adopted == 0


async def test_without_the_migrators_address_a_migration_says_which_setting_is_missing(
    settings: Settings,
) -> None:
    with pytest.raises(SettingsInvalid, match="same databases"):
        as_migrator(msgspec.structs.replace(settings, postgres_migrator=settings.postgres[:1]))
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await apply_schema(msgspec.structs.replace(settings, postgres_migrator=()))


def test_every_query_of_the_application_is_among_those_that_are_installed() -> None:
    texts = "\n".join(path.read_text() for path in QUERY_FILES)
    missing = [query.name for room in QUERIES for query in room if f"name: {query.name}" not in texts]
    assert missing == []


async def test_the_application_needs_no_query_that_is_not_installed(opened_rooms: Rooms) -> None:
    for name in opened_rooms.shards.map.servers:
        dsn = opened_rooms.settings.postgres_admin[int(name.removeprefix("pg")) - 1]
        rows = await on_server(dsn, "SELECT key FROM shardwright.dispatch_functions")
        installed = {row["key"].split()[3] for row in rows}
        assert {query.digest for room in QUERIES for query in room} <= installed


async def test_functions_with_more_rights_have_a_fixed_search_path_and_are_not_everybodys(
    settings: Settings,
) -> None:
    for dsn in settings.postgres_admin:
        found = await on_server(dsn, DEFINERS)
        assert {row["proname"] for row in found} == {
            "add_story_days",
            "drop_story_days",
            "guard_tables",
            "sweep_outbox",
        }
        for row in found:
            assert "search_path=pg_catalog, pg_temp" in row["config"]
            assert not row["is_public"]


@pytest.mark.parametrize(
    "call",
    [
        "common.add_story_days(99999, now(), 1)",
        "common.add_story_days(-1, now(), 1)",
        "common.add_story_days(NULL, now(), 1)",
        "common.add_story_days({shard}, now(), 100)",
        "common.add_story_days({shard}, now(), 0)",
        "common.add_story_days({shard}, now() - interval '9 days', 1)",
        "common.add_story_days({shard}, 'infinity', 1)",
        "common.add_story_days({shard}, NULL, 1)",
        "common.drop_story_days(8191)",
    ],
)
async def test_story_partitions_are_created_within_limits_only(opened_rooms: Rooms, call: str) -> None:
    number = next(number for number, name in opened_rooms.shards.map.owners.items() if name == "pg1")
    with pytest.raises(asyncpg.InvalidParameterValueError):
        await on_server(opened_rooms.settings.postgres[0], f"SELECT {call.format(shard=number)}")


async def test_a_reader_creates_no_partitions(settings: Settings, opened_rooms: Rooms) -> None:
    number = next(number for number, name in opened_rooms.shards.map.owners.items() if name == "pg1")
    of_roles = msgspec.structs.replace(settings, namespace=ROLE_PREFIX)
    roles = await ensure_database_roles(of_roles, reader_password="for reading")
    reader = roles.addresses[f"{ROLE_PREFIX}_reader"][0]
    assert await on_server(reader, f"SELECT count(*) FROM s{number:04}.stories")
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await on_server(reader, f"SELECT common.add_story_days({number}, now(), 1)")
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await on_server(reader, f"DELETE FROM s{number:04}.stories")
