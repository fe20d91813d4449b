"""Transactions that lock tables for a moment: they give up soon, so that nobody queues behind them for long.

Tables that are referred to come first: a transaction that writes a parent and then its children is waited for at the
parent, and the next one waits there without holding anything. Where writers have another order, an attempt fails and
the next one is made in the opposite order.
"""

import asyncio
import random
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeVar

import asyncpg

from shardwright.topology import fetch_rows, fetch_value
from shardwright.widen.errors import WidenFailed
from shardwright.widen.models import WidenOptions

if TYPE_CHECKING:
    from asyncpg import Connection

T = TypeVar("T")
OnHeld = Callable[[float], None]
"""Called with the milliseconds for which locks were held, also where an attempt at the others failed."""
_LONGEST_PAUSE_S = 1.0
_BUSY_S, _BUSY_PAUSE_S = 10.0, 0.05
_OPPOSITE_EVERY = 3
_REFERENCES = """\
SELECT conrelid::regclass::text AS child, confrelid::regclass::text AS parent FROM pg_constraint
WHERE contype = 'f' AND conrelid <> confrelid AND conrelid = ANY ($1::text[]::regclass[])
"""


async def try_advisory_lock(conn: "Connection", lock_class: int, number: int) -> bool:
    """Take a lock for as long as the connection is open; whether it was free, or became free within seconds.

    A command that has just ended may hold it for a moment: until the server has noticed that its connection is gone.
    """
    ends_at = time.monotonic() + _BUSY_S
    while not await fetch_value(conn, "SELECT pg_try_advisory_lock($1, $2)", lock_class, number):
        if time.monotonic() > ends_at:
            return False
        await asyncio.sleep(_BUSY_PAUSE_S)
    return True


async def with_locks(
    conn: "Connection",
    tables: Sequence[str],
    work: Callable[[], Awaitable[T]],
    options: WidenOptions,
    on_held: OnHeld,
    *,
    mode: str = "ACCESS EXCLUSIVE",
) -> T:
    """Run `work` in a transaction that holds these locks; repeated until they are free at the same time."""
    pause_s = options.lock_timeout_ms / 1000
    ordered = await _parents_first(conn, tables)
    for attempt in range(1, options.lock_attempts + 1):
        order = ordered if attempt % _OPPOSITE_EVERY else ordered[::-1]
        try:
            async with _locked(conn, order, mode, options, on_held):
                return await work()
        except (asyncpg.LockNotAvailableError, asyncpg.DeadlockDetectedError):
            await asyncio.sleep(pause_s * random.uniform(0.5, 1.5))  # noqa: S311 - spreads attempts, no secret
            pause_s = min(pause_s * 1.5, _LONGEST_PAUSE_S)
    raise WidenFailed(
        f"{', '.join(tables)} could not be locked for a moment in {options.lock_attempts} attempts: "
        "look for long transactions in pg_stat_activity, and run the command again"
    )


@asynccontextmanager
async def _locked(
    conn: "Connection", tables: Sequence[str], mode: str, options: WidenOptions, on_held: OnHeld
) -> AsyncGenerator[None]:
    held_at = None
    try:
        async with conn.transaction():
            ends_at = time.monotonic() + options.lock_timeout_ms / 1000
            for table in tables:
                # The first table may be held while the next one is waited for: the limit is one for all of them.
                left_ms = max(1, int((ends_at - time.monotonic()) * 1000))
                await conn.execute(
                    f"SET LOCAL lock_timeout = '{left_ms}ms'; LOCK TABLE {table} IN {mode} MODE"
                )
                held_at = held_at or time.monotonic()
            await conn.execute(f"SET LOCAL lock_timeout = '{options.lock_timeout_ms}ms'")
            yield
    finally:
        if held_at is not None:
            on_held((time.monotonic() - held_at) * 1000)


async def _parents_first(conn: "Connection", tables: Sequence[str]) -> list[str]:
    parents: dict[str, list[str]] = {table: [] for table in sorted(tables)}
    for row in await fetch_rows(conn, _REFERENCES, list(tables)):
        parents[row["child"]].append(row["parent"])
    found: dict[str, None] = {}

    def visit(table: str, seen: frozenset[str]) -> None:
        for parent in parents[table]:
            if parent in parents and parent not in seen and parent not in found:
                visit(parent, seen | {parent})
        found[table] = None

    for table in parents:
        if table not in found:
            visit(table, frozenset({table}))
    return list(found)
