"""Retries with exponential backoff, for work that could not get its locks."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable

import asyncpg

from shardwright.errors import MigrationRefused
from shardwright.migrations.options import MigratorOptions

_FIRST_PAUSE_S = 0.05
_MAX_PAUSE_S = 2.0
# The next attempt may find the lock free, the other transaction gone, the other migrator done.
_RETRYABLE = (
    asyncpg.LockNotAvailableError,
    asyncpg.DeadlockDetectedError,
    asyncpg.SerializationError,
)


class Busy(Exception):
    """Another migrator holds the shard's advisory lock; handled by `retry`, never raised to callers."""


async def retry(
    options: MigratorOptions, work: Callable[[], Awaitable[None]], on_wait: Callable[[str], None]
) -> None:
    """Repeat the work until it gets its locks; `on_wait` is called with the reason of each failed attempt."""
    loop = asyncio.get_running_loop()
    busy_until = loop.time() + options.busy_timeout_s
    attempt = waits = 0
    while True:
        try:
            return await work()
        except _RETRYABLE as error:
            attempt += 1
            if attempt >= options.attempts:
                raise
            on_wait(str(error))
            await asyncio.sleep(jittered_pause_s(attempt))
        except Busy as error:
            waits += 1
            if loop.time() > busy_until:
                raise MigrationRefused(
                    f"another migrator has held it for {options.busy_timeout_s:g} s"
                ) from error
            on_wait("another migrator is working on it")
            await asyncio.sleep(jittered_pause_s(waits))


def jittered_pause_s(attempt: int) -> float:
    """How long to wait after an attempt. Full jitter: migrators that collided once should not collide again."""
    longest = min(_MAX_PAUSE_S, _FIRST_PAUSE_S * 2 ** min(attempt, 10))
    return random.uniform(_FIRST_PAUSE_S / 2, longest)  # noqa: S311 - jitter, not a secret
