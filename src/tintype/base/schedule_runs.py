"""When each scheduled job last ran and how it ended, so that it runs once per interval in all workers together."""

from collections.abc import Mapping
from datetime import datetime

import msgspec

from shardwright.routing import Shards
from tintype.base.store import QUERIES, SCHEDULES_KEY


class ScheduleRun(msgspec.Struct, frozen=True):
    """The last run of a scheduled job: when it started and ended, and its error, if any."""

    name: str
    started_at: datetime
    ended_at: datetime | None
    error: str


class ScheduleRuns:
    """The last run of every schedule, in the database."""

    def __init__(self, shards: Shards) -> None:
        self._shards = shards

    async def find_due(self, intervals_s: Mapping[str, float]) -> set[str]:
        """Those of the schedules that `start_due` may claim now, by their names: one read for all of them."""
        rows = await self._shards.of(SCHEDULES_KEY).fetch(
            QUERIES.find_due_schedules, names=list(intervals_s), intervals_s=list(intervals_s.values())
        )
        return {row["name"] for row in rows}

    async def start_due(self, name: str, *, every_s: float) -> bool:
        """Claim the next run of a schedule; False if it is not due, or another worker has claimed it."""
        shard = self._shards.of(SCHEDULES_KEY)
        return await shard.fetch_one(QUERIES.start_due_schedule, name=name, every_s=every_s) is not None

    async def record_end(self, name: str, *, error: str = "") -> None:
        """Record how the run of a schedule ended."""
        await self._shards.of(SCHEDULES_KEY).execute(QUERIES.record_schedule_end, name=name, error=error)

    async def list_runs(self) -> list[ScheduleRun]:
        """The last run of every schedule that ever ran."""
        rows = await self._shards.of(SCHEDULES_KEY).fetch(QUERIES.list_schedules)
        return [ScheduleRun(**row) for row in rows]
