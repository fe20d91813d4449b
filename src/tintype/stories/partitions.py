"""Daily partitions of the story tables: created ahead, created on demand where that was missed, dropped when past."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import asyncpg

from shardwright.routing import Shard
from tintype.base.jobs import Schedule
from tintype.base.log import get_log
from tintype.stories.dependencies import StoriesDependencies
from tintype.stories.models import StoryId
from tintype.stories.store import QUERIES, SERVER_UNAVAILABLE

T = TypeVar("T")
DAYS_AHEAD = 3
"""Today and the two days after it: the schedule may fail for two days before a writer has to create a partition."""
HOUR_S = 3_600.0
log = get_log("stories")


class Partitions:
    """The partitions of the story tables, on every shard."""

    def __init__(self, deps: StoriesDependencies) -> None:
        self._shards = deps.shards

    async def retry_with_partition(
        self, shard: Shard, work: Callable[[], Awaitable[T]], *, story_id: StoryId | None = None
    ) -> T:
        """Do the work; where the partition it writes to is missing, create it and do the work again.

        That is the partition of the story's day, or today's, and the day after it: live stories span two days.
        """
        try:
            return await work()
        except asyncpg.CheckViolationError:  # no partition takes the row
            log.warning("story_partition.missing", shard=shard.number)
            await self._create(shard, story_id, 2)
            return await work()

    async def rotate(self) -> None:
        """Create the partitions of the coming days and drop those whose stories have all ended, on every shard."""
        created, dropped, failed = 0, 0, list[Exception]()
        for number in sorted(self._shards.map.owners):
            shard = self._shards.shard(number)
            try:
                created += await self._create(shard, None, DAYS_AHEAD)
                dropped += await shard.fetch_value(QUERIES.drop_partitions, shard=number)
            except SERVER_UNAVAILABLE as error:  # the other shards get their partitions all the same
                log.warning("story_partitions.not_rotated", shard=number, error=str(error))
                failed.append(error)
        log.info("story_partitions.rotated", created=created, dropped=dropped)
        if failed:
            raise failed[0]

    def schedules(self) -> list[Schedule]:
        """Rotate every hour, so that what is past goes within an hour."""
        return [Schedule("stories-days", HOUR_S, self.rotate)]

    async def _create(self, shard: Shard, story_id: StoryId | None, days: int) -> int:
        """Create the partitions of some days; the function runs as the owner of the tables, for our role may not."""
        return await shard.fetch_value(
            QUERIES.create_partitions, shard=shard.number, story_id=story_id, days=days
        )
