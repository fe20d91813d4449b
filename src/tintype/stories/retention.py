"""Deletes what has ended: media of past stories, old replies and countdowns. Partitions drop the stories themselves."""

from tintype.base.ids import MediaId
from tintype.base.jobs import Schedule
from tintype.base.log import get_log
from tintype.stories.dependencies import StoriesDependencies
from tintype.stories.store import QUERIES

BATCH = 100
GRACE_S = 3_600.0
"""Nobody opens the files of an ended story any more, but moderators can still look at the evidence of a report."""
SWEEP_EVERY_S = 600.0
KEEP_REPLIES_DAYS = 90
log = get_log("stories")


class StoryRetention:
    """Sweeps the media of ended stories, old replies and old countdowns from every shard."""

    def __init__(self, deps: StoriesDependencies) -> None:
        self._shards, self._media = deps.shards, deps.media

    async def sweep(self) -> None:
        """Delete media an hour after their story has ended, and replies and countdowns that no notification shows."""
        deleted = 0
        for number in sorted(self._shards.map.owners):
            shard = self._shards.shard(number)
            while rows := await shard.fetch(QUERIES.list_ended_media, grace_s=GRACE_S, limit=BATCH):
                deleted += await self._media.delete([MediaId(row["id"]) for row in rows])
            while await shard.fetch(QUERIES.sweep_replies, days=KEEP_REPLIES_DAYS, limit=BATCH):
                pass
            await shard.execute(QUERIES.sweep_countdowns, days=KEEP_REPLIES_DAYS)
        if deleted:
            log.info("stories.swept", media=deleted)

    def schedules(self) -> list[Schedule]:
        """Sweep every ten minutes."""
        return [Schedule("stories-sweep", SWEEP_EVERY_S, self.sweep)]
