"""The two sides of an adoption, the old database and the shards, and how rows are found, read and written there.

Values travel as text, as COPY has them: every type of PostgreSQL can be read from its own text. Connections apply in
the role of a replica: triggers and foreign keys of the tables do not fire.
"""

import asyncio
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from shardwright.adopt.catalog import Table
from shardwright.adopt.changes import Key
from shardwright.adopt.pgoutput import Value
from shardwright.topology import fetch_rows
from shardwright.widen import quote

if TYPE_CHECKING:
    from asyncpg import Connection, Record

# Text must mean the same on every server.
TEXT_SETTINGS = {
    "DateStyle": "ISO, YMD",
    "IntervalStyle": "postgres",
    "TimeZone": "UTC",
    "bytea_output": "hex",
    "extra_float_digits": "1",
    "lc_monetary": "C",
}
_TO_ESCAPE = re.compile(rb"[\\\t\n\r]")


@dataclass(frozen=True, order=True)
class Place:
    """A schema of a server that holds adopted rows."""

    server: str
    schema: str

    def table(self, name: str) -> str:
        """The qualified name of a table there."""
        return f"{quote(self.schema)}.{quote(name)}"


@dataclass(frozen=True)
class Found:
    """A row and where it is."""

    place: Place
    key: Key
    values: list[str | None]

    def encoded(self) -> list[Value]:
        """Its values as a stream has them."""
        return [None if value is None else value.encode() for value in self.values]


class Side:
    """One side: its connections by server, and the places of each table."""

    def __init__(self, conns: "Mapping[str, Connection]", places: Mapping[str, Sequence[Place]]) -> None:
        self.conns = conns
        self.places = places

    async def find(self, table: Table, keys: Sequence[Key]) -> dict[Key, set[Place]]:
        """The places that have rows with these keys."""
        found: dict[Key, set[Place]] = {}
        for each in await self._query(table, keys, columns=[]):
            found.setdefault(each.key, set()).add(each.place)
        return found

    async def fetch(self, table: Table, keys: Sequence[Key]) -> list[Found]:
        """The rows with these keys, wherever they are."""
        return await self._query(table, keys, columns=table.stored)

    async def fetch_children(
        self, table: Table, columns: Sequence[str], parents: Mapping[Place, Sequence[Key]]
    ) -> list[Found]:
        """The rows that refer to these keys by these columns, each in the place of its parent."""
        found: list[Found] = []
        for place, keys in parents.items():
            sql = _select(table, [place], columns, table.stored)
            rows = await fetch_rows(self.conns[place.server], sql, *_columns_of(keys, len(columns)))
            found += [_found([place], row) for row in rows]
        return found

    async def _query(self, table: Table, keys: Sequence[Key], columns: list[str]) -> list[Found]:
        if not keys:
            return []
        args = _columns_of(keys, len(table.key))

        async def ask(server: str, places: list[Place]) -> list[Found]:
            sql = _select(table, places, table.key, columns)
            return [_found(places, row) for row in await fetch_rows(self.conns[server], sql, *args)]

        answers = await asyncio.gather(
            *(ask(server, own) for server, own in self._by_server(table.name).items())
        )
        return [each for answer in answers for each in answer]

    def _by_server(self, table: str) -> dict[str, list[Place]]:
        found: dict[str, list[Place]] = {}
        for place in self.places[table]:
            found.setdefault(place.server, []).append(place)
        return found

    async def empty(self, table: str) -> None:
        """Delete every row of a table, everywhere."""
        for place in self.places[table]:
            await self.conns[place.server].execute(f"DELETE FROM {place.table(table)}")

    async def delete(self, place: Place, table: Table, keys: Sequence[Key]) -> None:
        """Delete rows by their keys, in one place."""
        condition = _condition(table, table.key, "t")
        await self.conns[place.server].execute(
            f"DELETE FROM {place.table(table.name)} AS t WHERE {condition}",
            *_columns_of(keys, len(table.key)),
        )

    async def insert(self, place: Place, table: Table, rows: Iterable[Sequence[Value]]) -> None:
        """Insert rows with all stored columns."""
        await self.copy_in(place, table, b"".join(copy_line(values) for values in rows))

    async def copy_in(self, place: Place, table: Table, lines: bytes) -> None:
        """Insert rows that are written as COPY's text format has them."""
        conn = cast("Any", self.conns[place.server])
        await conn.copy_to_table(
            table.name, schema_name=place.schema, columns=table.stored, source=io.BytesIO(lines)
        )


def copy_line(values: Sequence[Value]) -> bytes:
    """A row in the text format of COPY."""
    return b"\t".join(_copy_value(value) for value in values) + b"\n"


def _copy_value(value: Value) -> bytes:
    if not isinstance(value, bytes):
        return b"\\N"
    if _TO_ESCAPE.search(value) is None:
        return value
    escaped = value.replace(b"\\", b"\\\\").replace(b"\t", b"\\t")
    return escaped.replace(b"\n", b"\\n").replace(b"\r", b"\\r")


def _select(table: Table, places: Sequence[Place], by: Sequence[str], columns: Sequence[str]) -> str:
    """Rows of several places, by the values of some columns: the place's number, the key, and further columns."""
    key = ", ".join(f"t.{quote(name)}::text" for name in table.key)
    values = ", ".join(f"t.{quote(name)}::text" for name in columns)
    condition = _condition(table, by, "t")
    return " UNION ALL ".join(
        f"SELECT {number} AS place, ARRAY[{key}]::text[] AS key, ARRAY[{values}]::text[] AS row_values "
        f"FROM {place.table(table.name)} AS t WHERE {condition}"
        for number, place in enumerate(places)
    )


def _condition(table: Table, by: Sequence[str], alias: str) -> str:
    """These columns equal one of the rows in the parameters, an array of text for each column."""
    if len(by) == 1:
        return f"{alias}.{quote(by[0])} = ANY ($1::text[]::{table.columns[by[0]].type}[])"
    names = ", ".join(f"{alias}.{quote(name)}" for name in by)
    wanted = ", ".join(f"k{position}::{table.columns[name].type}" for position, name in enumerate(by))
    arrays = ", ".join(f"${position + 1}::text[]" for position in range(len(by)))
    called = ", ".join(f"k{position}" for position in range(len(by)))
    return f"({names}) IN (SELECT {wanted} FROM unnest({arrays}) AS wanted ({called}))"


def _columns_of(keys: Sequence[Key], width: int) -> list[list[str]]:
    return [[key[position] for key in keys] for position in range(width)]


def _found(places: Sequence[Place], row: "Record") -> Found:
    at: int = row["place"]
    return Found(places[at], tuple(row["key"]), list(row["row_values"]))
