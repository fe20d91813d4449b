"""Guards: triggers by which a server refuses writes to shards it does not own, whatever a router's map says.

Every table of a shard has a statement trigger that calls the shard's `guard()`. The owner's guard is empty (at the
median 11 % of a small write, at best not measurable; a lookup in a table would cost 70 %), elsewhere it raises
SQLSTATE SW001. Replacing that one function transfers ownership, in a transaction with whatever else must change with
it. These triggers do not fire for logical replication's apply worker.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import asyncpg

from shardwright.errors import SetupInvalid
from shardwright.ids import NOT_OWNER_SQLSTATE, fence_sql, schema_name
from shardwright.topology.connections import fetch_rows, fetch_value

if TYPE_CHECKING:
    from asyncpg import Connection

SQLSTATE_NOT_OWNER = NOT_OWNER_SQLSTATE
TRIGGER_NAME = "shardwright_guard"
EVENT_TRIGGER_NAME = "shardwright_guard_by_event"
"""What the guard is called that the event trigger attached, until somebody attaches it by its own name."""

_GUARD = """\
CREATE OR REPLACE FUNCTION {schema}.guard() RETURNS trigger LANGUAGE plpgsql AS $guard$
BEGIN
{body}
END
$guard$;
"""
_OWNED = "  RETURN NULL;"
_REFUSING = """\
  RAISE EXCEPTION 'shard {number} is not owned by this server'
    USING ERRCODE = '{sqlstate}', HINT = 'load the shard map again and ask the owner';"""

# Routers that read from replicas see by it that their map may be outdated.
_COUNT_CHANGE = "UPDATE shardwright.replication SET ownership = ownership + 1;"

_FENCED = """\
SELECT n.nspname AS name FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
WHERE p.proname = 'guard' AND n.nspname = ANY ($1::text[]) AND strpos(p.prosrc, $2) > 0
"""

_ATTACH = """\
DO $attach$
DECLARE
  bare regclass;
BEGIN
  FOR bare IN
    SELECT c.oid FROM pg_catalog.pg_class c
    WHERE c.relnamespace = '{schema}'::pg_catalog.regnamespace AND c.relkind IN ('r', 'p', 'f')
      AND NOT EXISTS (SELECT FROM pg_catalog.pg_trigger t WHERE t.tgrelid = c.oid AND t.tgname = '{trigger}')
    ORDER BY c.oid
  LOOP
    IF EXISTS (SELECT FROM pg_catalog.pg_trigger t WHERE t.tgrelid = bare AND t.tgname = '{by_event}'
                 AND t.tgfoid = '{schema}.guard()'::pg_catalog.regprocedure) THEN
      EXECUTE format('ALTER TRIGGER {by_event} ON %s RENAME TO {trigger}', bare);
    ELSE
      EXECUTE format('CREATE TRIGGER {trigger} BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON %s '
                     'FOR EACH STATEMENT EXECUTE FUNCTION {schema}.guard()', bare);
    END IF;
  END LOOP;
END
$attach$;
"""


def guard_sql(number: int, *, owned: bool) -> str:
    """The statements that make a server accept writes to a shard and generate its ids, or refuse both."""
    return f"{guard_function_sql(number, owned=owned)}{fence_sql(number, is_fenced=not owned)};\n"


def guard_function_sql(number: int, *, owned: bool) -> str:
    """The statement that creates or replaces a shard's `guard()`; its ids stay as they are."""
    body = _OWNED if owned else _REFUSING.format(number=number, sqlstate=SQLSTATE_NOT_OWNER)
    return _GUARD.format(schema=schema_name(number), body=body)


def guard_tables_sql(number: int) -> str:
    """The statement that attaches the guard to every table of a shard that lacks it."""
    return _ATTACH.format(schema=schema_name(number), trigger=TRIGGER_NAME, by_event=EVENT_TRIGGER_NAME)


async def guard_tables(conn: "Connection", number: int) -> None:
    """Attach the guard to every table of the shard that lacks it. Call after every migration."""
    await conn.execute(guard_tables_sql(number))


async def set_owned(conn: "Connection", *numbers: int, owned: bool) -> None:
    """Make this server accept (or refuse) writes to the shards, from the commit on, and generate ids, from now on.

    Statements already past their trigger continue: lock the tables first when moving a shard. If the transaction is
    rolled back, the ids stay as they are now: call this again.
    """
    try:
        await conn.execute("".join(guard_sql(number, owned=owned) for number in numbers) + _COUNT_CHANGE)
    except (
        asyncpg.UndefinedTableError,
        asyncpg.UndefinedFunctionError,
        asyncpg.NumericValueOutOfRangeError,
    ) as error:
        raise SetupInvalid(
            f"shards {', '.join(map(str, numbers))} or their server have an earlier version of shardwright's own SQL, "
            "which cannot fence ids: run `shardwright upgrade` first"
        ) from error


async def is_owned(conn: "Connection", number: int) -> bool:
    """Whether this server has the shard and accepts writes to it."""
    return bool(await owned_numbers(conn, [number]))


async def owned_numbers(conn: "Connection", numbers: Sequence[int]) -> list[int]:
    """Those of the shards that this server has and accepts writes to."""
    found = await fetch_value(conn, f"SELECT ARRAY[{', '.join(map(is_owned_sql, numbers))}]::boolean[]")
    return [number for number, owned in zip(numbers, found, strict=True) if owned]


async def fenced_shards(conn: "Connection", numbers: Iterable[int]) -> frozenset[int]:
    """Those of the shards to which this server refuses writes."""
    rows = await fetch_rows(conn, _FENCED, [schema_name(number) for number in numbers], SQLSTATE_NOT_OWNER)
    return frozenset(int(row["name"][1:]) for row in rows)


def is_owned_sql(number: int) -> str:
    """A boolean expression: whether the server that evaluates it has the shard and accepts writes to it."""
    return (
        "EXISTS (SELECT FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace "
        f"WHERE n.nspname = '{schema_name(number)}' AND p.proname = 'guard' "
        f"AND strpos(p.prosrc, '{SQLSTATE_NOT_OWNER}') = 0)"
    )
