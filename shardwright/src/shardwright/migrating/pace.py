"""How hard a migrator pushes: how long it makes others wait, how often it tries, how much it does at once."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import asyncpg

from shardwright.errors import MigrationRefused

_FIRST_PAUSE_S = 0.05
_LONGEST_PAUSE_S = 2.0
# The next attempt may find the lock free, the other transaction gone, the other migrator done.
_WORTH_REPEATING = (
    asyncpg.LockNotAvailableError,
    asyncpg.DeadlockDetectedError,
    asyncpg.SerializationError,
)


class Busy(Exception):
    """Another migrator is at work on that shard; never leaves this room."""


@dataclass(frozen=True)
class Pace:
    """Time-outs and limits of a migrator.

    Everything that touches a table queues behind a lock that a migration waits for, so it waits briefly and
    often: `lock_timeout_ms`, `attempts` times, with growing, random pauses. A shard that another migrator works
    on is waited for, up to `busy_timeout_s`.
    """

    per_server: int = 4
    lock_timeout_ms: int = 250
    statement_timeout: str = "5min"
    attempts: int = 40
    busy_timeout_s: float = 3600.0

    def __post_init__(self) -> None:
        if self.per_server < 1 or self.attempts < 1:
            raise MigrationRefused("a migrator needs at least one connection per server and one attempt")


async def repeat(pace: Pace, work: Callable[[], Awaitable[None]], told: Callable[[str], None]) -> None:
    """Do the work until no lock is in its way; `told` hears of each attempt that failed."""
    loop = asyncio.get_running_loop()
    busy_until = loop.time() + pace.busy_timeout_s
    attempt = waits = 0
    while True:
        try:
            return await work()
        except _WORTH_REPEATING as fault:
            attempt += 1
            if attempt >= pace.attempts:
                raise
            told(str(fault))
            await asyncio.sleep(_pause(attempt))
        except Busy as fault:
            waits += 1
            if loop.time() > busy_until:
                raise MigrationRefused(
                    f"another migrator has held it for {pace.busy_timeout_s:g} s"
                ) from fault
            told("another migrator is at work there")
            await asyncio.sleep(_pause(waits))


def _pause(attempt: int) -> float:
    # Random over the whole range: migrators that met once should not meet again.
    longest = min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2 ** min(attempt, 10))
    return random.uniform(_FIRST_PAUSE_S / 2, longest)  # noqa: S311  not a secret
