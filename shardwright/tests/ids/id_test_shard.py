"""A shard that generates ids, for the tests in this folder."""

import itertools
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import cast

import asyncpg

from shardwright.ids import Layout, install_functions, last_tick_sql, resume_above_sql, shard_sql
from shardwright.topology import set_owned

# Clocks that tests can set. A sequence shows its new value in the midst of a statement, as a real clock does;
# a setting can differ from server to server and from session to session.
# What `set_owned` counts in, as `Directory.add_server` makes it.
REPLICATION = """
CREATE TABLE shardwright.replication (ownership bigint NOT NULL);
INSERT INTO shardwright.replication VALUES (0);
"""
CLOCKS = """
CREATE SCHEMA clock;
CREATE SEQUENCE clock.us;
CREATE FUNCTION clock.shown() RETURNS timestamptz LANGUAGE sql VOLATILE
RETURN to_timestamp(pg_sequence_last_value('clock.us') / 1000000.0::double precision);
CREATE FUNCTION clock.skewed() RETURNS timestamptz LANGUAGE sql VOLATILE
RETURN clock_timestamp() + make_interval(secs => coalesce(current_setting('clock.skew_s', true), '0')::float8);
"""

# As published: a sequence modulo 1,024 beside a clock read.
PUBLISHED = """
CREATE SEQUENCE published_ids;
CREATE FUNCTION published(OUT result bigint) LANGUAGE plpgsql AS $$
DECLARE
    our_epoch bigint := {epoch_ms};
    seq_id bigint;
    now_millis bigint;
    shard_id int := 42;
BEGIN
    SELECT nextval('published_ids') % 1024 INTO seq_id;
    SELECT FLOOR(EXTRACT(EPOCH FROM {clock}) * 1000) INTO now_millis;
    result := (now_millis - our_epoch) << 23;
    result := result | (shard_id << 10);
    result := result | (seq_id);
END $$;
"""


@dataclass
class IdShard:
    """A connection to a database with shard 42, and how to open more."""

    dsn: str
    conn: asyncpg.Connection
    layout: Layout

    async def connect(self) -> asyncpg.Connection:
        return await connect(self.dsn)

    async def value(self, sql: str, *args: object) -> int:
        return cast("int", await self.conn.fetchval(sql, *args))

    async def ids(self, sql: str, *args: object) -> list[int]:
        return await ids(self.conn, sql, *args)

    async def draw(self, count: int) -> list[int]:
        return await self.ids("SELECT s0042.next_id() FROM generate_series(1, $1::int)", count)

    async def set_clock(self, ms: float) -> None:
        """Set the shard's clock, in milliseconds since the epoch."""
        await self.value("SELECT setval('clock.us', $1)", int((self.layout.epoch_ms + ms) * 1000))

    async def count_locks(self) -> int:
        # Of this database alone: other tests use the same server at the same time.
        return await self.value(
            "SELECT count(*) FROM pg_locks JOIN pg_database AS d ON d.oid = database "
            "WHERE locktype = 'advisory' AND d.datname = current_database()"
        )


async def connect(dsn: str) -> asyncpg.Connection:
    return cast("asyncpg.Connection", await asyncpg.connect(dsn))


async def ids(conn: asyncpg.Connection, sql: str, *args: object) -> list[int]:
    return [cast("int", row[0]) for row in cast("list[asyncpg.Record]", await conn.fetch(sql, *args))]


def state_of(error: asyncpg.PostgresError) -> str:
    return cast("str", getattr(error, "sqlstate"))  # noqa: B009 - asyncpg sets it without declaring it


def rises(drawn: Sequence[int]) -> bool:
    return all(earlier < later for earlier, later in itertools.pairwise(drawn))


async def add_shard(conn: asyncpg.Connection, layout: Layout, clock_sql: str = "clock_timestamp()") -> None:
    await conn.execute(CLOCKS)
    await install_functions(conn, layout)
    await conn.execute(REPLICATION)
    await conn.execute("CREATE SCHEMA s0042")
    await conn.execute(shard_sql(42, layout, clock_sql=clock_sql))


async def move(source: asyncpg.Connection, target: asyncpg.Connection) -> None:
    """Move the ids as an operator would by hand."""
    await set_owned(source, 42, owned=False)
    (tick,) = await ids(source, last_tick_sql(42))
    await target.execute(resume_above_sql(42, tick))
    await set_owned(target, 42, owned=True)


@asynccontextmanager
async def open_id_shard(dsn: str, clock_sql: str) -> AsyncGenerator[IdShard]:
    layout = Layout()
    conn = await connect(dsn)
    try:
        await add_shard(conn, layout, clock_sql)
        yield IdShard(dsn, conn, layout)
    finally:
        await conn.close()
