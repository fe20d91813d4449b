"""Looks for an id in every column of every table of every shard, whatever the column is called."""

from itertools import groupby
from typing import cast

import asyncpg

from tintype.wiring import Rooms
from tintype.worker import connect_to_server

COLUMNS = """
SELECT c.table_schema, c.table_name, c.column_name, c.data_type
FROM information_schema.columns AS c JOIN information_schema.tables AS t USING (table_schema, table_name)
WHERE table_schema ~ '^s[0-9]{4}$' AND t.table_type = 'BASE TABLE'
  AND c.data_type IN ('bigint', 'numeric', 'text', 'character varying', 'json', 'jsonb', 'ARRAY')
ORDER BY 1, 2, 3
"""


async def find_leftovers(rooms: Rooms, wanted: int) -> set[str]:
    """`table.column` wherever the number stands, as a number, in a list, or within a text."""
    found: set[str] = set()
    for dsn in rooms.settings.postgres_admin:
        async with connect_to_server(dsn) as connection:
            columns = [tuple(row) for row in cast("list[asyncpg.Record]", await connection.fetch(COLUMNS))]
            for (schema, table), own in groupby(columns, key=lambda column: column[:2]):
                held = [(name, kind) for _, _, name, kind in own]
                hits = ", ".join(f"coalesce(bool_or({_has(*each, wanted)}), false)" for each in held)
                row = cast(
                    "tuple[bool, ...]", await connection.fetchrow(f'SELECT {hits} FROM "{schema}"."{table}"')
                )
                found |= {f"{table}.{name}" for (name, _), is_hit in zip(held, row, strict=True) if is_hit}
    return found


def _has(name: str, kind: str, wanted: int) -> str:
    return f'"{name}" = {wanted}' if kind in {"bigint", "numeric"} else f"\"{name}\"::text LIKE '%{wanted}%'"
