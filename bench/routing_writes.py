"""What a write costs: a like with its count and its event, as one call of the router and as a transaction.

Row, count and event stand or fall together. Ours does it in one statement, through the router; the peer is plain
asyncpg in a transaction of three prepared statements, first on one schema, where there is nothing to route, then on
all of them.
"""

import asyncio
import random
from typing import Any, Protocol, Self, cast

import asyncpg

from bench.routing_cluster import MEMORY, ROWS, Clock
from shardwright.ids import schema_name
from shardwright.routing import PoolOptions, Queries, Shards
from shardwright.topology import fetch_value, open_connection

LIKE_POST = """\
WITH liked AS (
  INSERT INTO likes (post_id, account_id) VALUES (:post_id, :account_id) ON CONFLICT DO NOTHING RETURNING post_id
), counted AS (
  UPDATE like_counts SET likes = likes + 1 WHERE post_id IN (SELECT l.post_id FROM liked AS l) RETURNING likes
), told AS (
  INSERT INTO common.events (name, payload) SELECT 'post.liked', :payload FROM liked
)
SELECT likes FROM counted;
"""

QUERIES = Queries.parse(f"""
-- name: like_post hot
{LIKE_POST}

-- name: like_post_dispatched
{LIKE_POST}

-- name: add_like hot
INSERT INTO likes (post_id, account_id) VALUES (:post_id, :account_id) ON CONFLICT DO NOTHING RETURNING post_id;
-- name: count_like hot
UPDATE like_counts SET likes = likes + 1 WHERE post_id = :post_id;
-- name: add_event hot
INSERT INTO common.events (name, payload) VALUES ('post.liked', :payload);

-- name: add_like_dispatched
INSERT INTO likes (post_id, account_id) VALUES (:post_id, :account_id) ON CONFLICT DO NOTHING RETURNING post_id;
-- name: count_like_dispatched
UPDATE like_counts SET likes = likes + 1 WHERE post_id = :post_id;
-- name: add_event_dispatched
INSERT INTO common.events (name, payload) VALUES ('post.liked', :payload);
""")
ADD = "INSERT INTO {}.likes (post_id, account_id) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING post_id"
COUNT = "UPDATE {}.like_counts SET likes = likes + 1 WHERE post_id = $1"
EVENT = "INSERT INTO common.events (name, payload) VALUES ('post.liked', $1)"
PAYLOAD = '{"post_id": 1234567890123456789, "account_id": 1234567890123456789}'


class Writer(Protocol):
    """One way to like a post; callers are numbered."""

    async def like(self, caller: int, shard: int, post: int, account: int) -> None:
        """Add a like, its count and its event."""
        ...

    async def memory(self) -> float:
        """Memory of its largest backend, in MB."""
        ...

    async def close(self) -> None:
        """Close all connections."""
        ...


class RoutedWriter:
    """The router: its connections and how much memory they hold."""

    def __init__(self, shards: Shards) -> None:
        self._shards = shards

    @classmethod
    async def open(cls, dsn: str, *, shards: int, connections: int) -> Self:
        """A router whose connections share the shards among them, with room for all statements."""
        options = PoolOptions(
            max_connections=connections,
            spare_connections=0,
            shards_per_connection=-(-shards // connections),
            hot_bytes=256 * 2**20,
            statement_timeout_s=60,
        )
        return cls(await Shards.open(dsn, queries=[QUERIES], options=options))

    async def memory(self) -> float:
        """Memory of its largest backend, in MB."""
        pools = [pool for _, kind, pool in self._shards.pools() if kind == "point"]
        return max(
            [float(await fetch_value(each.conn, MEMORY)) for pool in pools for each in pool.connections]
        )

    async def close(self) -> None:
        """Close the router."""
        await self._shards.close()


class OneCall(RoutedWriter):
    """Contender: one hot statement."""

    query = QUERIES.like_post

    async def like(self, caller: int, shard: int, post: int, account: int) -> None:  # noqa: ARG002  # the router chooses
        """Add a like, its count and its event."""
        found = await self._shards.shard(shard).fetch_value(
            self.query, post_id=post, account_id=account, payload=PAYLOAD
        )
        if found is None:
            raise AssertionError(shard)


class OneDispatchedCall(OneCall):
    """Contender: the same statement through its dispatch function, as behind a pooler."""

    query = QUERIES.like_post_dispatched


class ShardTransaction(RoutedWriter):
    """Contender: `begin()` with three hot queries."""

    queries = (QUERIES.add_like, QUERIES.count_like, QUERIES.add_event)

    async def like(self, caller: int, shard: int, post: int, account: int) -> None:  # noqa: ARG002  # the router chooses
        """Add a like, its count and its event."""
        add, count, tell = self.queries
        async with self._shards.shard(shard).begin() as transaction:
            if await transaction.fetch_value(add, post_id=post, account_id=account) is None:
                raise AssertionError(shard)
            await transaction.execute(count, post_id=post)
            await transaction.execute(tell, payload=PAYLOAD)


class DispatchedTransaction(ShardTransaction):
    """Contender: `begin()` with three queries that are not hot."""

    queries = (QUERIES.add_like_dispatched, QUERIES.count_like_dispatched, QUERIES.add_event_dispatched)


class PlainTransaction:
    """asyncpg with a connection for each caller, its default statement cache, and the schema in each statement."""

    def __init__(self, conns: list[asyncpg.Connection]) -> None:
        self._conns = conns

    @classmethod
    async def open(cls, dsn: str, *, shards: int, connections: int) -> Self:  # noqa: ARG003  # they do not matter here
        """A connection for each caller."""
        return cls(
            [await open_connection(dsn, "server", statement_cache_size=100) for _ in range(connections)]
        )

    async def like(self, caller: int, shard: int, post: int, account: int) -> None:
        """Add a like, its count and its event."""
        conn, schema = cast("Any", self._conns[caller]), schema_name(shard)
        async with conn.transaction():
            if await conn.fetchval(ADD.format(schema), post, account) is None:
                raise AssertionError(shard)
            await conn.execute(COUNT.format(schema), post)
            await conn.execute(EVENT, PAYLOAD)

    async def memory(self) -> float:
        """Memory of one of its backends, in MB."""
        return float(await fetch_value(self._conns[0], MEMORY))

    async def close(self) -> None:
        """Close all connections."""
        for conn in self._conns:
            await conn.close()


class OneSchema(PlainTransaction):
    """The same on one schema, whatever the shard: three statements, prepared once, and nothing to route."""

    async def like(self, caller: int, shard: int, post: int, account: int) -> None:
        """Add a like of the only schema, its count and its event."""
        # The shard is part of the key here, so that every writer has the same number of likes to add.
        await super().like(caller, 0, post, account << 13 | shard)


async def rate_of_likes(  # what is measured, and by what
    writer: Writer, shards: int, count: int, *, callers: int, chance: random.Random, first: int, clock: Clock
) -> float:
    """Likes per second of the clock; `first` is an account that nobody has used before."""
    draws = [(chance.randrange(shards), chance.randrange(ROWS)) for _ in range(count)]

    async def work(caller: int) -> None:
        for number in range(caller, count, callers):
            shard, post = draws[number]
            await writer.like(caller, shard, post, first + number)

    started = clock()
    await asyncio.gather(*map(work, range(callers)))
    return count / (clock() - started)


async def like_everywhere(writer: Writer, shards: int, callers: int, first: int) -> None:
    """Write to every shard twice, so that nothing is prepared while the clock runs."""

    async def work(caller: int) -> None:
        for turn in range(2):
            for shard in range(caller, shards, callers):
                await writer.like(caller, shard, 0, first + turn)

    await asyncio.gather(*map(work, range(callers)))
