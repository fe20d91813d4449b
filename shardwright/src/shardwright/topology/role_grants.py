"""SQL of the role set: what each role may do with a database, its schemas and what is created in them later."""

from typing import TYPE_CHECKING, Protocol

from shardwright.ids import NOT_OWNER_SQLSTATE
from shardwright.topology.connections import fetch_rows

if TYPE_CHECKING:
    from asyncpg import Connection

WRITES = "INSERT, UPDATE, DELETE"
_ROWS = f"SELECT, {WRITES}"
# The id generator advances a shard's sequences in the caller's name. All three together: with UPDATE alone,
# PostgreSQL would hide the last value, and the sequence would be set back.
_SEQUENCES = "USAGE, SELECT, UPDATE"
OWN_SCHEMAS = r"^(shardwright|shardwright_directory|common|s[0-9]{4})$"
LIBRARY_TABLES = {
    "shardwright": ("identity", "dispatch_functions", "replication"),
    "shardwright_directory": ("settings", "servers", "shards", "moves", "move_steps"),
}
"""Tables that only the owner writes, beside each schema's `schema_version`."""
TOUCHED_COLUMNS = {"dispatch_functions": "asked_at", "replication": "timeline"}
"""Columns of such tables that routers update all the same."""


class Roles(Protocol):
    """The names of the roles."""

    @property
    def owner(self) -> str:
        """Owns everything."""
        ...

    @property
    def migrator(self) -> str:
        """Becomes the owner."""
        ...

    @property
    def runtime(self) -> str:
        """Reads and writes rows."""
        ...

    @property
    def reader(self) -> str:
        """Reads rows."""
        ...


def privileges_sql(database: str, roles: Roles) -> str:
    """Who may connect to the database (a quoted name) and who may create schemas in it."""
    return f"""\
REVOKE CREATE, TEMPORARY ON DATABASE {database} FROM PUBLIC;
GRANT CONNECT, CREATE, TEMPORARY ON DATABASE {database} TO {roles.owner};
GRANT CONNECT ON DATABASE {database} TO {roles.migrator}, {roles.runtime}, {roles.reader};
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
"""


def backend_size_sql(roles: Roles) -> str:
    """Let the application learn how much memory its own sessions take: a router replaces those that have grown."""
    return f"GRANT EXECUTE ON FUNCTION pg_catalog.pg_get_backend_memory_contexts() TO {roles.runtime};\n"


def default_privileges_sql(roles: Roles) -> str:
    """What the roles get on everything that the owner creates from now on."""
    both = f"{roles.runtime}, {roles.reader}"
    changes = (
        f"GRANT USAGE ON SCHEMAS TO {both}",
        f"GRANT {_ROWS} ON TABLES TO {roles.runtime}",
        f"GRANT SELECT ON TABLES TO {roles.reader}",
        f"GRANT {_SEQUENCES} ON SEQUENCES TO {roles.runtime}",
        f"GRANT SELECT ON SEQUENCES TO {roles.reader}",
        "REVOKE EXECUTE ON ROUTINES FROM PUBLIC",
        f"GRANT EXECUTE ON ROUTINES TO {both}",
    )
    return "".join(f"ALTER DEFAULT PRIVILEGES FOR ROLE {roles.owner} {change};\n" for change in changes)


# An object of an extension stays its extension's; a sequence of a column follows its table. Copies of shards that
# belong to another server are left alone: a move has fenced them for reads too.
_FOREIGN = """\
SELECT n.nspname FROM pg_catalog.pg_namespace n
WHERE n.nspname ~ $1 AND NOT EXISTS (
  SELECT FROM pg_catalog.pg_proc p WHERE p.pronamespace = n.oid AND p.proname = 'guard' AND strpos(p.prosrc, $5) > 0)
AND (
  n.nspowner <> $2::regrole
  OR NOT has_schema_privilege($3, n.oid, 'USAGE') OR NOT has_schema_privilege($4, n.oid, 'USAGE')
  OR EXISTS (SELECT FROM pg_catalog.pg_class c WHERE c.relnamespace = n.oid
             AND (c.relkind IN ('r', 'p', 'v', 'm', 'f') AND (NOT has_table_privilege($3, c.oid, 'SELECT')
                                                               OR NOT has_table_privilege($4, c.oid, 'SELECT'))
                  OR c.relkind = 'S' AND NOT has_sequence_privilege($3, c.oid, 'USAGE')
                  OR c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S') AND c.relowner <> $2::regrole))
  OR EXISTS (SELECT FROM pg_catalog.pg_proc p WHERE p.pronamespace = n.oid
             AND (p.proowner <> $2::regrole OR NOT has_function_privilege($3, p.oid, 'EXECUTE'))
             AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')))
ORDER BY n.nspname
"""


async def needs_grants(conn: "Connection", roles: Roles) -> list[str]:
    """The schemas of shardwright in which something is not the owner's, or not granted yet."""
    rows = await fetch_rows(
        conn, _FOREIGN, OWN_SCHEMAS, roles.owner, roles.runtime, roles.reader, NOT_OWNER_SQLSTATE
    )
    return [row["nspname"] for row in rows]


_ADOPT = """\
DO $adopt$
DECLARE
  change text;
BEGIN
  FOR change IN
    SELECT format('ALTER SCHEMA %1$I OWNER TO {owner}', '{schema}')
    UNION ALL
    SELECT format('ALTER TABLE %s OWNER TO {owner}', c.oid::regclass) FROM pg_catalog.pg_class c
    WHERE c.relnamespace = '{schema}'::regnamespace AND c.relowner <> '{owner}'::regrole
      AND c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S') AND NOT EXISTS (
        SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid
          AND (d.deptype = 'e' OR c.relkind = 'S' AND d.deptype IN ('a', 'i') AND d.refclassid = 'pg_class'::regclass))
    UNION ALL
    SELECT format('ALTER ROUTINE %s OWNER TO {owner}', p.oid::regprocedure) FROM pg_catalog.pg_proc p
    WHERE p.pronamespace = '{schema}'::regnamespace AND p.proowner <> '{owner}'::regrole AND NOT EXISTS (
        SELECT FROM pg_catalog.pg_depend d
        WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')
    UNION ALL
    SELECT format('ALTER TYPE %s OWNER TO {owner}', t.oid::regtype) FROM pg_catalog.pg_type t
    LEFT JOIN pg_catalog.pg_class c ON c.oid = t.typrelid
    WHERE t.typnamespace = '{schema}'::regnamespace AND t.typowner <> '{owner}'::regrole
      AND (t.typtype IN ('e', 'd', 'r') OR c.relkind = 'c') AND NOT EXISTS (
        SELECT FROM pg_catalog.pg_depend d
        WHERE d.classid = 'pg_type'::regclass AND d.objid = t.oid AND d.deptype = 'e')
  LOOP
    EXECUTE change;
  END LOOP;
END
$adopt$;
"""


def schema_grants_sql(schema: str, roles: Roles) -> str:
    """Give a schema and all that is in it to the owner, and to the others what default privileges would have."""
    both = f"{roles.runtime}, {roles.reader}"
    grants = f"""\
GRANT USAGE ON SCHEMA {schema} TO {both};
GRANT {_ROWS} ON ALL TABLES IN SCHEMA {schema} TO {roles.runtime};
GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {roles.reader};
GRANT {_SEQUENCES} ON ALL SEQUENCES IN SCHEMA {schema} TO {roles.runtime};
GRANT SELECT ON ALL SEQUENCES IN SCHEMA {schema} TO {roles.reader};
REVOKE EXECUTE ON ALL ROUTINES IN SCHEMA {schema} FROM PUBLIC;
GRANT EXECUTE ON ALL ROUTINES IN SCHEMA {schema} TO {both};
"""  # noqa: S608 - names come from the catalog and from a checked prefix
    tables = [f"{schema}.{table}" for table in (*LIBRARY_TABLES.get(schema, ()), "schema_version")]
    adopt = _ADOPT.format(schema=schema, owner=roles.owner)
    return adopt + grants + "".join(restrict_writes_sql(table) for table in tables)


_RESTRICT = """\
DO $restrict$
DECLARE
  reader regrole;
BEGIN
  FOR reader IN
    SELECT DISTINCT a.grantee::regrole
    FROM pg_catalog.pg_class c CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) AS a
    WHERE c.oid = to_regclass('{table}') AND a.grantee NOT IN (0, c.relowner)
      AND a.privilege_type IN ('INSERT', 'UPDATE', 'DELETE', 'TRUNCATE')
  LOOP
    EXECUTE format('REVOKE {writes}, TRUNCATE ON {table} FROM %s', reader);{touch}
  END LOOP;
END
$restrict$;
"""
_TOUCH = """
    EXECUTE format('GRANT UPDATE ({column}) ON {table} TO %s', reader);"""


def restrict_writes_sql(table: str) -> str:
    """The statement that leaves reading alone to everybody to whom default privileges gave a table of the library.

    The names of the roles do not matter: it looks at who may write. A table that does not exist is left out.
    """
    column = TOUCHED_COLUMNS.get(table.rpartition(".")[2])
    touch = _TOUCH.format(column=column, table=table) if column else ""
    return _RESTRICT.format(table=table, writes=WRITES, touch=touch)
