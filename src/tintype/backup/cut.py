"""One moment on all PostgreSQL servers: the name of a restore point, written into the WAL of each.

Each server is restored to its restore point, and is consistent in itself there. Between servers the outbox is the
bridge: what a write on one server causes on another follows from an event that commits with the write. So while no
event can commit anywhere, the servers belong together: no effect is kept whose cause is lost, and a cause whose effect
is not there yet has its event in an outbox, from which it is delivered after the restore.
"""

import asyncio
import random
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple, cast

from asyncpg import Connection, LockNotAvailableError

# The parent alone, which is never vacuumed: every event is inserted through it.
_LOCK = "LOCK TABLE ONLY common.outbox IN SHARE MODE"
_ATTEMPTS = 40
_PAUSE_S = 0.5


class Cut(NamedTuple):
    """The moment: where it is in the WAL of each server, when it was, and whether no event was being written."""

    positions: list[str]
    at: datetime
    is_one_moment: bool


async def cut_all(servers: Sequence[Connection], name: str) -> Cut:
    """Write the restore point on all servers.

    Whoever adds an event waits for as long, some milliseconds, and 250 at most. Where a transaction is open for longer
    it is tried again for half a minute, and then done without the lock.
    """
    for _ in range(_ATTEMPTS):
        if all(await asyncio.gather(*(_try_lock(each) for each in servers))):
            return await _write(servers, name, is_one_moment=True)
        await _end(servers)
        await asyncio.sleep(_PAUSE_S * random.random())  # noqa: S311 - a pause, not a secret
    return await _write(servers, name, is_one_moment=False)


async def _try_lock(server: Connection) -> bool:
    try:
        await server.execute(f"BEGIN; SET LOCAL lock_timeout = '250ms'; {_LOCK}")
    except LockNotAvailableError:
        return False
    return True


async def _end(servers: Sequence[Connection]) -> None:
    """End the transactions, which have changed nothing."""
    await asyncio.gather(*(each.execute("ROLLBACK") for each in servers if each.is_in_transaction()))


async def _write(servers: Sequence[Connection], name: str, *, is_one_moment: bool) -> Cut:
    positions = await asyncio.gather(*(_write_one(each, name) for each in servers))
    at = datetime.now(UTC)
    await _end(servers)
    return Cut(positions, at, is_one_moment)


async def _write_one(server: Connection, name: str) -> str:
    return cast("str", await server.fetchval("SELECT pg_create_restore_point($1)::text", name))
