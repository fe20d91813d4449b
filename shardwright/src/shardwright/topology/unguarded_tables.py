"""Finds tables of shards that have no guard, or that of another shard, and attaches it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shardwright.topology.connections import fetch_rows
from shardwright.topology.guards import EVENT_TRIGGER_NAME, TRIGGER_NAME

if TYPE_CHECKING:
    from asyncpg import Connection

_NAMES = f"'{TRIGGER_NAME}', '{EVENT_TRIGGER_NAME}'"
# Also partitions, at any depth, that lie in another schema than the shard's: whoever writes to one by its own name
# passes by the guards of the tables above it.
_FIND = f"""\
WITH RECURSIVE guards AS (
  SELECT n.nspname AS schema, n.oid AS namespace, p.oid AS guard
  FROM pg_catalog.pg_namespace n
  JOIN pg_catalog.pg_proc p ON p.pronamespace = n.oid AND p.proname = 'guard'
  WHERE n.nspname = ANY ($1::text[])
), tables (schema, guard, oid, is_own) AS (
  SELECT g.schema, g.guard, c.oid, true
  FROM guards g JOIN pg_catalog.pg_class c ON c.relnamespace = g.namespace AND c.relkind IN ('r', 'p', 'f')
  UNION
  SELECT t.schema, t.guard, i.inhrelid, false
  FROM tables t JOIN pg_catalog.pg_inherits i ON i.inhparent = t.oid
  JOIN pg_catalog.pg_class c ON c.oid = i.inhrelid AND c.relispartition
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND n.nspname !~ '^s[0-9]{{4}}$'
)
SELECT DISTINCT t.schema, pg_catalog.format('%I.%I', n.nspname, c.relname) AS name, c.relispartition AS is_partition,
  (SELECT min(other.tgname) FROM pg_catalog.pg_trigger other
   WHERE other.tgrelid = c.oid AND other.tgfoid = t.guard AND other.tgname IN ({_NAMES})) AS disabled
FROM tables t JOIN pg_catalog.pg_class c ON c.oid = t.oid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE NOT EXISTS (
  SELECT FROM pg_catalog.pg_trigger own
  WHERE own.tgrelid = c.oid AND own.tgfoid = t.guard AND own.tgname IN ({_NAMES}) AND own.tgenabled IN ('O', 'A'))
ORDER BY t.schema, name
"""  # noqa: S608 - constants of the library


@dataclass(frozen=True)
class UnguardedTable:
    """A table whose writes the shard's guard does not see; its name is qualified and quoted.

    `disabled` names the trigger, where there is one that somebody has disabled.
    """

    schema: str
    name: str
    is_partition: bool
    disabled: str | None

    def cure_sql(self) -> str:
        """The statement that guards it."""
        if self.disabled is not None:
            return f"ALTER TABLE {self.name} ENABLE TRIGGER {self.disabled}"
        return (
            f"CREATE OR REPLACE TRIGGER {TRIGGER_NAME} BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON {self.name} "
            f"FOR EACH STATEMENT EXECUTE FUNCTION {self.schema}.guard()"
        )


async def find_unguarded(conn: "Connection", schemas: Sequence[str]) -> list[UnguardedTable]:
    """The tables and partitions of these shards, by schema, that lack an enabled guard of their shard."""
    rows = await fetch_rows(conn, _FIND, list(schemas))
    return [UnguardedTable(row["schema"], row["name"], row["is_partition"], row["disabled"]) for row in rows]


async def attach_guards(conn: "Connection", tables: Iterable[UnguardedTable]) -> None:
    """Guard these tables, each in its own transaction, waiting at most a few seconds for a busy one."""
    for table in tables:
        async with conn.transaction():
            await conn.execute("SET LOCAL lock_timeout = '5s'")
            await conn.execute(table.cure_sql())
