"""How long the update log is kept: a client that was away for longer fetches its state anew."""

from datetime import UTC, datetime, timedelta

from shardwright.routing import Query, Shards
from tintype.base.jobs import Schedule
from tintype.sync.store import QUERIES

KEPT_DAYS = 30
KEPT_UPDATES = 5_000
"""Per account; but nothing is swept within the first day, so that appends can be repeated."""
SWEEP_BATCH = 1_000
SWEEP_EVERY_S = 3_600.0


class SyncRetention:
    """Sweeps old updates from every shard."""

    def __init__(self, shards: Shards) -> None:
        self._shards = shards

    async def sweep(self, now: datetime | None = None, *, kept: int = KEPT_UPDATES) -> None:
        """Delete what is older than 30 days, and of each account what is beyond its newest updates."""
        now = now or datetime.now(UTC)
        await self._sweep(QUERIES.sweep_old, before=now - timedelta(days=KEPT_DAYS))
        await self._sweep(QUERIES.sweep_excess, before=now - timedelta(days=1), kept=kept)

    def schedules(self) -> list[Schedule]:
        """Sweep every hour."""
        return [Schedule("sync-sweep", SWEEP_EVERY_S, self.sweep)]

    async def _sweep(self, query: Query, **params: object) -> None:
        while True:
            swept = await self._shards.everywhere().execute(query, limit=SWEEP_BATCH, **params)
            if all(row["count"] == 0 for row in swept.complete()):
                return
