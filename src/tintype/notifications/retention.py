"""How long notifications are kept."""

from datetime import UTC, datetime, timedelta
from typing import Any

from shardwright.routing import Query
from tintype.base.jobs import Schedule
from tintype.notifications.dependencies import NotificationsDependencies
from tintype.notifications.store import QUERIES

KEPT_DAYS = 90
TRACES_KEPT_DAYS = KEPT_DAYS + 3
SWEEP_BATCH = 1_000
SWEEP_EVERY_S = 3600.0


class NotificationRetention:
    """Sweeps old notifications from every shard."""

    def __init__(self, deps: NotificationsDependencies) -> None:
        self._shards = deps.shards

    async def sweep(self, now: datetime | None = None) -> None:
        """Delete what is older than 90 days, on every shard."""
        now = now or datetime.now(UTC)
        oldest = self._shards.map.layout.min_id_at(now - timedelta(days=KEPT_DAYS))
        await self._sweep(QUERIES.sweep_notifications, oldest)
        await self._sweep(QUERIES.sweep_activities, oldest)
        await self._sweep(QUERIES.sweep_traces, (now - timedelta(days=TRACES_KEPT_DAYS)).date())

    def schedules(self) -> list[Schedule]:
        """Sweep every hour."""
        return [Schedule("notifications-sweep", SWEEP_EVERY_S, self.sweep)]

    async def _sweep(self, query: Query, oldest: Any) -> None:
        while True:
            swept = await self._shards.everywhere().execute(query, oldest=oldest, limit=SWEEP_BATCH)
            if all(row["count"] < SWEEP_BATCH for row in swept.complete()):
                return
