"""Who leads, and when scheduled work last ran: two small tables on the shard that the key "schedules" hashes to."""

from datetime import datetime
from pathlib import Path

import msgspec

from shardwright.running import Queries, Shards

QUERIES = Queries.load(Path(__file__).with_name("queries.sql"))
KEY = "schedules"


class ScheduleRun(msgspec.Struct, frozen=True):
    """When a scheduled job last began and ended, and what went wrong, if anything."""

    name: str
    started_at: datetime
    ended_at: datetime | None
    error: str


class Leases:
    """Leadership by lease: it ends by itself when its holder dies."""

    def __init__(self, shards: Shards) -> None:
        self._shards = shards

    async def take(self, name: str, holder: str, *, ttl_s: float) -> bool:
        """Become or stay the holder; False while somebody else is."""
        shard = self._shards.of(KEY)
        return await shard.fetch_one(QUERIES.take_lease, name=name, holder=holder, ttl_s=ttl_s) is not None

    async def drop(self, name: str, holder: str) -> None:
        """Give the lease back."""
        await self._shards.of(KEY).execute(QUERIES.drop_lease, name=name, holder=holder)

    async def start_due(self, name: str, *, every_s: float) -> bool:
        """Claim the next run of a schedule if it is due."""
        return await self._shards.of(KEY).fetch_one(QUERIES.start_due, name=name, every_s=every_s) is not None

    async def note_end(self, name: str, *, error: str = "") -> None:
        """Remember how a run ended."""
        await self._shards.of(KEY).execute(QUERIES.note_end, name=name, error=error)

    async def list_runs(self) -> list[ScheduleRun]:
        """The last run of every schedule."""
        rows = await self._shards.of(KEY).fetch(QUERIES.list_schedules)
        return [ScheduleRun(**row) for row in rows]
