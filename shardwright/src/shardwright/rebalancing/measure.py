"""Measures what every shard uses: bytes on disk, and rows read and written a second over a sample."""

import asyncio
from collections.abc import Mapping
from time import monotonic
from typing import TYPE_CHECKING

from shardwright.ids import schema_name
from shardwright.rebalancing.models import ShardUse
from shardwright.topology import Server, ShardMap, fetch_rows, open_connection

if TYPE_CHECKING:
    from asyncpg import Connection

DEFAULT_SAMPLE_S = 10.0

_SIZES = """\
SELECT n.nspname AS schema, coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint AS size_bytes
FROM pg_catalog.pg_namespace n
LEFT JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relkind = 'r'
WHERE n.nspname = ANY ($1::text[]) GROUP BY 1
"""
# A row that is written costs several that are read: its WAL, its index entries, its vacuum.
_ROWS = """\
SELECT schemaname AS schema, sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)
  + 4 * (n_tup_ins + n_tup_upd + n_tup_del))::bigint AS rows
FROM pg_catalog.pg_stat_all_tables WHERE schemaname = ANY ($1::text[]) GROUP BY 1
"""


async def measure_shards(shard_map: ShardMap, *, sample_s: float = DEFAULT_SAMPLE_S) -> list[ShardUse]:
    """What every shard of the map uses, by number; takes as long as the sample. Without one, load is 0 everywhere."""
    servers = [server for name, server in shard_map.servers.items() if shard_map.shards_on(name)]
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_measure(server, shard_map, sample_s)) for server in servers]
    return sorted((use for task in tasks for use in task.result()), key=lambda use: use.number)


async def _measure(server: Server, shard_map: ShardMap, sample_s: float) -> list[ShardUse]:
    numbers = shard_map.shards_on(server.name)
    schemas = [schema_name(number) for number in numbers]
    conn = await open_connection(server.dsn, f"server {server.name}")
    try:
        found = await fetch_rows(conn, _SIZES, schemas)
        rates = await _sample(conn, schemas, sample_s) if sample_s else dict[str, float]()
    finally:
        await conn.close()
    sizes = {row["schema"]: row["size_bytes"] for row in found}
    return [
        ShardUse(number, server.name, sizes.get(schema, 0), rates.get(schema, 0.0))
        for number, schema in zip(numbers, schemas, strict=True)
    ]


async def _sample(conn: "Connection", schemas: list[str], sample_s: float) -> Mapping[str, float]:
    """Rows a second by schema. Busy backends report what they did about once a second."""
    before, began_at = await _read_rows(conn, schemas), monotonic()
    await asyncio.sleep(sample_s)
    after, took_s = await _read_rows(conn, schemas), monotonic() - began_at
    return {schema: max(0.0, (count - before.get(schema, 0)) / took_s) for schema, count in after.items()}


async def _read_rows(conn: "Connection", schemas: list[str]) -> dict[str, int]:
    return {row["schema"]: row["rows"] for row in await fetch_rows(conn, _ROWS, schemas)}
