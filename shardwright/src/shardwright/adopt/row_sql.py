"""Statements with the rows of a small batch written into them, so that one round trip carries all of them.

Values are literals without a type: PostgreSQL reads them as the type of their column, as COPY does.
"""

from collections.abc import Sequence

from shardwright.adopt.catalog import Table
from shardwright.adopt.changes import Key
from shardwright.adopt.pgoutput import Value
from shardwright.adopt.sides import Place
from shardwright.widen import quote


def delete_sql(place: Place, table: Table, keys: Sequence[Key]) -> str:
    """The statement that deletes rows by their keys."""
    columns = ", ".join(quote(name) for name in table.key)
    wanted = ", ".join(_tuple([value.encode() for value in key]) for key in keys)
    return f"DELETE FROM {place.table(table.name)} WHERE ({columns}) IN ({wanted})"


def insert_sql(place: Place, table: Table, rows: Sequence[Sequence[Value]]) -> str:
    """The statement that inserts rows with all stored columns."""
    columns = ", ".join(quote(name) for name in table.stored)
    values = ", ".join(_tuple(row) for row in rows)
    return f"INSERT INTO {place.table(table.name)} ({columns}) OVERRIDING SYSTEM VALUE VALUES {values}"


def _tuple(values: Sequence[Value]) -> str:
    return f"({', '.join(_literal(value) for value in values)})"


def _literal(value: Value) -> str:
    if not isinstance(value, bytes):
        return "NULL"
    escaped = value.decode().replace("\\", "\\\\").replace("'", "''")
    return f"E'{escaped}'"
