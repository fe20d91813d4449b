"""Slows a move's copying down: a limit of bytes a second, and a wait while streaming replicas lag."""

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import TYPE_CHECKING

from shardwright.moves.models import MoveOptions
from shardwright.moves.session import Session
from shardwright.topology import fetch_value

if TYPE_CHECKING:
    from asyncpg import Connection

_REPLICA_LAG = """\
SELECT coalesce(max(pg_wal_lsn_diff(pg_current_wal_lsn(), coalesce(r.replay_lsn, r.sent_lsn))), 0)::bigint
FROM pg_catalog.pg_stat_replication r
LEFT JOIN pg_catalog.pg_replication_slots s ON s.active_pid = r.pid WHERE s.slot_type IS DISTINCT FROM 'logical'
"""


class Throttle:
    """Paces the copying of one attempt, chunk by chunk."""

    def __init__(
        self,
        options: MoveOptions,
        *,
        clock: Callable[[], float] = monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._options = options
        self._clock, self._sleep = clock, sleep
        self._started_at = clock()

    @property
    def is_on(self) -> bool:
        """Whether copying has to ask."""
        return bool(self._options.copy_bytes_per_s or self._options.max_replica_lag_bytes)

    async def wait(self, copied_bytes: int, session: Session) -> None:
        """Return when more may be copied, after so many bytes since the attempt began."""
        if self._options.copy_bytes_per_s:
            allowed_at = self._started_at + copied_bytes / self._options.copy_bytes_per_s
            while (left_s := allowed_at - self._clock()) > 0:
                await self._sleep(min(left_s, 1.0))
        if self._options.max_replica_lag_bytes:
            for conn in (session.source, session.target):
                while await replica_lag_bytes(conn) > self._options.max_replica_lag_bytes:
                    await self._sleep(self._options.poll_s)


async def replica_lag_bytes(conn: "Connection") -> int:
    """How far the slowest streaming replica of a server is behind; those of moves are not counted."""
    return await fetch_value(conn, _REPLICA_LAG)
