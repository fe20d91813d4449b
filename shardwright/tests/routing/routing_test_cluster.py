"""A small cluster for tests of the router: sixteen shards of posts on two servers, and their queries."""

import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import asyncpg

from shardwright.routing import PoolExhausted, Queries, Shards
from shardwright.topology import Directory, ShardMap, creation_sql, guard_tables, open_connection, set_owned

OpenShards = Callable[..., Awaitable[Shards]]

QUERIES = Queries.parse("""
-- name: add
-- The id is made by the shard itself.
INSERT INTO posts (author_id, caption) VALUES (:author_id, :caption) RETURNING id;

-- name: put
-- With an id of the caller's, so that a repetition shows.
INSERT INTO posts (id, author_id, caption) VALUES (:id, :author_id, :caption);

-- name: change
UPDATE posts SET caption = :caption WHERE id = :id;

-- name: find
SELECT id, author_id, caption FROM posts WHERE id = :id;

-- name: find_hot hot
SELECT id, author_id, caption FROM posts WHERE id = :id;

-- name: change_hot hot
UPDATE posts SET caption = :caption WHERE id = :id;

-- name: copy_hot hot
-- Two tables' worth of changes in one statement.
WITH copied AS (
    INSERT INTO posts (author_id, caption) SELECT author_id, :caption FROM posts WHERE id = :id RETURNING id
  ),
  marked AS (UPDATE posts SET author_id = author_id + 1 WHERE id = :id RETURNING author_id)
SELECT c.id, m.author_id FROM copied AS c, marked AS m;

-- name: get
SELECT id, caption FROM posts WHERE id = ANY(:ids);

-- name: list_hot hot
-- A list of ids, unpacked on the server.
SELECT wanted.id, p.caption FROM unnest(:ids::bigint[]) AS wanted (id) JOIN posts AS p ON p.id = wanted.id;

-- name: get_hot hot
SELECT id, caption FROM posts WHERE id = ANY(:ids) AND caption <> :except;

-- name: captions
SELECT caption FROM posts ORDER BY caption;

-- name: nap
SELECT 1 AS one FROM pg_sleep(:seconds);

-- name: count_naps
SELECT count(*) AS naps FROM pg_stat_activity WHERE state = 'active' AND wait_event = 'PgSleep';

-- name: slow_add
INSERT INTO posts (author_id, caption) SELECT 1, :caption FROM pg_sleep(:seconds) RETURNING id;

-- name: whoami
SELECT pg_backend_pid() AS pid;
""")


async def make_posts(conn: asyncpg.Connection, number: int) -> None:
    schema = f"s{number:04d}"
    await conn.execute(
        f"CREATE TABLE IF NOT EXISTS {schema}.posts (id bigint PRIMARY KEY DEFAULT {schema}.next_id(), "
        "author_id bigint NOT NULL, caption text NOT NULL)"
    )
    await guard_tables(conn, number)


@dataclass
class Cluster:
    """A directory on server a, and both servers' databases."""

    directory: Directory
    dsns: dict[str, str]

    @property
    def directory_dsn(self) -> str:
        return self.dsns["a"]

    async def run(self, server: str, sql: str) -> None:
        conn = await open_connection(self.dsns[server], server)
        await conn.execute(sql)
        await conn.close()

    async def set_owned(self, server: str, number: int, *, owned: bool) -> None:
        conn = await open_connection(self.dsns[server], server)
        await set_owned(conn, number, owned=owned)
        await conn.close()

    async def prepare_move(self, number: int, target: str) -> None:
        """Create an empty copy of the shard on the target, refusing writes."""
        conn = await open_connection(self.dsns[target], target)
        await conn.execute(creation_sql(number, (await self.directory.load()).layout))
        await make_posts(conn, number)
        await set_owned(conn, number, owned=False)
        await conn.close()

    async def flip_map(self, number: int, target: str) -> ShardMap:
        latest = await self.directory.load()
        return await self.directory.change(latest.version, lambda old: old.with_owner(target, number))


async def open_one_connection(shards: Shards, number: int) -> None:
    """Return when a shard has a connection; on a busy machine that may take longer than the limits of a test."""
    while True:
        with contextlib.suppress(PoolExhausted):
            await shards.shard(number).fetch_value(QUERIES.whoami)
            return


async def open_cluster(dsns: dict[str, str]) -> Cluster:
    """A cluster that was made before."""
    return Cluster(await Directory.open(dsns["a"]), dsns)


async def make_cluster(dsns: dict[str, str], shards: int) -> Cluster:
    directory = await Directory.open(dsns["a"])
    await directory.create()
    for name, dsn in dsns.items():
        await directory.add_server(name, dsn)
    await directory.ensure_shards(shards, prepare=make_posts)
    return Cluster(directory, dsns)
