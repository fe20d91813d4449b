"""Guards for tables that plain SQL creates: an event trigger attaches them at the end of the statement.

Migrations attach guards to what they create (`guard_tables`). Tables made with psql, partitions made by a cron job,
CREATE TABLE AS, SELECT INTO, and tables moved into a shard's schema would have none, and could be written on a server
that no longer owns the shard. The event trigger gives them theirs at once; rows cost no more than with any guard.

It attaches it under a name of its own, and takes it away when the guard is attached by its proper one: functions that
create a partition and then its guard work as before.

Only a superuser can create event triggers. Where the installing role is none, nothing is installed; `doctor` says so.

The function belongs to the superuser and lives in a schema of its own: the schemas that belong to the migrator's role
must hold nothing that runs with a superuser's rights.
"""

import contextlib
from typing import TYPE_CHECKING

import asyncpg

from shardwright.topology.connections import fetch_value
from shardwright.topology.guards import EVENT_TRIGGER_NAME, TRIGGER_NAME

if TYPE_CHECKING:
    from asyncpg import Connection

EVENT_TRIGGER = "shardwright_guard_tables"
EVENT_SCHEMA = "shardwright_events"

# Looked at are what the statement made or changed, and the partitions of that: ATTACH PARTITION names the parent only.
# A table belongs to the shard of its schema, a partition in another schema to the shard of a table above it. Every
# query finds its rows by index: with thousands of shards, the catalogs are large.
_FUNCTION = f"""\
SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtext('shardwright'));  -- concurrent set-ups take turns
CREATE SCHEMA IF NOT EXISTS {EVENT_SCHEMA};
CREATE OR REPLACE FUNCTION {EVENT_SCHEMA}.guard_tables() RETURNS event_trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $function$
DECLARE
  command record;
  bare record;
  guard regprocedure;
BEGIN
  -- What pg_dump writes brings its triggers along, after its rows, which a guard may refuse.
  IF current_setting('check_function_bodies') = 'off' AND current_setting('row_security') = 'off' THEN
    RETURN;
  END IF;
  FOR command IN SELECT classid, objid FROM pg_event_trigger_ddl_commands() LOOP
    IF command.classid = 'pg_trigger'::regclass THEN
      FOR bare IN
        SELECT own.tgrelid::regclass AS name
        FROM pg_trigger proper JOIN pg_trigger own ON own.tgrelid = proper.tgrelid AND own.tgfoid = proper.tgfoid
        WHERE proper.oid = command.objid AND proper.tgname = '{TRIGGER_NAME}' AND own.tgname = '{EVENT_TRIGGER_NAME}'
      LOOP
        EXECUTE format('DROP TRIGGER {EVENT_TRIGGER_NAME} ON %s', bare.name);
      END LOOP;
    END IF;
    CONTINUE WHEN command.classid <> 'pg_class'::regclass;
    FOR bare IN
      SELECT c.oid, c.oid::regclass AS name, c.relispartition, n.nspname AS schema,
        pg_has_role(c.relowner, 'USAGE') AS is_allowed
      FROM (SELECT command.objid AS oid UNION ALL SELECT inhrelid FROM pg_inherits WHERE inhparent = command.objid) each
      JOIN pg_class c ON c.oid = each.oid AND c.relkind IN ('r', 'p', 'f') AND c.relpersistence <> 't'
      JOIN pg_namespace n ON n.oid = c.relnamespace
    LOOP
      guard := NULL;
      IF bare.schema ~ '^s[0-9]{{4}}$' THEN
        guard := to_regprocedure(bare.schema || '.guard()');
      ELSIF bare.relispartition THEN
        SELECT to_regprocedure(n.nspname || '.guard()') INTO guard
        FROM pg_partition_ancestors(bare.oid) AS a JOIN pg_class c ON c.oid = a.relid
        JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname ~ '^s[0-9]{{4}}$' LIMIT 1;
      END IF;
      IF guard IS NULL OR EXISTS (
        SELECT FROM pg_trigger t WHERE t.tgrelid = bare.oid AND t.tgfoid = guard
          AND t.tgname IN ('{TRIGGER_NAME}', '{EVENT_TRIGGER_NAME}')) THEN
        CONTINUE;
      ELSIF NOT bare.is_allowed THEN
        RAISE WARNING 'table % has no guard', bare.name
          USING HINT = 'Run "shardwright doctor --fix" as the owner of the table.';
      ELSE
        -- One of the proper name is there when the table comes from another shard.
        EXECUTE format('CREATE OR REPLACE TRIGGER %s BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON %s '
                       'FOR EACH STATEMENT EXECUTE FUNCTION %s',
          CASE WHEN EXISTS (SELECT FROM pg_trigger t WHERE t.tgrelid = bare.oid AND t.tgname = '{TRIGGER_NAME}')
               THEN '{TRIGGER_NAME}' ELSE '{EVENT_TRIGGER_NAME}' END, bare.name, guard);
      END IF;
    END LOOP;
  END LOOP;
END
$function$;
REVOKE ALL ON FUNCTION {EVENT_SCHEMA}.guard_tables() FROM PUBLIC;
-- Whoever owned them, having made them first, could replace what runs with a superuser's rights.
ALTER SCHEMA {EVENT_SCHEMA} OWNER TO CURRENT_USER;
ALTER FUNCTION {EVENT_SCHEMA}.guard_tables() OWNER TO CURRENT_USER;
"""  # noqa: S608 - constants of the library
_TAGS = (
    "ALTER FOREIGN TABLE",
    "ALTER TABLE",
    "CREATE FOREIGN TABLE",
    "CREATE SCHEMA",
    "CREATE TABLE",
    "CREATE TABLE AS",
    "CREATE TRIGGER",
    "IMPORT FOREIGN SCHEMA",
    "SELECT INTO",
)
_LISTED = ", ".join(f"'{tag}'" for tag in _TAGS)
# There is no CREATE OR REPLACE EVENT TRIGGER; one that is right is left alone, even where somebody has disabled it.
_EVENT_TRIGGER = f"""\
DO $install$
BEGIN
  IF EXISTS (SELECT FROM pg_catalog.pg_event_trigger
             WHERE evtname = '{EVENT_TRIGGER}' AND evtevent = 'ddl_command_end' AND evttags = ARRAY[{_LISTED}]
               AND evtfoid = '{EVENT_SCHEMA}.guard_tables()'::pg_catalog.regprocedure) THEN
    RETURN;
  END IF;
  DROP EVENT TRIGGER IF EXISTS {EVENT_TRIGGER};
  CREATE EVENT TRIGGER {EVENT_TRIGGER} ON ddl_command_end
    WHEN TAG IN ({_LISTED}) EXECUTE FUNCTION {EVENT_SCHEMA}.guard_tables();
END
$install$;
"""


def guard_events_sql() -> str:
    """The statements that install the event trigger, or bring it up to date; they need a superuser."""
    return _FUNCTION + _EVENT_TRIGGER


async def install_guard_events(conn: "Connection") -> bool:
    """Install the event trigger in this database, or bring it up to date; safe to repeat.

    Returns whether it is there and enabled: a role that may not install it changes nothing.
    """
    with contextlib.suppress(asyncpg.InsufficientPrivilegeError):
        async with conn.transaction():  # a savepoint, where the caller is in a transaction
            await conn.execute(guard_events_sql())
    return await has_guard_events(conn)


async def has_guard_events(conn: "Connection") -> bool:
    """Whether plain SQL in this database creates guarded tables."""
    return await fetch_value(
        conn,
        "SELECT EXISTS (SELECT FROM pg_catalog.pg_event_trigger WHERE evtname = $1 AND evtenabled IN ('O', 'A'))",
        EVENT_TRIGGER,
    )
