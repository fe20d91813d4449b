"""Finds the columns that have to be widened together: those that were named, and all that refer to them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from shardwright.topology import fetch_rows
from shardwright.widen.errors import WidenRefused
from shardwright.widen.models import Column, ColumnName

if TYPE_CHECKING:
    from asyncpg import Connection, Record

INTEGERS = ("integer", "smallint")

_DESCRIBE = """\
SELECT n.nspname AS schema, c.relname AS table, a.attname AS column, c.oid AS table_oid,
  c.oid::regclass::text AS qualified, a.attnum AS number,
  format_type(a.atttypid, NULL) AS type, a.attnotnull AS is_not_null
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE a.attnum > 0 AND NOT a.attisdropped AND
"""
_NAMED = _DESCRIBE + "n.nspname = $1 AND c.relname = $2 AND a.attname = $3"
# A foreign key of several columns refers position by position.
_REFERRING = (
    _DESCRIBE
    + """(a.attrelid, a.attnum) IN (
  SELECT f.conrelid, f.conkey[k.position] FROM pg_constraint f
  CROSS JOIN LATERAL unnest(f.confkey) WITH ORDINALITY AS k (number, position)
  WHERE f.contype = 'f' AND f.conparentid = 0 AND f.confrelid = $1 AND k.number = $2)"""
)


async def find_columns(conn: "Connection", names: Sequence[ColumnName]) -> list[Column]:
    """These columns and every integer column that refers to one of them, also indirectly."""
    found: dict[ColumnName, Column] = {}
    waiting = [await _get(conn, name) for name in names]
    while waiting:
        column = waiting.pop()
        if column.name in found:
            continue
        found[column.name] = column
        rows = await fetch_rows(conn, _REFERRING, column.table_oid, column.number)
        referring = [_column(row) for row in rows]
        waiting += [each for each in referring if each.type != "bigint"]
    return [found[name] for name in sorted(found)]


async def describe_columns(conn: "Connection", names: Sequence[ColumnName]) -> list[Column]:
    """Exactly these columns."""
    return [await _get(conn, name) for name in names]


async def _get(conn: "Connection", name: ColumnName) -> Column:
    rows = await fetch_rows(conn, _NAMED, name.schema, name.table, name.column)
    if not rows:
        raise WidenRefused(f"there is no column {name}")
    return _column(rows[0])


def _column(row: "Record") -> Column:
    name = ColumnName(row["schema"], row["table"], row["column"])
    return Column(name, row["qualified"], row["table_oid"], row["number"], row["type"], row["is_not_null"])
