"""The cure for a shard whose ids run far ahead of the clock, because it was wrong once: lower them again.

Ids may only be lowered if none of those from the future is in use. So the shard is fenced, its tables are locked
against writers, and every bigint column is searched for such ids of this shard. What others hold, such as leases that a
tool took and has not used, nobody can see from here: stop such tools first.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from shardwright.errors import ShardwrightError
from shardwright.ids.layout import MAX_SHARDS, SEQUENCE_BITS, Layout, schema_name
from shardwright.ids.shard_functions import fence_sql, is_fenced_sql, lower_sql

if TYPE_CHECKING:
    from asyncpg import Connection

LOCK_TIMEOUT = "10s"
_COLUMNS = """\
SELECT format('%I.%I', n.nspname, c.relname) AS name, array_agg(a.attname::text ORDER BY a.attnum)
    FILTER (WHERE a.atttypid = 'int8'::regtype) AS columns
FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE n.nspname = $1 AND c.relkind IN ('r', 'p') AND NOT c.relispartition GROUP BY 1 ORDER BY 1
"""


@dataclass(frozen=True)
class FutureIds:
    """Ids in use whose time has not come yet."""

    table: str
    column: str
    count: int
    highest: int


class IdsInUse(ShardwrightError):
    """Ids from the future are in use, so new ones must stay above them."""

    def __init__(self, number: int, found: list[FutureIds], layout: Layout) -> None:
        self.found = found
        shown = ", ".join(
            f"{each.count} in {each.table}.{each.column} (up to {layout.id_time(each.highest):%Y-%m-%d})"
            for each in found
        )
        super().__init__(
            f"Shard {number} has rows with ids from the future: {shown}. "
            "Delete them or give them new ids, and try again."
        )


async def lower_ids(conn: "Connection", number: int, layout: Layout) -> None:
    """Make a shard's ids go on at the clock again; raises `IdsInUse` and changes nothing if later ones are in use."""
    was_fenced = cast("bool", await conn.fetchval(is_fenced_sql(number)))
    await conn.execute(fence_sql(number, is_fenced=True))
    try:
        async with conn.transaction():
            await conn.execute(f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'")
            found = await _find_future_ids(conn, number)
            if found:
                raise IdsInUse(number, found, layout)
            await conn.execute(lower_sql(number, layout))
    finally:
        if not was_fenced:
            await conn.execute(fence_sql(number, is_fenced=False))


async def _find_future_ids(conn: "Connection", number: int) -> list[FutureIds]:
    tables = cast("list[Any]", await conn.fetch(_COLUMNS, schema_name(number)))
    if tables:
        await conn.execute(f"LOCK TABLE {', '.join(row['name'] for row in tables)} IN SHARE MODE")
    found: list[FutureIds] = []
    for row in tables:
        for column in row["columns"] or ():
            quoted = '"' + column.replace('"', '""') + '"'
            count, highest = cast(
                "tuple[int, int]",
                await conn.fetchrow(
                    f"SELECT count(*), max({quoted}) FROM {row['name']} "  # noqa: S608 - names come from the catalog
                    f"WHERE {quoted} >= shardwright.min_id_at(clock_timestamp() + interval '1 minute') "
                    f"AND {quoted} >> {SEQUENCE_BITS} & {MAX_SHARDS - 1} = $1",
                    number,
                ),
            )
            if count:
                found.append(FutureIds(row["name"], column, count, highest))
    return found
