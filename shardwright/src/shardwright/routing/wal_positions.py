"""Positions in the write-ahead log (WAL): how far a primary has flushed it, and how far a replica has replayed it.

A position counts within one timeline, which a promotion ends. A primary names its timeline itself; a standby cannot be
asked by an ordinary role which one it replays. So routers write it into a row, `shardwright.replication`, which reaches
the replicas with the rest of the WAL: a replica that shows timeline 2 there has replayed what was promoted to be
timeline 2. One that stayed behind on an abandoned branch of timeline 1 never shows it, however far it has come.
"""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar, cast

if TYPE_CHECKING:
    from asyncpg import Connection

T = TypeVar("T")
INCARNATION_DIGITS = 12

# The flush position, read after a commit, covers it; the insert position would cover what others have not even
# committed, and a replica would be waited for longer. With synchronous_commit off, a commit precedes its own flush.
_PRIMARY = """\
SELECT ('x' || left(pg_walfile_name(wal.lsn), 8))::bit(32)::integer AS timeline,
  (wal.lsn - '0/0'::pg_lsn)::bigint AS lsn, r.timeline AS recorded, r.ownership
FROM (SELECT CASE current_setting('synchronous_commit') WHEN 'off' THEN pg_current_wal_insert_lsn()
        ELSE pg_current_wal_flush_lsn() END AS lsn) AS wal, shardwright.replication AS r
"""
_RECORD_TIMELINE = "UPDATE shardwright.replication SET timeline = $1 WHERE timeline <> $1"
# A standby only goes forward, until it is started again or its recovery is: after a crash, also of a single backend,
# PostgreSQL begins at the last restart point and discards the statistics, whose time of reset then changes.
REPLICA_COLUMNS = """\
pg_is_in_recovery() AS is_standby, coalesce(pg_last_wal_replay_lsn() - '0/0'::pg_lsn, 0)::bigint AS lsn,
  r.timeline, r.ownership, concat_ws(' ', extract(epoch FROM pg_postmaster_start_time()),
    (SELECT extract(epoch FROM stats_reset) FROM pg_stat_bgwriter)) AS incarnation"""
_REPLICA = f"SELECT {REPLICA_COLUMNS} FROM shardwright.replication AS r"  # noqa: S608 - a constant


class Position(NamedTuple):
    """A position in the WAL of one timeline."""

    timeline: int
    lsn: int


class Observation(NamedTuple):
    """Where a server was in its WAL: the primary at least there, a replica at least there, since the call was sent."""

    sent_at: float
    position: Position
    ownership: int  # changes whenever the server gets or loses a shard
    is_standby: bool
    incarnation: str = ""
    """Of a replica: changes whenever it may have gone back."""


async def observe_primary(conn: "Connection") -> Observation:
    """How far the primary has flushed its WAL; what was committed before this call is covered.

    Records the timeline for the replicas if it is new.
    """
    sent_at = monotonic()
    row = cast("Any", await conn.fetchrow(_PRIMARY))
    if row["recorded"] != row["timeline"]:
        await conn.execute(_RECORD_TIMELINE, row["timeline"])
    return Observation(sent_at, Position(row["timeline"], row["lsn"]), row["ownership"], is_standby=False)


async def observe_replica(conn: "Connection") -> Observation:
    """How far the replica has replayed the WAL; a statement that is sent after this one sees all of that."""
    sent_at = monotonic()
    return replica_observation(await conn.fetchrow(_REPLICA), sent_at)


def replica_observation(row: Any, sent_at: float) -> Observation:
    """The observation in a row with `REPLICA_COLUMNS`."""
    return Observation(
        sent_at,
        Position(row["timeline"], row["lsn"]),
        row["ownership"],
        row["is_standby"],
        hashlib.sha256(row["incarnation"].encode()).hexdigest()[:INCARNATION_DIGITS],
    )


class SharedCall(Generic[T]):
    """A call whose result serves everybody who has waited since before it began."""

    def __init__(self, call: Callable[[], Awaitable[T]]) -> None:
        self._call = call
        self._task: asyncio.Task[T] | None = None
        self._began_at = float("-inf")

    async def after(self, since: float) -> T:
        """The result of a call that began at this time or later; concurrent callers share one."""
        while True:
            task = self._task
            if task is None or task.done():
                self._began_at = monotonic()
                task = self._task = asyncio.create_task(self._run(), name="shardwright-wal-position")
                task.add_done_callback(_retrieve)
            if self._began_at >= since:
                return await asyncio.shield(task)
            await asyncio.wait([task])

    async def close(self) -> None:
        """Cancel a call in progress."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> T:
        return await self._call()


def _retrieve(task: "asyncio.Task[Any]") -> None:
    """Nobody may be waiting any more when a call fails: that is no reason for a warning."""
    if not task.cancelled():
        task.exception()
