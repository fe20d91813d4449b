"""Disappearing messages: nobody reads one after its time, by the clock of its shard; this deletes the rows."""

from tintype.base.ids import MediaId
from tintype.base.jobs import Schedule
from tintype.base.log import get_log
from tintype.direct.after_seen import EndsAfterSeen
from tintype.direct.dependencies import DirectDependencies
from tintype.direct.message_media import MessageMedia
from tintype.direct.store import QUERIES
from tintype.direct.updates import message_key

SWEEP_EVERY_S = 60.0
MEDIA_EVERY_S = 3_600.0
BATCH = 500
log = get_log("direct")


class DirectRetention:
    """Deletes messages whose time is over."""

    def __init__(self, deps: DirectDependencies, media: MessageMedia, ends: EndsAfterSeen) -> None:
        self._shards, self._sync, self._media, self._ends = deps.shards, deps.sync, media, ends

    async def sweep(self) -> None:
        """Delete them on every shard, and what update logs hold of them; seen ones get their end first."""
        await self._ends.sweep()
        for number in sorted(self._shards.map.owners):
            shard = self._shards.shard(number)
            while rows := await shard.fetch(QUERIES.list_expired, limit=BATCH):
                # The messages last: a run that is interrupted finds them again.
                await self._media.remove([MediaId(row["media_id"]) for row in rows if row["media_id"]])
                await self._sync.redact(
                    [(each, message_key(row["id"])) for row in rows for each in row["member_ids"]]
                )
                await shard.execute(
                    QUERIES.delete_expired,
                    thread_ids=[row["thread_id"] for row in rows],
                    message_ids=[row["id"] for row in rows],
                )
                log.info("messages.expired", shard=number, count=len(rows))

    def schedules(self) -> list[Schedule]:
        """Expired messages every minute, media that belong to no message every hour."""
        return [
            Schedule("direct-expired", SWEEP_EVERY_S, self.sweep),
            Schedule("direct-media", MEDIA_EVERY_S, self._media.sweep),
        ]
