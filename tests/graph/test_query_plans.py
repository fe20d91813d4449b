"""Reads of the graph stay cheap when the tables are large: each finds its rows by an index, none by a scan."""

from typing import Any, cast

import asyncpg

from shardwright.routing import Query
from tintype.graph import QUERIES
from tintype.wiring import Rooms
from tintype.worker import connect_to_server

FILL = (
    "INSERT INTO following SELECT 1 + n % 20, 1000 + n, n, n % 10 = 0 FROM generate_series(1, 20000) AS n",
    """INSERT INTO followers (account_id, follower_id, change_id, is_active, is_requested)
       SELECT 1 + n % 20, 1000 + n, n, n % 50 > 9, n % 50 = 0 FROM generate_series(1, 20000) AS n""",
    "INSERT INTO blocks SELECT 1 + n % 20, 1000 + n, n FROM generate_series(1, 5000) AS n",
    "INSERT INTO blocked_by SELECT 1 + n % 20, 1000 + n, n, true, n FROM generate_series(1, 5000) AS n",
    "INSERT INTO attitudes SELECT 1 + n % 20, 1000 + n FROM generate_series(1, 5000) AS n",
    "ANALYZE following, followers, blocks, blocked_by, attitudes",
    """CREATE FUNCTION pg_temp.plan(statement text) RETURNS SETOF text LANGUAGE plpgsql
       AS $$ BEGIN RETURN QUERY EXECUTE statement; END $$""",
)
PAIRS = {"following_pkey", "followers_pkey", "blocks_pkey", "blocked_by_pkey"}
INDEXES: list[tuple[Query, set[str]]] = [
    (QUERIES.relations, {*PAIRS, "attitudes_pkey"}),
    (QUERIES.relation_at, PAIRS),
    (QUERIES.newest_followers, {"followers_newest"}),
    (QUERIES.newest_followees, {"following_newest"}),
    (QUERIES.newest_requests, {"followers_waiting"}),
    (QUERIES.newest_sent_requests, {"following_waiting"}),
    (QUERIES.which_follow, {"followers_pkey"}),
    (QUERIES.gather_followees, {"following_newest"}),
    (QUERIES.sweep_followers, {"followers_ended"}),
    (QUERIES.erase_preferences_towards, {"attitudes_by_target"}),
]


async def test_large_tables_are_read_by_index(rooms: Rooms) -> None:
    shard = rooms.shards.shard(0)
    dsn = rooms.settings.postgres_admin[int(shard.server.removeprefix("pg")) - 1]
    async with connect_to_server(dsn) as connection:  # the application's own role may not ANALYZE
        await connection.execute(f"SET search_path = {shard.schema}, common, shardwright, public")
        for statement in FILL:
            await connection.execute(statement)
        plans = {query.name: await explain(connection, query) for query, _ in INDEXES}

    for query, indexes in INDEXES:
        plan = plans[query.name]
        assert "Seq Scan" not in plan, f"{query.name}\n{plan}"
        assert all(index in plan for index in indexes), f"{query.name}\n{plan}"


async def explain(connection: asyncpg.Connection, query: Query) -> str:
    """The plan that serves any values."""
    rows = cast(
        "list[Any]",
        await connection.fetch("SELECT * FROM pg_temp.plan($1)", f"EXPLAIN (GENERIC_PLAN) {query.sql}"),
    )
    return "\n".join(row[0] for row in rows)
