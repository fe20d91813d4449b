"""Guards: a server that does not own a shard refuses to write to it."""

from collections.abc import AsyncIterator

import asyncpg
import pytest

from shardwright.topology import (
    SQLSTATE_NOT_OWNER,
    Directory,
    fetch_value,
    guard_tables,
    is_owned,
    open_connection,
    set_owned,
)


@pytest.fixture
async def conn(directory: Directory, dsns: dict[str, str]) -> AsyncIterator[asyncpg.Connection]:
    """A connection to shard 0's server, where the shard has an ordinary and a partitioned table."""
    made = await directory.add_shards(1)
    conn = await open_connection(dsns[made.owners[0]], "server")
    await conn.execute("""
        SET search_path = s0000;
        CREATE TABLE notes (id bigint PRIMARY KEY, body text);
        CREATE TABLE days (id bigint, day date) PARTITION BY RANGE (day);
        CREATE TABLE days_2025 PARTITION OF days FOR VALUES FROM ('2025-01-01') TO ('2026-01-01');
    """)
    await guard_tables(conn, 0)
    yield conn
    await conn.close()


WRITES = [
    "INSERT INTO notes VALUES (1, 'x')",
    "UPDATE notes SET body = 'y' WHERE false",
    "DELETE FROM notes",
    "TRUNCATE notes",
    "MERGE INTO notes USING (VALUES (2)) v (id) ON notes.id = v.id WHEN NOT MATCHED THEN INSERT VALUES (2, 'x')",
    "INSERT INTO days VALUES (1, '2025-05-05')",
    "INSERT INTO days_2025 VALUES (1, '2025-05-05')",
]


async def test_the_owner_accepts_every_kind_of_write(conn: asyncpg.Connection) -> None:
    for write in WRITES:
        async with conn.transaction():
            await conn.execute(write)

    assert await conn.fetchval("SELECT array_agg(id) FROM notes") == [2]
    assert await conn.fetchval("SELECT count(*) FROM days") == 2


async def test_a_server_that_is_not_the_owner_refuses_every_kind_of_write(conn: asyncpg.Connection) -> None:
    await set_owned(conn, 0, owned=False)

    for write in WRITES:
        with pytest.raises(asyncpg.PostgresError, match="not owned by this server") as refusal:
            await conn.execute(write)
        assert getattr(refusal.value, "sqlstate", None) == SQLSTATE_NOT_OWNER


async def test_ownership_changes_hands_with_a_transaction(conn: asyncpg.Connection) -> None:
    transaction = conn.transaction()
    await transaction.start()
    await set_owned(conn, 0, owned=False)
    assert not await is_owned(conn, 0)
    await transaction.rollback()

    assert await is_owned(conn, 0)
    await conn.execute(WRITES[0])


async def test_a_guard_does_not_block_reads(conn: asyncpg.Connection) -> None:
    await set_owned(conn, 0, owned=False)

    assert await fetch_value(conn, "SELECT count(*) FROM notes") == 0


async def test_a_connection_that_wrote_before_the_change_of_owner_is_refused_after(
    conn: asyncpg.Connection, directory: Directory, dsns: dict[str, str]
) -> None:
    """PL/pgSQL keeps compiled functions per session: the swap must reach sessions that have the old one."""
    other = await open_connection(dsns[(await directory.load()).owners[0]], "server")
    await other.execute("SET search_path = s0000")
    await other.execute("INSERT INTO notes VALUES (1, 'x')")
    await set_owned(conn, 0, owned=False)

    with pytest.raises(asyncpg.PostgresError) as refusal:
        await other.execute("INSERT INTO notes VALUES (2, 'x')")
    assert getattr(refusal.value, "sqlstate", None) == SQLSTATE_NOT_OWNER
    await other.close()


async def test_tables_that_have_a_guard_are_not_changed(conn: asyncpg.Connection) -> None:
    count = "SELECT count(*) FROM pg_trigger WHERE tgname = 'shardwright_guard'"
    before = await fetch_value(conn, count)
    await conn.execute("CREATE TABLE more (id bigint PRIMARY KEY)")
    await guard_tables(conn, 0)
    await guard_tables(conn, 0)

    assert await fetch_value(conn, count) == before + 1


async def test_a_shard_that_is_not_here_is_not_owned(conn: asyncpg.Connection) -> None:
    assert not await is_owned(conn, 77)
