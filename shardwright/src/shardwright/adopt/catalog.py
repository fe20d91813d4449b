"""Reads the tables of one schema from PostgreSQL's catalogs: columns, primary, unique and foreign keys."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shardwright.topology import fetch_rows

if TYPE_CHECKING:
    from asyncpg import Connection

_TABLES = """\
SELECT c.oid, c.relname AS name, c.relpersistence = 'u' AS is_unlogged, c.relreplident::text AS identity,
  greatest(c.reltuples, 0)::bigint AS rows, pg_table_size(c.oid) AS size_bytes,
  coalesce(s.n_tup_ins + s.n_tup_upd + s.n_tup_del, 0) AS writes
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_stat_user_tables s ON s.relid = c.oid
WHERE n.nspname = $1 AND c.relkind IN ('r', 'p') AND NOT c.relispartition
  AND NOT EXISTS (
    SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
ORDER BY c.relname
"""
_COLUMNS = """\
SELECT a.attrelid AS oid, a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type, a.attnotnull AS is_not_null,
  a.attgenerated <> '' AS is_generated,
  a.attidentity <> '' OR coalesce(pg_get_expr(d.adbin, d.adrelid) LIKE 'nextval(%', false) AS has_sequence,
  pg_get_serial_sequence(a.attrelid::regclass::text, a.attname) AS sequence
FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE a.attrelid = ANY ($1::oid[]) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attrelid, a.attnum
"""
_KEYS = """\
SELECT f.conrelid AS oid, f.conname AS name, f.contype::text AS kind, f.convalidated AS is_validated,
  p.relname AS parent, n.nspname AS parent_schema,
  ARRAY(SELECT a.attname::text FROM unnest(f.conkey) WITH ORDINALITY k (number, position)
    JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = k.number ORDER BY k.position) AS columns,
  ARRAY(SELECT a.attname::text FROM unnest(f.confkey) WITH ORDINALITY k (number, position)
    JOIN pg_attribute a ON a.attrelid = f.confrelid AND a.attnum = k.number ORDER BY k.position) AS parent_columns
FROM pg_constraint f LEFT JOIN pg_class p ON p.oid = f.confrelid LEFT JOIN pg_namespace n ON n.oid = p.relnamespace
WHERE f.conrelid = ANY ($1::oid[]) AND f.contype IN ('p', 'f', 'u') AND f.conparentid = 0
ORDER BY f.conrelid, f.conname
"""


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    name: str
    type: str
    is_not_null: bool
    is_generated: bool
    has_sequence: bool
    sequence: str | None


@dataclass(frozen=True)
class ForeignKey:
    """Columns of one table that refer to another."""

    name: str
    table: str
    columns: tuple[str, ...]
    parent_schema: str
    parent: str
    parent_columns: tuple[str, ...]
    is_validated: bool

    def __str__(self) -> str:
        return f"{self.table} ({', '.join(self.columns)}) → {self.parent} ({', '.join(self.parent_columns)})"


@dataclass(frozen=True)
class Table:
    """A table with what an adoption needs to know of it."""

    name: str
    columns: Mapping[str, Column]
    key: tuple[str, ...]
    """The columns of the primary key; empty where there is none."""
    foreign_keys: tuple[ForeignKey, ...]
    unique: tuple[tuple[str, ...], ...]
    """The columns of each unique constraint."""
    identity: str
    is_unlogged: bool
    rows: int
    size_bytes: int
    writes: int

    @property
    def stored(self) -> list[str]:
        """The columns whose values are copied: all that PostgreSQL does not compute."""
        return [name for name, column in self.columns.items() if not column.is_generated]

    @property
    def is_vocabulary(self) -> bool:
        """Whether it only gives numbers to names: every column belongs to its key or a unique constraint."""
        named = {name for columns in self.unique for name in columns}
        return bool(named) and not self.foreign_keys and self.columns.keys() <= named | set(self.key)

    @property
    def is_junction(self) -> bool:
        """Whether it only connects rows of other tables."""
        referring = {name for key in self.foreign_keys for name in key.columns}
        return bool(referring) and self.columns.keys() <= referring | set(self.key)

    def is_required(self, foreign_key: ForeignKey) -> bool:
        """Whether every row has the parent."""
        return all(self.columns[name].is_not_null for name in foreign_key.columns)


async def read_tables(conn: "Connection", schema: str) -> dict[str, Table]:
    """The tables of a schema by name, without partitions and those of extensions."""
    rows = await fetch_rows(conn, _TABLES, schema)
    oids = [row["oid"] for row in rows]
    columns: dict[int, dict[str, Column]] = {oid: {} for oid in oids}
    for row in await fetch_rows(conn, _COLUMNS, oids):
        values = {name: row[name] for name in Column.__dataclass_fields__}
        columns[row["oid"]][row["name"]] = Column(**values)
    names = {row["oid"]: row["name"] for row in rows}
    keys: dict[int, tuple[str, ...]] = {}
    foreign: dict[int, list[ForeignKey]] = {oid: [] for oid in oids}
    unique: dict[int, list[tuple[str, ...]]] = {oid: [] for oid in oids}
    for row in await fetch_rows(conn, _KEYS, oids):
        own = tuple(row["columns"])
        if row["kind"] == "p":
            keys[row["oid"]] = own
            continue
        if row["kind"] == "u":
            unique[row["oid"]].append(own)
            continue
        parent = row["parent_schema"], row["parent"], tuple(row["parent_columns"])
        foreign[row["oid"]].append(
            ForeignKey(row["name"], names[row["oid"]], own, *parent, row["is_validated"])
        )
    return {
        row["name"]: Table(
            name=row["name"],
            columns=columns[row["oid"]],
            key=keys.get(row["oid"], ()),
            foreign_keys=tuple(foreign[row["oid"]]),
            unique=tuple(unique[row["oid"]]),
            identity=row["identity"],
            is_unlogged=row["is_unlogged"],
            rows=row["rows"],
            size_bytes=row["size_bytes"],
            writes=row["writes"],
        )
        for row in rows
    }
