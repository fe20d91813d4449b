"""Reads everything that is defined on columns, with each column under a name that occurs nowhere else.

PostgreSQL prints definitions with a column's current name. So the columns are renamed to placeholders, the
definitions are read, and the renaming is rolled back: wherever a placeholder stands, and only there, the column is
meant. No SQL has to be parsed. The caller holds ACCESS EXCLUSIVE locks on the tables.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shardwright.topology import fetch_rows
from shardwright.widen.models import PREFIX, TRIGGER, Column, quote

if TYPE_CHECKING:
    from asyncpg import Connection, Record

_MENTIONS = "EXISTS (SELECT FROM unnest($2::text[]) AS searched (name) WHERE strpos(%s, searched.name) > 0)"

_INDEXES = f"""\
SELECT n.nspname AS schema, c.relname AS name, quote_ident(c.relname) AS quoted,
  i.indrelid::regclass::text AS table, i.indisunique AS is_unique, pg_get_indexdef(i.indexrelid) AS definition,
  i.indisreplident AS is_replica_identity, i.indisclustered AS is_clustered,
  s.spcname AS tablespace, k.conname AS constraint, k.contype::text AS kind, k.condeferrable AS is_deferrable,
  k.condeferred AS is_deferred, obj_description(c.oid, 'pg_class') AS comment,
  obj_description(k.oid, 'pg_constraint') AS constraint_comment, i.indpred IS NOT NULL AS is_partial
FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_tablespace s ON s.oid = c.reltablespace
LEFT JOIN pg_constraint k ON k.conindid = i.indexrelid AND k.conrelid = i.indrelid AND k.contype IN ('p', 'u', 'x')
WHERE i.indrelid = ANY ($1::oid[]) AND c.relname NOT LIKE '{PREFIX}%'
  AND {_MENTIONS % "pg_get_indexdef(i.indexrelid)"} ORDER BY 1, 2
"""
_CONSTRAINTS = f"""\
SELECT k.conname AS name, k.contype::text AS kind, k.conrelid::regclass::text AS table,
  nullif(k.confrelid, 0)::regclass::text AS other_table, pg_get_constraintdef(k.oid) AS definition,
  k.convalidated AS is_valid, obj_description(k.oid, 'pg_constraint') AS comment
FROM pg_constraint k WHERE k.contype IN ('f', 'c') AND (k.conrelid = ANY ($1::oid[]) OR k.confrelid = ANY ($1::oid[]))
  AND k.conname NOT LIKE '{PREFIX}%' AND {_MENTIONS % "pg_get_constraintdef(k.oid)"} ORDER BY 3, 1
"""
_STATISTICS = f"""\
SELECT n.nspname AS schema, e.stxname AS name, format('%I.%I', n.nspname, e.stxname) AS qualified,
  e.stxrelid::regclass::text AS table,
  pg_get_statisticsobjdef(e.oid) AS definition, coalesce(e.stxstattarget, -1) AS target
FROM pg_statistic_ext e JOIN pg_namespace n ON n.oid = e.stxnamespace
WHERE e.stxrelid = ANY ($1::oid[]) AND e.stxname NOT LIKE '{PREFIX}%'
  AND {_MENTIONS % "pg_get_statisticsobjdef(e.oid)"} ORDER BY 1, 2
"""
_TRIGGERS = f"""\
SELECT t.tgname AS name, t.tgrelid::regclass::text AS table, pg_get_triggerdef(t.oid) AS definition,
  t.tgenabled::text AS enabled, obj_description(t.oid, 'pg_trigger') AS comment
FROM pg_trigger t WHERE t.tgrelid = ANY ($1::oid[]) AND NOT t.tgisinternal AND t.tgname <> '{TRIGGER}'
  AND {_MENTIONS % "pg_get_triggerdef(t.oid)"} ORDER BY 2, 1
"""
_POLICIES = f"""\
SELECT p.polname AS name, p.polrelid::regclass::text AS table, pg_get_expr(p.polqual, p.polrelid) AS using,
  pg_get_expr(p.polwithcheck, p.polrelid) AS with_check
FROM pg_policy p WHERE p.polrelid = ANY ($1::oid[]) AND {
    _MENTIONS % "concat(pg_get_expr(p.polqual, p.polrelid), ' ', pg_get_expr(p.polwithcheck, p.polrelid))"
} ORDER BY 2, 1
"""
# The rules of views depend on columns; views of views on the views.
_VIEWS = """\
WITH RECURSIVE found (oid, depth) AS (
  SELECT r.ev_class, 1 FROM pg_depend d JOIN pg_rewrite r ON r.oid = d.objid
  WHERE d.classid = 'pg_rewrite'::regclass AND d.refclassid = 'pg_class'::regclass AND r.ev_class <> d.refobjid
    AND (d.refobjid, d.refobjsubid) IN (SELECT * FROM unnest($1::oid[], $2::integer[]))
  UNION
  SELECT r.ev_class, f.depth + 1 FROM found f JOIN pg_depend d ON d.refobjid = f.oid
  JOIN pg_rewrite r ON r.oid = d.objid
  WHERE d.classid = 'pg_rewrite'::regclass AND d.refclassid = 'pg_class'::regclass AND r.ev_class <> f.oid)
SELECT c.oid, c.oid::regclass::text AS name, c.relkind::text AS kind, max(f.depth) AS depth,
  pg_get_viewdef(c.oid) AS definition, array_to_string(c.reloptions, ', ') AS options,
  quote_ident(pg_get_userbyid(c.relowner)) AS owner, obj_description(c.oid, 'pg_class') AS comment,
  EXISTS (SELECT FROM pg_trigger t WHERE t.tgrelid = c.oid AND NOT t.tgisinternal) AS has_triggers,
  (SELECT count(*) FROM pg_rewrite r WHERE r.ev_class = c.oid) > 1 AS has_rules,
  EXISTS (SELECT FROM pg_attrdef a WHERE a.adrelid = c.oid) AS has_defaults
FROM found f JOIN pg_class c ON c.oid = f.oid GROUP BY c.oid ORDER BY depth, name
"""
_COLUMNS = """\
SELECT a.attname AS column, a.attrelid::regclass::text AS table, a.attidentity::text AS identity,
  pg_get_expr(d.adbin, d.adrelid) AS default, col_description(a.attrelid, a.attnum) AS comment,
  nullif(coalesce(a.attstattarget, -1), -1) AS statistics, array_to_string(a.attoptions, ', ') AS options,
  (SELECT k.conname FROM pg_constraint k WHERE k.conrelid = a.attrelid AND k.contype = 'n'
    AND k.conkey = ARRAY[a.attnum]) AS not_null_constraint,
  ARRAY(SELECT s.seqrelid::regclass::text FROM pg_sequence s JOIN pg_depend q ON q.classid = 'pg_attrdef'::regclass
    AND q.objid = d.oid AND q.refclassid = 'pg_class'::regclass AND q.refobjid = s.seqrelid
    WHERE s.seqtypid IN ('integer'::regtype, 'smallint'::regtype)) AS narrow_sequences,
  ARRAY(SELECT o.objid::regclass::text FROM pg_depend o JOIN pg_sequence s ON s.seqrelid = o.objid
    WHERE o.classid = 'pg_class'::regclass AND o.refclassid = 'pg_class'::regclass AND o.refobjid = a.attrelid
    AND o.refobjsubid = a.attnum AND o.deptype = 'a') AS owned_sequences
FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE a.attrelid = $1 AND a.attnum = $2
"""
_GRANTS = """\
SELECT g.kind, g.name, g.of_column, CASE x.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(x.grantee)) END
  AS grantee, x.privilege_type AS privilege, x.is_grantable
FROM (
  SELECT 'TABLE' AS kind, c.oid::regclass::text AS name, '' AS of_column, c.relowner AS owner, c.relacl AS acl
  FROM pg_class c WHERE c.oid = ANY ($1::oid[])
  UNION ALL
  SELECT 'TABLE', c.oid::regclass::text, a.attname, c.relowner, a.attacl FROM pg_class c
  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attacl IS NOT NULL AND NOT a.attisdropped
  WHERE c.oid = ANY ($1::oid[]) OR (c.oid, a.attnum::integer) IN (SELECT * FROM unnest($2::oid[], $3::integer[]))
) AS g CROSS JOIN LATERAL aclexplode(g.acl) AS x WHERE x.grantee <> g.owner ORDER BY 2, 3, 4, 5
"""


@dataclass(frozen=True)
class Definitions:
    """What is defined on the columns; in every definition the columns are placeholders."""

    columns: "list[tuple[Column, Record]]"
    indexes: "list[Record]"
    constraints: "list[Record]"
    statistics: "list[Record]"
    triggers: "list[Record]"
    policies: "list[Record]"
    views: "list[Record]"
    grants: "list[Record]"
    """Privileges on these views, and on the columns themselves."""


async def read_definitions(conn: "Connection", columns: Sequence[Column]) -> Definitions:
    """Read all of them; the tables are as before afterwards."""
    oids = list({column.table_oid for column in columns})
    pairs = [column.table_oid for column in columns], [column.number for column in columns]
    details = [
        (column, (await fetch_rows(conn, _COLUMNS, column.table_oid, column.number))[0]) for column in columns
    ]
    renamed = conn.transaction()
    await renamed.start()
    try:
        await conn.execute(";".join(_rename(column) for column in columns))
        arguments: tuple[Any, Any] = (oids, [column.placeholder for column in columns])
        views = await fetch_rows(conn, _VIEWS, *pairs)
        return Definitions(
            details,
            await fetch_rows(conn, _INDEXES, *arguments),
            await fetch_rows(conn, _CONSTRAINTS, *arguments),
            await fetch_rows(conn, _STATISTICS, *arguments),
            await fetch_rows(conn, _TRIGGERS, *arguments),
            await fetch_rows(conn, _POLICIES, *arguments),
            views,
            await _read_grants(conn, views, columns),
        )
    finally:
        await renamed.rollback()


async def _read_grants(
    conn: "Connection", views: "Sequence[Record]", columns: Sequence[Column]
) -> "list[Record]":
    tables, numbers = [column.table_oid for column in columns], [column.number for column in columns]
    return await fetch_rows(conn, _GRANTS, [view["oid"] for view in views], tables, numbers)


def _rename(column: Column) -> str:
    return f"ALTER TABLE {column.table} RENAME {quote(column.name.column)} TO {quote(column.placeholder)}"
