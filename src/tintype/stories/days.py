"""The days that stories lie in: made ahead, made on demand where that was missed, and dropped whole when past."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import asyncpg

from shardwright.running import Shard
from tintype.base.jobs import Schedule
from tintype.base.log import get_log
from tintype.stories.models import StoryId
from tintype.stories.store import QUERIES, AtDesk

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
            await shard.fetch_one(QUERIES.add_days, story_id=story_id, days=2)
            return await work()

    async def turn(self) -> None:
        """On every shard the days to come exist, and those that are past do not."""
        everywhere = self._shards.everywhere()
        made = await everywhere.execute(QUERIES.add_days, story_id=None, days=AHEAD)
        dropped = await everywhere.execute(QUERIES.drop_days)
        log.info(
            "story_days.turned",
            made=sum(row["made"] for row in made),
            dropped=sum(row["dropped"] for row in dropped),
        )
        made.complete()
        dropped.complete()

    def schedules(self) -> list[Schedule]:
        """Every hour, so that what is past goes within an hour."""
        return [Schedule("stories-days", HOUR_S, self.turn)]
