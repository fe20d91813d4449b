"""Identity columns: the new column gets a sequence of the same name that goes on where the old one is."""

from typing import TYPE_CHECKING

from shardwright.topology import fetch_rows, fetch_value
from shardwright.widen.models import Column, quote

if TYPE_CHECKING:
    from asyncpg import Connection, Record

_SEQUENCE = """\
SELECT c.relname AS name, c.oid::regclass::text AS qualified, s.seqstart AS start, s.seqincrement AS increment,
  s.seqmin AS min, s.seqmax AS max, s.seqcache AS cache, s.seqcycle AS cycles
FROM pg_depend d JOIN pg_class c ON c.oid = d.objid JOIN pg_sequence s ON s.seqrelid = c.oid
WHERE d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass AND d.deptype = 'i'
  AND d.refobjid = $1 AND d.refobjsubid = $2
"""
_GRANTS = """\
SELECT format('GRANT %s ON SEQUENCE %s TO %s%s', x.privilege_type, c.oid::regclass, CASE x.grantee WHEN 0 THEN 'PUBLIC'
  ELSE quote_ident(pg_get_userbyid(x.grantee)) END, CASE WHEN x.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END)
  AS sql
FROM pg_class c CROSS JOIN LATERAL aclexplode(c.relacl) AS x
WHERE c.oid = $1::text::regclass AND x.grantee <> c.relowner
"""


async def exchange_identity(conn: "Connection", column: Column, detail: "Record") -> None:
    """Take identity and NOT NULL from the old column, and give identity to the new one.

    Nobody can draw a value meanwhile: altering the sequence locks it until the transaction ends.
    """
    old = (await fetch_rows(conn, _SEQUENCE, column.table_oid, column.number))[0]
    await conn.execute(f"ALTER SEQUENCE {old['qualified']} AS bigint")
    last = (await fetch_rows(conn, f"SELECT last_value, is_called FROM {old['qualified']}"))[0]
    widest = (await fetch_rows(conn, _SEQUENCE, column.table_oid, column.number))[0]
    grants = [row["sql"] for row in await fetch_rows(conn, _GRANTS, old["qualified"])]
    kind = "ALWAYS" if detail["identity"] == "a" else "BY DEFAULT"
    alter = f"ALTER TABLE {column.table} ALTER COLUMN"
    cycle = "CYCLE" if old["cycles"] else "NO CYCLE"
    sequence = (
        f"SEQUENCE NAME {old['qualified']} START WITH {old['start']} INCREMENT BY {old['increment']} "
        f"MINVALUE {widest['min']} MAXVALUE {widest['max']} CACHE {old['cache']} {cycle}"
    )
    statements = [
        f"{alter} {quote(column.narrow)} DROP IDENTITY",
        f"{alter} {quote(column.narrow)} DROP NOT NULL",
        f"{alter} {quote(column.name.column)} ADD GENERATED {kind} AS IDENTITY ({sequence})",
        *grants,
    ]
    await conn.execute(";\n".join(statements))
    is_called = "true" if last["is_called"] else "false"
    await fetch_value(
        conn, f"SELECT setval($1::text::regclass, $2, {is_called})", old["qualified"], last["last_value"]
    )
