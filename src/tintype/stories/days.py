"""The days that stories lie in: made ahead, made on demand where that was missed, and dropped whole when past."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import asyncpg

from shardwright.running import Shard
from tintype.base.jobs import Schedule
from tintype.base.log import get_log
from tintype.stories.models import StoryId
from tintype.stories.store import QUERIES, SERVER_AWAY, AtDesk

T = TypeVar("T")
AHEAD = 3
"""Today and the two days after it: the schedule may fail for two days before anybody has to make one on demand."""
HOUR_S = 3_600.0
log = get_log("stories")


class Days(AtDesk):
    """Keeps the parts of the partitioned tables on every shard."""

    async def on_its_day(
        self, shard: Shard, work: Callable[[], Awaitable[T]], *, story_id: StoryId | None = None
    ) -> T:
        """Do the work; where the day it needs is missing, make it first and do it again.

        It is that of the story named, or today; the day after it comes along, because living stories lie in two.
        """
        try:
            return await work()
        except asyncpg.CheckViolationError:  # no partition takes the row
            log.warning("story_day.missing", shard=shard.number)
            await self._add(shard, story_id, 2)
            return await work()

    async def turn(self) -> None:
        """On every shard the days to come exist, and those that are past do not."""
        made, dropped, failed = 0, 0, list[Exception]()
        for number in sorted(self._shards.map.owners):
            shard = self._shards.shard(number)
            try:
                made += await self._add(shard, None, AHEAD)
                async with shard.begin() as tx:
                    dropped += await tx.fetch_value(QUERIES.drop_days)
            except SERVER_AWAY as error:  # the other shards get their days all the same
                log.warning("story_days.not_turned", shard=number, error=str(error))
                failed.append(error)
        log.info("story_days.turned", made=made, dropped=dropped)
        if failed:
            raise failed[0]

    async def _add(self, shard: Shard, story_id: StoryId | None, days: int) -> int:
        """Inside a transaction, because there alone the functions find the shard's tables by their bare names."""
        async with shard.begin() as tx:
            return await tx.fetch_value(QUERIES.add_days, story_id=story_id, days=days)

    def schedules(self) -> list[Schedule]:
        """Every hour, so that what is past goes within an hour."""
        return [Schedule("stories-days", HOUR_S, self.turn)]
