"""The server of the routing bench, and the ways to read from its shards."""

import asyncio
import random
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self, cast

import asyncpg
import psycopg

from shardwright.ids import schema_name
from shardwright.local import LocalServer
from shardwright.routing import PoolOptions, Queries, Shards
from shardwright.topology import Directory, fetch_value, guard_tables, open_connection

Clock = Callable[[], float]

ROWS = 20
GATHERED = 20

QUERIES = Queries.parse("""
-- name: find
SELECT id, author_id, caption, at FROM posts WHERE id = :id;
-- name: find_hot hot
SELECT id, author_id, caption, at FROM posts WHERE id = :id;
-- name: get
SELECT id, author_id, caption, at FROM posts WHERE id = ANY(:ids);
""")
FIND = "SELECT id, author_id, caption, at FROM {}.posts WHERE id = $1"
GET = "SELECT id, author_id, caption, at FROM {}.posts WHERE id = ANY($1)"
MEMORY = "SELECT sum(total_bytes) / 1048576.0 FROM pg_backend_memory_contexts"


def row_id(shard: int, row: int) -> int:
    """The id of a row, with a timestamp in the past."""
    return 1 << 40 | shard << 10 | row


class Cluster:
    """A local server whose shards have a few posts each, deleted at the end of the benchmark."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="shardwright-bench-"))
        self._folder.chmod(0o711)  # the account that runs the server must traverse it
        settings = {"autovacuum": "off", "shared_buffers": "256MB", "max_locks_per_transaction": "256"}
        self._server = LocalServer(self._folder / "server", durable=False, settings=settings)

    def __enter__(self) -> Self:
        self._server.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        self._server.stop(mode="immediate")
        shutil.rmtree(self._folder)

    @property
    def dsn(self) -> str:
        """Address of the database with shards and directory."""
        return self._server.dsn()

    def clock(self) -> float:
        """Seconds of CPU time used so far, by this process and the server's together.

        Other programs on the machine do not count, so ratios hold on a busy one; without /proc
        it is wall time.
        """
        try:
            return time.process_time() + self.server_clock()
        except OSError:
            return time.perf_counter()

    def server_clock(self) -> float:
        """Seconds of CPU time used so far by the server's processes."""
        leader = (self._folder / "server" / "data" / "postmaster.pid").read_text().split()[0]
        children = Path(f"/proc/{leader}/task/{leader}/children").read_text().split()
        return sum(int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) for pid in children) / 1e9

    async def grow(self, shards: int) -> float:
        """Create shards up to this number; returns how many were created per second."""
        directory = await Directory.open(self.dsn)
        before = len((await directory.create()).owners)
        await directory.add_server("a", self.dsn)
        started = time.perf_counter()
        await directory.ensure_shards(shards, prepare=_fill)
        elapsed = time.perf_counter() - started
        async with directory.connect() as conn:
            await conn.execute("VACUUM ANALYZE")
        return (shards - before) / elapsed


async def _fill(conn: asyncpg.Connection, number: int) -> None:
    schema = schema_name(number)
    await conn.execute(
        f"CREATE TABLE IF NOT EXISTS {schema}.posts (id bigint PRIMARY KEY, author_id bigint NOT NULL, "
        "caption text NOT NULL, at timestamptz NOT NULL DEFAULT now()); "
        f"INSERT INTO {schema}.posts SELECT {row_id(number, 0)} + n, n, 'a caption of ordinary length' "
        f"FROM generate_series(0, {ROWS - 1}) n ON CONFLICT DO NOTHING; "
        f"CREATE TABLE IF NOT EXISTS {schema}.likes (post_id bigint, account_id bigint, "
        "PRIMARY KEY (post_id, account_id)); "
        f"CREATE TABLE IF NOT EXISTS {schema}.like_counts (post_id bigint PRIMARY KEY, likes bigint NOT NULL); "
        f"INSERT INTO {schema}.like_counts SELECT n, 0 FROM generate_series(0, {ROWS - 1}) n "
        "ON CONFLICT DO NOTHING; "
        "CREATE TABLE IF NOT EXISTS common.events (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, "
        "name text NOT NULL, payload text NOT NULL)"
    )
    await guard_tables(conn, number)


class Reader(Protocol):
    """One way to read a row of a shard, or twenty rows of twenty shards; callers are numbered."""

    async def point(self, caller: int, shard: int, row: int) -> None:
        """Read one row."""
        ...

    async def gather(self, shards: list[int], row: int) -> None:
        """Read one row of each shard."""
        ...

    async def memory(self) -> float:
        """Memory of its largest backend, in MB."""
        ...

    async def close(self) -> None:
        """Close all connections."""
        ...


class Ours:
    """Contender: shardwright."""

    def __init__(self, shards: Shards, *, hot: bool) -> None:
        self._shards = shards
        self._find = QUERIES.find_hot if hot else QUERIES.find

    @classmethod
    async def open(cls, dsn: str, *, hot: bool, shards: int, connections: int) -> Self:
        """A router whose connections share the shards among them."""
        options = PoolOptions(
            max_connections=connections,
            spare_connections=0,
            shards_per_connection=-(-shards // connections),
            gather_connections=1,
            shards_per_gather_connection=8192,
            hot_bytes=256 * 2**20,  # for all shards of the bench; what it takes is printed
            statement_timeout_s=60,
        )
        return cls(await Shards.open(dsn, queries=[QUERIES], options=options), hot=hot)

    async def point(self, caller: int, shard: int, row: int) -> None:  # noqa: ARG002  # the router chooses
        """Read one row."""
        if await self._shards.shard(shard).fetch_one(self._find, id=row_id(shard, row)) is None:
            raise AssertionError(shard)

    async def gather(self, shards: list[int], row: int) -> None:
        """Read one row of each shard."""
        found = await self._shards.gather(QUERIES.get, [row_id(shard, row) for shard in shards])
        if len(found) != GATHERED:
            raise AssertionError(found.failed)

    async def memory(self) -> float:
        """Memory of its largest backend for point reads, in MB."""
        connections = [
            pooled for _, kind, pool in self._shards.pools() for pooled in pool.connections if kind == "point"
        ]
        return max([float(await fetch_value(pooled.conn, MEMORY)) for pooled in connections])

    async def close(self) -> None:
        """Close the router."""
        await self._shards.close()


class PlainAsyncpg:
    """asyncpg as it comes, with the schema written into each statement: a connection, or a pool of them."""

    def __init__(self, source: Any, *, is_pool: bool) -> None:
        self._source, self._is_pool = source, is_pool

    @classmethod
    async def open(cls, dsn: str, *, connections: int) -> Self:
        """Connections with the default statement cache."""
        if connections == 1:
            return cls(await open_connection(dsn, "server", statement_cache_size=100), is_pool=False)
        create = cast("Any", asyncpg.create_pool)
        return cls(await create(dsn, min_size=connections, max_size=connections), is_pool=True)

    async def point(self, caller: int, shard: int, row: int) -> None:  # noqa: ARG002  # the pool chooses
        """Read one row."""
        if await self._source.fetchrow(FIND.format(schema_name(shard)), row_id(shard, row)) is None:
            raise AssertionError(shard)

    async def gather(self, shards: list[int], row: int) -> None:
        """Read one row of each shard, one after the other."""
        for shard in shards:
            await self.point(0, shard, row)

    async def memory(self) -> float:
        """Memory of one of its backends, in MB."""
        return float(await self._source.fetchval(MEMORY))

    async def close(self) -> None:
        """Close all connections."""
        await self._source.close()


class Limit:
    """asyncpg with one prepared statement on one schema: what no router can beat."""

    def __init__(self, conns: list[asyncpg.Connection], finds: list[Any], get: Any) -> None:
        self._conns, self._finds, self._get = conns, finds, get

    @classmethod
    async def open(cls, dsn: str, *, connections: int) -> Self:
        """A connection for each caller, with its statements prepared."""
        conns = [await open_connection(dsn, "server", statement_cache_size=100) for _ in range(connections)]
        finds = [await conn.prepare(FIND.format("s0000")) for conn in conns]
        return cls(conns, finds, await conns[0].prepare(GET.format("s0000")))

    async def point(self, caller: int, shard: int, row: int) -> None:
        """Read one row of the only schema, whatever the shard number."""
        if await self._finds[caller].fetchrow(row_id(0, row)) is None:
            raise AssertionError(shard)

    async def gather(self, shards: list[int], row: int) -> None:
        """Read as many rows of one schema in one statement."""
        ids = [row_id(0, (row + n) % ROWS) for n in range(len(shards))]
        found = cast("list[Any]", await self._get.fetch(ids))
        if len(found) != GATHERED:
            raise AssertionError(len(found))

    async def memory(self) -> float:
        """Memory of one of its backends, in MB."""
        return float(await fetch_value(self._conns[0], MEMORY))

    async def close(self) -> None:
        """Close all connections."""
        for conn in self._conns:
            await conn.close()


class Psycopg:
    """psycopg as it comes, one connection, without asyncio around it."""

    def __init__(self, dsn: str) -> None:
        self._conn = psycopg.connect(dsn, autocommit=True)

    async def point(self, caller: int, shard: int, row: int) -> None:  # noqa: ARG002  # there is one connection
        """Read one row."""
        sql = FIND.format(schema_name(shard)).replace("$1", "%s")
        if self._conn.execute(sql.encode(), [row_id(shard, row)]).fetchone() is None:
            raise AssertionError(shard)

    async def gather(self, shards: list[int], row: int) -> None:
        """Read one row of each shard, one after the other."""
        for shard in shards:
            await self.point(0, shard, row)

    async def memory(self) -> float:
        """Memory of its backend, in MB."""
        found = self._conn.execute(MEMORY).fetchone()
        return float(found[0]) if found else 0.0

    async def close(self) -> None:
        """Close the connection."""
        self._conn.close()


async def rate_of_points(
    reader: Reader, shards: int, count: int, *, callers: int, chance: random.Random, clock: Clock
) -> float:
    """Point reads per second of the clock."""
    draws = [(chance.randrange(shards), chance.randrange(ROWS)) for _ in range(count)]

    async def work(caller: int) -> None:
        for shard, row in draws[caller::callers]:
            await reader.point(caller, shard, row)

    started = clock()
    await asyncio.gather(*map(work, range(callers)))
    return count / (clock() - started)


async def rate_of_gathers(
    reader: Reader, shards: int, count: int, *, chance: random.Random, clock: Clock
) -> float:
    """Gathers per second of the clock."""
    draws = [(chance.sample(range(shards), GATHERED), chance.randrange(ROWS)) for _ in range(count)]
    started = clock()
    for numbers, row in draws:
        await reader.gather(numbers, row)
    return count / (clock() - started)


async def touch_all(reader: Reader, shards: int, callers: int) -> None:
    """Read every shard, so that nothing is read or planned for the first time while the clock runs.

    Six times: PostgreSQL keeps a plan after five.
    """

    async def work(caller: int) -> None:
        for _ in range(6):
            for shard in range(caller, shards, callers):
                await reader.point(caller, shard, 0)

    await asyncio.gather(*map(work, range(callers)))
    for start in range(0, shards - GATHERED + 1, GATHERED):
        await reader.gather(list(range(start, start + GATHERED)), 0)
