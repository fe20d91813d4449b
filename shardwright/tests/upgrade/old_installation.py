"""An installation as release 0.1.0 created it (two servers with eight shards each), and a router of that release."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import asyncpg

from shardwright.ids import DEFAULT_EPOCH_MS
from shardwright.migrations import read_library_status
from shardwright.routing import Queries
from shardwright.topology import Directory, fetch_rows, open_connection

SHARDS = 16
RELEASE = Path(__file__).with_name("release_0_1_0")
DIRECTORY_ID = "6f9619ff-8b86-4d01-b42d-00cf4fc964ff"

QUERIES = Queries.parse("""
-- name: add
INSERT INTO posts (author_id, caption) VALUES (:author_id, :caption) RETURNING id;

-- name: change
UPDATE posts SET caption = :caption WHERE id = :id;

-- name: find
SELECT id, author_id, caption FROM posts WHERE id = :id;

-- name: get
SELECT id, caption FROM posts WHERE id = ANY(:ids);
""")


def server_of(number: int) -> str:
    """Even shards are on a, odd ones on b, as 0.1.0 placed them."""
    return "ab"[number % 2]


def read_sql(name: str, **values: object) -> str:
    """A file of the release, with its placeholders filled in."""
    text = (RELEASE / f"{name}.sql").read_text(encoding="utf-8")
    known = {"epoch_ms": DEFAULT_EPOCH_MS, "directory_id": DIRECTORY_ID, "shards": SHARDS, **values}
    for placeholder, value in known.items():
        text = text.replace(f"@{placeholder}@", str(value))
    return text


def shard_sql(number: int) -> str:
    values = {"schema": f"s{number:04d}", "shard_bits": f"{number:013b}", "shard_field": number << 10}
    return read_sql("shard", number=number, **values)


async def build(dsns: dict[str, str]) -> None:
    """Create the installation in empty databases; the directory is on a."""
    for name, dsn in dsns.items():
        conn = await open_connection(dsn, name)
        await conn.execute(read_sql("server", server=name))
        for number in range(SHARDS):
            if server_of(number) == name:
                await conn.execute(shard_sql(number))
        await conn.execute(read_sql("dispatch_functions"))
        await conn.close()
    conn = await open_connection(dsns["a"], "the directory")
    await conn.execute(read_sql("directory"))
    for name, dsn in dsns.items():
        await conn.execute("INSERT INTO shardwright_directory.servers VALUES ($1, $2, 1, true)", name, dsn)
    owners = [server_of(number) for number in range(SHARDS)]
    await conn.execute(
        "INSERT INTO shardwright_directory.shards (number, server, is_ready) "
        "SELECT *, true FROM unnest($1::integer[], $2::text[])",
        list(range(SHARDS)),
        owners,
    )
    await conn.close()


@dataclass(frozen=True)
class Installation:
    """The databases of an installation, with the directory on a."""

    directory: Directory
    dsns: dict[str, str]

    async def value(self, server: str, sql: str, *arguments: object) -> object:
        conn = await open_connection(self.dsns[server], server)
        try:
            return cast("object", await conn.fetchval(sql, *arguments))
        finally:
            await conn.close()

    async def run(self, server: str, sql: str) -> None:
        conn = await open_connection(self.dsns[server], server)
        try:
            await conn.execute(sql)
        finally:
            await conn.close()

    async def shard_value(self, number: int, sql: str) -> object:
        """A value from a shard's owner; `@` in the statement is the shard's schema."""
        return await self.value(server_of(number), sql.replace("@", f"s{number:04d}"))


class OldRouter:
    """The statements of a router of release 0.1.0, prepared once and kept, as its connections keep them."""

    def __init__(self, conns: dict[str, asyncpg.Connection], prepared: dict[tuple[str, str], Any]) -> None:
        self._conns = conns
        self._prepared = prepared

    @classmethod
    async def open(cls, dsns: dict[str, str]) -> "OldRouter":
        conns = {name: await open_connection(dsn, name) for name, dsn in dsns.items()}
        statements = {
            "add": 'SELECT * FROM shardwright."q_add_c3bbc95711de7697"($1, $2, $3)',
            "change": 'SELECT shardwright."q_change_67a5c06227e74c90"($1, $2, $3) AS shardwright_count',
            "find": 'SELECT * FROM shardwright."q_find_3144270ce40c488d"($1, $2)',
            "gather": 'SELECT * FROM shardwright."g_get_e09538187dacbfa1"($1, $2, $3)',
        }
        prepared: dict[tuple[str, str], Any] = {
            (server, name): await conn.prepare(sql)
            for server, conn in conns.items()
            for name, sql in statements.items()
        }
        return cls(conns, prepared)

    async def close(self) -> None:
        for conn in self._conns.values():
            await conn.close()

    async def call(self, name: str, number: int, *arguments: object) -> list[tuple[object, ...]]:
        return [tuple(row) for row in await self._prepared[server_of(number), name].fetch(*arguments)]

    async def add(self, number: int, caption: str) -> int:
        return cast("int", (await self.call("add", number, number, 1, caption))[0][0])

    async def draw(self, number: int) -> list[int]:
        """Ids by every way of the release: one, a batch, a lease."""
        conn, schema = self._conns[server_of(number)], f"s{number:04d}"
        one = cast("int", await conn.fetchval(f"SELECT {schema}.next_id()"))
        batch = [row[0] for row in await fetch_rows(conn, f"SELECT {schema}.next_ids(3)")]
        tick = cast("int", await conn.fetchval(f"SELECT {schema}.reserve_ticks($1)", 2))
        leased = [(each >> 10) << 23 | number << 10 | (each & 1023) for each in (tick, tick + 1)]
        return [one, *batch, *leased]

    async def add_many(self, number: int, count: int) -> list[int]:
        """Rows with ids that one statement draws, which may have begun before an upgrade and end after it."""
        sql = (
            f"INSERT INTO s{number:04d}.posts (author_id, caption) "
            "SELECT 1, 'many' FROM generate_series(1, $1) RETURNING id"
        )
        return [row[0] for row in await fetch_rows(self._conns[server_of(number)], sql, count)]

    async def works(self, numbers: Sequence[int]) -> None:
        """Write and read on each shard by every kind of statement of the release."""
        for number in numbers:
            made = await self.add(number, "old")
            assert await self.call("change", number, number, "changed", made) == [(1,)]
            assert await self.call("find", number, number, made) == [(made, 1, "changed")]
            assert await self.call("gather", number, [number], [1], [made]) == [(made, "changed")]
            assert len(set(await self.draw(number))) == 6


async def wait_until(is_true: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(60):
        while not await is_true():  # noqa: ASYNC110 - a condition in a database
            await asyncio.sleep(0.01)


async def shards_behind(installation: Installation) -> set[int]:
    """The shards that this release has not upgraded yet."""
    status = await read_library_status(installation.directory)
    return {number for each in status.servers for number in status.shards_behind(each)}
