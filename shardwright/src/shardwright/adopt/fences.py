"""Fences: triggers by which the side that does not own the rows refuses to have them written.

Every adopted table, on both sides, has a statement trigger that calls one function of its database. Replacing that
function opens or closes all tables there. Appliers, which work in the role of a replica, pass.
"""

import asyncio
import random
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import asyncpg

from shardwright.adopt.errors import AdoptFailed
from shardwright.adopt.models import AdoptOptions
from shardwright.adopt.streams import SCHEMA
from shardwright.topology import SQLSTATE_NOT_OWNER, fetch_value

if TYPE_CHECKING:
    from asyncpg import Connection

NOT_FREE = (asyncpg.LockNotAvailableError, asyncpg.DeadlockDetectedError, asyncpg.QueryCanceledError)
"""Writers did not end in time."""
TRIGGER = "shardwright_adopt_guard"
SideName = Literal["old", "shards"]
"""Both may be in one database, where each has a function of its own."""

_FUNCTION = f"""\
CREATE OR REPLACE FUNCTION {SCHEMA}.{{function}}() RETURNS trigger LANGUAGE plpgsql AS $guard$
BEGIN
{{body}}
END
$guard$;
"""
_CLOSED = f"""\
  RAISE EXCEPTION 'table % is being adopted, and its rows are owned elsewhere', TG_TABLE_NAME
    USING ERRCODE = '{SQLSTATE_NOT_OWNER}', HINT = '{{hint}}';"""
# A shard's table is a part of the old one: emptying it would have to delete rows that nobody names.
_REFUSE_TRUNCATE = """\
  IF TG_OP = 'TRUNCATE' THEN
    RAISE EXCEPTION 'table %.% is being adopted: use DELETE instead of TRUNCATE', TG_TABLE_SCHEMA, TG_TABLE_NAME
      USING ERRCODE = '0A000';
  END IF;
"""
_OPEN = "  RETURN NULL;"
_HINTS: Mapping[SideName, str] = {
    "old": "write to the shards, which own its rows now",
    "shards": "write to the old database until `shardwright adopt switch`",
}
_IS_OPEN = f"""\
SELECT coalesce(bool_or(strpos(p.prosrc, '{SQLSTATE_NOT_OWNER}') = 0), true) FROM pg_proc p
JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = '{SCHEMA}' AND p.proname = $1
"""
_HAS_TRIGGER = "SELECT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = $1::text::regclass AND tgname = $2)"


def fence_sql(side: SideName, *, is_open: bool) -> str:
    """The statement that opens or closes a database's adopted tables."""
    opened = _OPEN if side == "old" else _REFUSE_TRUNCATE + _OPEN
    body = opened if is_open else _CLOSED.format(hint=_HINTS[side])
    return _FUNCTION.format(function=_function(side), body=body)


async def is_open(conn: "Connection", side: SideName) -> bool:
    """Whether the adopted tables of a database can be written."""
    return await fetch_value(conn, _IS_OPEN, _function(side))


async def attach(
    conn: "Connection", side: SideName, tables: Sequence[str], options: AdoptOptions, *, is_open: bool
) -> None:
    """Give every table the trigger, one at a time; the function is made where it is missing, open or closed."""
    await conn.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
    if not await fetch_value(conn, f"SELECT to_regprocedure('{SCHEMA}.{_function(side)}()') IS NOT NULL"):
        await conn.execute(fence_sql(side, is_open=is_open))
    for table in tables:
        if not await fetch_value(conn, _HAS_TRIGGER, table, TRIGGER):
            await _patiently(
                conn,
                f"CREATE TRIGGER {TRIGGER} BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON {table} "
                f"FOR EACH STATEMENT EXECUTE FUNCTION {SCHEMA}.{_function(side)}()",
                options,
            )


async def detach(conn: "Connection", side: SideName, tables: Sequence[str], options: AdoptOptions) -> None:
    """Take the trigger from every table, and drop the function."""
    for table in tables:
        if await fetch_value(conn, _HAS_TRIGGER, table, TRIGGER):
            await _patiently(conn, f"DROP TRIGGER IF EXISTS {TRIGGER} ON {table}", options)
    await conn.execute(f"DROP FUNCTION IF EXISTS {SCHEMA}.{_function(side)}()")


def _function(side: SideName) -> str:
    return f"guard_{side}"


async def close_fence(
    conn: "Connection", side: SideName, tables: Sequence[str], options: AdoptOptions, then: str
) -> None:
    """Wait for writers to end and refuse further ones, with a last statement; raises when they do not end in time.

    Everything is sent at once, and PostgreSQL makes one transaction of it: writers wait from the first lock on.
    """
    await conn.execute(
        f"SET LOCAL lock_timeout = '{options.lock_timeout_ms}ms'; "
        f"LOCK TABLE {', '.join(tables)} IN SHARE ROW EXCLUSIVE MODE; "
        f"{fence_sql(side, is_open=False)} {then}"
    )


async def pause(attempt: int) -> None:
    """Wait before the next attempt at a lock, longer each time."""
    await asyncio.sleep(random.uniform(0.01, 0.05) * min(attempt, 20))  # noqa: S311 - spread, not secrecy


async def _patiently(conn: "Connection", sql: str, options: AdoptOptions) -> None:
    for attempt in range(1, options.fence_attempts + 1):
        try:
            async with conn.transaction():
                await conn.execute(f"SET LOCAL lock_timeout = '{options.lock_timeout_ms}ms'")
                await conn.execute(sql)
        except NOT_FREE:
            await pause(attempt)
        else:
            return
    raise AdoptFailed(
        f"a table could not be locked for a moment, {options.fence_attempts} times: resume when there are no long "
        f"transactions ({sql[:60]}…)"
    )
