"""What cannot be widened safely, with the reason; everything that is in the way is reported at once."""

from collections.abc import AsyncGenerator, Sequence
from typing import TYPE_CHECKING

from shardwright.topology import fetch_rows, fetch_value
from shardwright.widen.columns import INTEGERS
from shardwright.widen.errors import WidenRefused
from shardwright.widen.models import PREFIX, TRIGGER, Column, WidenOptions

if TYPE_CHECKING:
    from asyncpg import Connection, Record

MIN_POSTGRESQL = 14
"""Since then a range of a table's blocks can be read without reading all of it."""

_TABLE = """\
SELECT c.relkind::text AS kind, c.relpersistence::text AS persistence, c.relforcerowsecurity AS forces_row_security,
  pg_has_role(c.relowner, 'USAGE') AS is_owner,
  (SELECT rolbypassrls OR rolsuper FROM pg_roles WHERE rolname = current_user) AS bypasses_row_security,
  EXISTS (SELECT FROM pg_inherits i WHERE c.oid IN (i.inhrelid, i.inhparent)) AS inherits,
  ARRAY(SELECT pubname::text FROM pg_publication_tables p JOIN pg_namespace n ON n.nspname = p.schemaname
    WHERE n.oid = c.relnamespace AND p.tablename = c.relname ORDER BY 1) AS publications,
  ARRAY(SELECT tgname::text FROM pg_trigger t WHERE t.tgrelid = c.oid AND NOT t.tgisinternal AND t.tgenabled <> 'D'
    AND t.tgtype & 16 > 0 AND t.tgtype & 1 > 0 AND array_length(t.tgattr, 1) IS NULL AND t.tgname <> $2 ORDER BY 1)
    AS update_triggers
FROM pg_class c WHERE c.oid = $1
"""
# Dependents that are understood are rebuilt by the plan; whatever else depends on the column is in the way.
_DEPENDENTS = f"""\
SELECT DISTINCT pg_describe_object(d.classid, d.objid, d.objsubid) AS what, d.classid::regclass::text AS class,
  c.relkind::text AS kind, k.contype::text AS constraint_kind, a.adnum AS default_of,
  r.ev_class = d.refobjid AS is_own_rule,
  (SELECT v.relkind::text FROM pg_class v WHERE v.oid = r.ev_class) AS view_kind
FROM pg_depend d
LEFT JOIN pg_class c ON d.classid = 'pg_class'::regclass AND c.oid = d.objid
LEFT JOIN pg_constraint k ON d.classid = 'pg_constraint'::regclass AND k.oid = d.objid
LEFT JOIN pg_attrdef a ON d.classid = 'pg_attrdef'::regclass AND a.oid = d.objid
LEFT JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = $1 AND d.refobjsubid = $2
  AND coalesce(c.relname, k.conname, '') NOT LIKE '{PREFIX}%'
"""
_VIEW_DEPENDENTS = """\
SELECT pg_describe_object(d.classid, d.objid, d.objsubid) AS what FROM pg_depend d
LEFT JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
LEFT JOIN pg_class v ON v.oid = r.ev_class
WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = $1 AND d.deptype <> 'i' AND coalesce(v.relkind, 'x') <> 'v'
UNION ALL
SELECT pg_describe_object(d.classid, d.objid, d.objsubid) FROM pg_depend d JOIN pg_type t ON t.oid = d.refobjid
WHERE d.refclassid = 'pg_type'::regclass AND t.typrelid = $1 AND d.deptype = 'n'
"""
_MAY_SILENCE_TRIGGERS = """\
SELECT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) OR CASE
  WHEN current_setting('server_version_num')::integer >= 150000
  THEN has_parameter_privilege('session_replication_role', 'SET') ELSE false END
"""
_LAG_IS_HIDDEN = """\
SELECT EXISTS (SELECT FROM pg_stat_replication) AND NOT pg_has_role('pg_read_all_stats', 'USAGE')
"""


async def check_columns(conn: "Connection", columns: Sequence[Column], options: WidenOptions) -> None:
    """Return when all can be widened; otherwise raise with everything that is in the way."""
    problems = [each async for each in _problems(conn, columns, options)]
    if problems:
        listed = "\n".join(f"- {problem}" for problem in dict.fromkeys(problems))
        raise WidenRefused(f"Nothing was changed, because:\n{listed}")


async def may_silence_triggers(conn: "Connection") -> bool:
    """Whether rows can be filled without firing the tables' own triggers."""
    return bool(await fetch_value(conn, _MAY_SILENCE_TRIGGERS))


async def _problems(
    conn: "Connection", columns: Sequence[Column], options: WidenOptions
) -> AsyncGenerator[str]:
    major = int(await fetch_value(conn, "SHOW server_version_num")) // 10_000
    if major < MIN_POSTGRESQL:
        yield f"this is PostgreSQL {major}; widening needs {MIN_POSTGRESQL} or later"
    if await fetch_value(conn, _LAG_IS_HIDDEN):
        yield (
            "how far standbys are behind is hidden from this role: GRANT pg_read_all_stats to it, so that "
            "filling can wait for them"
        )
    silences = await may_silence_triggers(conn)
    for table, oid in {column.table: column.table_oid for column in columns}.items():
        row = (await fetch_rows(conn, _TABLE, oid, TRIGGER))[0]
        for problem in _table_problems(table, row, options, may_silence=silences):
            yield problem
    for column in columns:
        if column.type not in INTEGERS:
            yield f"{column.name} is {column.type}, not integer"
        for row in await fetch_rows(conn, _DEPENDENTS, column.table_oid, column.number):
            problem = _dependent_problem(column, row)
            if problem:
                yield f"{row['what']} depends on {column.name}: {problem}"


def _table_problems(table: str, row: "Record", options: WidenOptions, *, may_silence: bool) -> list[str]:
    found: list[str] = []
    if row["kind"] != "r" or row["inherits"]:
        found.append(
            f"{table} is partitioned, inherits or is not a plain table: indexes of its parts cannot be built "
            "and exchanged together; widen it by attaching a table with new columns instead"
        )
    if row["persistence"] == "t":
        found.append(f"{table} is temporary")
    if not row["is_owner"]:
        found.append(f"{table} belongs to another role: sign in as its owner")
    if row["forces_row_security"] and not row["bypasses_row_security"]:
        found.append(f"{table} hides rows from this role (FORCE ROW LEVEL SECURITY): use one with BYPASSRLS")
    if row["publications"] and not options.published:
        found.append(
            f"{table} is published by {', '.join(row['publications'])}: subscribers stop at a column that they do not "
            "have. Finish a move of the shard first; for other subscribers add the column there, then say --published"
        )
    if row["update_triggers"] and not may_silence and not options.fire_triggers:
        found.append(
            f"{table} has triggers that every filled row would fire ({', '.join(row['update_triggers'])}): "
            "sign in as a superuser, which leaves them silent, or say --fire-triggers"
        )
    return found


_UNDERSTOOD_CONSTRAINTS = frozenset("pufcn")
_UNDERSTOOD = frozenset({"pg_trigger", "pg_policy", "pg_statistic_ext"})


def _dependent_problem(column: Column, row: "Record") -> str | None:
    kind = row["class"].removeprefix("pg_catalog.")
    if kind in _UNDERSTOOD or (kind == "pg_class" and row["kind"] in {"i", "S"}):
        return None
    if kind == "pg_constraint":
        return (
            None
            if row["constraint_kind"] in _UNDERSTOOD_CONSTRAINTS
            else "drop it first, and add it again later"
        )
    if kind == "pg_attrdef":
        return (
            None
            if row["default_of"] == column.number
            else "a generated column cannot be exchanged without a rewrite"
        )
    if kind == "pg_rewrite" and row["view_kind"] == "v" and not row["is_own_rule"]:
        return None
    if kind == "pg_rewrite" and row["view_kind"] == "m":
        return "a materialized view has to be dropped first, and created again later"
    return "it would go on with the old column; drop it first, and create it again later"


async def check_views(conn: "Connection", views: "Sequence[Record]") -> None:
    """Return when these views can be dropped and created again; otherwise raise."""
    problems: list[str] = []
    for view in views:
        if view["kind"] == "m":
            problems.append(
                f"{view['name']} is a materialized view: drop it first, and create it again later"
            )
        if view["has_triggers"] or view["has_rules"] or view["has_defaults"]:
            problems.append(f"{view['name']} has triggers, rules or defaults of its own: drop the view first")
        found = await fetch_rows(conn, _VIEW_DEPENDENTS, view["oid"])
        problems += [
            f"{row['what']} depends on the view {view['name']}, which has to be made anew" for row in found
        ]
    if problems:
        listed = "\n".join(f"- {problem}" for problem in problems)
        raise WidenRefused(f"Nothing was exchanged, because:\n{listed}")
