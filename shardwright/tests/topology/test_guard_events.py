"""The event trigger: whatever plain SQL creates in a shard's schema is guarded, and nothing else is disturbed."""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import asyncpg
import pytest

from shardwright.local import LocalServer
from shardwright.topology import (
    SQLSTATE_NOT_OWNER,
    Directory,
    fetch_rows,
    fetch_value,
    find_unguarded,
    guard_tables,
    has_guard_events,
    install_guard_events,
    open_connection,
    set_owned,
)
from shardwright.topology.guard_events import EVENT_SCHEMA, EVENT_TRIGGER

GUARDS = """
SELECT c.oid::regclass::text, t.tgfoid::regprocedure::text
FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid WHERE t.tgname ~ '^shardwright_guard'
"""


@pytest.fixture
async def conn(directory: Directory, dsns: dict[str, str]) -> AsyncIterator[asyncpg.Connection]:
    """A connection to the server of shards 0 and 1, as a superuser."""
    await directory.add_server("b", dsns["b"], accepts_new=False)
    await directory.add_shards(2)
    conn = await open_connection(dsns["a"], "a")
    yield conn
    await conn.close()


async def guards(conn: asyncpg.Connection) -> dict[str, str]:
    return {row[0]: row[1] for row in await fetch_rows(conn, GUARDS)}


PLAIN_SQL = {
    "CREATE TABLE s0000.made (id bigint)": "s0000.made",
    'CREATE TABLE s0000."odd ""name" (id bigint)': 's0000."odd ""name"',
    "CREATE UNLOGGED TABLE s0000.made (id bigint)": "s0000.made",
    "CREATE TABLE s0000.made AS SELECT 1 AS id": "s0000.made",
    "SELECT 1 AS id INTO s0000.made": "s0000.made",
    "CREATE TABLE public.made (id bigint); ALTER TABLE public.made SET SCHEMA s0000": "s0000.made",
    "SET search_path = s0000; CREATE TABLE made (id bigint)": "s0000.made",
    "DO $$ BEGIN EXECUTE 'CREATE TABLE s0000.made (id bigint)'; END $$": "s0000.made",
    "CREATE TABLE s0000.days (day date) PARTITION BY RANGE (day); "
    "CREATE TABLE s0000.made PARTITION OF s0000.days DEFAULT": "s0000.made",
    "CREATE TABLE s0000.days (day date) PARTITION BY RANGE (day); "
    "CREATE TABLE public.made PARTITION OF s0000.days DEFAULT": "public.made",
    "CREATE TABLE s0000.days (day date) PARTITION BY RANGE (day); CREATE TABLE public.made (day date); "
    "ALTER TABLE s0000.days ATTACH PARTITION public.made DEFAULT": "public.made",
    "CREATE TABLE s0000.days (day date) PARTITION BY RANGE (day); "
    "CREATE TABLE public.part PARTITION OF s0000.days DEFAULT PARTITION BY RANGE (day); "
    "CREATE TABLE public.made PARTITION OF public.part DEFAULT": "public.made",
}


@pytest.mark.parametrize("sql", list(PLAIN_SQL))
@pytest.mark.slow
async def test_what_plain_sql_creates_is_guarded(conn: asyncpg.Connection, sql: str) -> None:
    await conn.execute(sql)
    made = PLAIN_SQL[sql]
    await conn.execute("SET search_path = public")

    assert (await guards(conn)).get(made.removeprefix("public.")) == "s0000.guard()"
    assert await find_unguarded(conn, ["s0000", "s0001"]) == []
    await set_owned(conn, 0, owned=False)
    with pytest.raises(asyncpg.PostgresError) as refusal:
        await conn.execute(f"DELETE FROM {made}")
    assert getattr(refusal.value, "sqlstate", None) == SQLSTATE_NOT_OWNER


async def test_a_table_moved_to_another_shard_gets_that_shard_s_guard(conn: asyncpg.Connection) -> None:
    await conn.execute("CREATE TABLE s0000.made (id bigint); ALTER TABLE s0000.made SET SCHEMA s0001")

    assert await guards(conn) == {"s0001.made": "s0001.guard()"}


async def test_a_guard_attached_by_its_own_name_takes_the_place_of_the_event_trigger_s(
    conn: asyncpg.Connection,
) -> None:
    """By functions that create a partition and then its guard, and after migrations: one is enough."""
    names = (
        "SELECT array_agg(tgrelid::regclass || ' ' || tgname ORDER BY tgrelid) FROM pg_trigger "
        "WHERE tgname ~ '^shardwright_guard'"
    )
    create = (
        "CREATE TRIGGER shardwright_guard BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON s0000.{} "
        "FOR EACH STATEMENT EXECUTE FUNCTION s0000.guard()"
    )
    await conn.execute("CREATE TABLE s0000.one (id bigint); CREATE TABLE s0000.two (id bigint)")
    assert await fetch_value(conn, names) == [
        "s0000.one shardwright_guard_by_event",
        "s0000.two shardwright_guard_by_event",
    ]
    await conn.execute(create.format("one"))
    await guard_tables(conn, 0)

    assert await fetch_value(conn, names) == ["s0000.one shardwright_guard", "s0000.two shardwright_guard"]


async def test_other_tables_are_left_alone(conn: asyncpg.Connection) -> None:
    await conn.execute("""
        CREATE TEMPORARY TABLE made (id bigint);
        CREATE TEMPORARY TABLE again ON COMMIT DROP AS SELECT 1 AS id;
        CREATE TABLE public.made (id bigint);
        CREATE TABLE common.made (id bigint);
        CREATE SCHEMA s0000_archive CREATE TABLE made (id bigint);
        CREATE SCHEMA s0777 CREATE TABLE made (id bigint);
        CREATE VIEW s0000.seen AS SELECT 1 AS id;
        CREATE MATERIALIZED VIEW s0000.kept AS SELECT 1 AS id;
        CREATE SEQUENCE s0000.counted;
        CREATE INDEX ON public.made (id);
        ALTER TABLE public.made ADD COLUMN more text;
        DROP TABLE public.made;
    """)

    assert await guards(conn) == {}


async def test_installing_again_changes_nothing_and_a_disabled_trigger_stays_disabled(
    conn: asyncpg.Connection,
) -> None:
    ids = "SELECT oid FROM pg_event_trigger WHERE evtname = $1"
    before = await fetch_value(conn, ids, EVENT_TRIGGER)
    assert await install_guard_events(conn)
    assert await fetch_value(conn, ids, EVENT_TRIGGER) == before
    assert await has_guard_events(conn)

    await conn.execute(f"ALTER EVENT TRIGGER {EVENT_TRIGGER} DISABLE")
    await install_guard_events(conn)
    assert not await has_guard_events(conn)


@pytest.fixture
async def plain_role(conn: asyncpg.Connection) -> AsyncIterator[str]:
    """A role without any rights of its own, which may create in shard 0."""
    role = f"plain_{os.getpid()}"
    await conn.execute(
        f"CREATE ROLE {role} LOGIN PASSWORD 'secret'; GRANT USAGE, CREATE ON SCHEMA s0000 TO {role}"
    )
    await conn.execute("REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA s0000 FROM PUBLIC")
    yield role
    await conn.execute(f"DROP OWNED BY {role}; DROP ROLE {role}")


async def test_tables_of_a_role_without_rights_are_guarded(conn: asyncpg.Connection, plain_role: str) -> None:
    await conn.execute(f"SET ROLE {plain_role}; CREATE TABLE s0000.made (id bigint); RESET ROLE")

    assert await guards(conn) == {"s0000.made": "s0000.guard()"}


async def test_a_role_that_is_no_superuser_installs_nothing_and_does_not_fail(
    conn: asyncpg.Connection, plain_role: str, dsns: dict[str, str]
) -> None:
    await conn.execute(f"DROP EVENT TRIGGER {EVENT_TRIGGER}; DROP SCHEMA {EVENT_SCHEMA} CASCADE")
    await conn.execute(
        f"GRANT CREATE ON DATABASE {dsns['a'].rpartition('/')[2].partition('?')[0]} TO {plain_role}"
    )
    async with conn.transaction():
        await conn.execute(f"SET LOCAL ROLE {plain_role}")
        assert not await install_guard_events(conn)
        await conn.execute("CREATE TABLE s0000.made (id bigint)")  # the transaction goes on

    assert [each.name for each in await find_unguarded(conn, ["s0000"])] == ["s0000.made"]


async def test_what_another_role_made_under_these_names_is_taken_over(
    conn: asyncpg.Connection, plain_role: str, dsns: dict[str, str]
) -> None:
    """Whoever owned the function could replace what runs when a superuser creates a table."""
    await conn.execute(f"DROP EVENT TRIGGER {EVENT_TRIGGER}; DROP SCHEMA {EVENT_SCHEMA} CASCADE")
    await conn.execute(
        f"GRANT CREATE ON DATABASE {dsns['a'].rpartition('/')[2].partition('?')[0]} TO {plain_role}"
    )
    await conn.execute(f"""
        SET ROLE {plain_role}; CREATE SCHEMA {EVENT_SCHEMA};
        CREATE FUNCTION {EVENT_SCHEMA}.guard_tables() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END';
        RESET ROLE;
    """)
    assert await install_guard_events(conn)

    owners = await fetch_rows(
        conn,
        "SELECT nspowner::regrole::text, proowner::regrole::text FROM pg_proc p JOIN pg_namespace n "
        "ON n.oid = p.pronamespace WHERE n.nspname = $1",
        EVENT_SCHEMA,
    )
    assert plain_role not in {name for row in owners for name in row}


async def run(server: LocalServer, program: str, *arguments: str) -> str:
    process = await asyncio.create_subprocess_exec(
        server.files.binaries.program(program),
        *arguments,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output = (await process.communicate())[0].decode()
    assert process.returncode == 0, output
    return output


@pytest.mark.slow
async def test_a_dump_of_a_fenced_shard_is_restored_without_an_error(
    conn: asyncpg.Connection, servers: Mapping[str, LocalServer], dsns: dict[str, str], tmp_path: Path
) -> None:
    """Into a database that has the event trigger: a guard attached too early would refuse the rows."""
    await conn.execute("""
        CREATE TABLE s0000.notes (id bigint PRIMARY KEY, body text); INSERT INTO s0000.notes VALUES (1, 'x');
        CREATE TABLE s0000.days (day date) PARTITION BY RANGE (day);
        CREATE TABLE s0000.days_all PARTITION OF s0000.days DEFAULT; INSERT INTO s0000.days VALUES ('2025-01-01');
    """)
    await set_owned(conn, 0, owned=False)
    for form, name in (("custom", "shard.dump"), ("plain", "shard.sql")):
        file = str(tmp_path / name)
        await run(servers["a"], "pg_dump", "--format", form, "--schema", "s0000", "--file", file, dsns["a"])
        program = (
            ("pg_restore", "--exit-on-error", "--dbname")
            if form == "custom"
            else ("psql", "-v", "ON_ERROR_STOP=1")
        )
        source = (file,) if form == "custom" else ("--file", file)
        await run(servers["b"], program[0], *program[1:], dsns["b"], *source)
        restored = await open_connection(dsns["b"], "b")
        assert await fetch_value(restored, "SELECT count(*) FROM s0000.notes") == 1
        assert await find_unguarded(restored, ["s0000"]) == []
        assert len(await guards(restored)) == 3
        await restored.execute("DROP SCHEMA s0000 CASCADE")
        await restored.close()
