"""Blocks, as the threads of pairs know them: so that a send needs no read on another shard."""

from tintype.base.log import get_log
from tintype.direct.dependencies import DirectDependencies
from tintype.direct.events import ThreadChanged
from tintype.direct.inbox_feeder import UNAVAILABLE, InboxFeeder
from tintype.direct.models import ThreadId
from tintype.direct.store import QUERIES
from tintype.direct.thread_rows import pair_shard
from tintype.graph import BlockChanged

log = get_log("direct")


class BlockMirror:
    """Writes to the threads of two people whether one has blocked the other."""

    def __init__(self, deps: DirectDependencies, feeder: InboxFeeder) -> None:
        self._shards, self._outbox, self._feeder = deps.shards, deps.outbox, feeder

    async def apply(self, change: BlockChanged) -> None:
        """Apply a block or its end to the threads of the two, if they have any; idempotent, in any order."""
        low, high = sorted((change.blocker_id, change.blocked_id))
        async with pair_shard(self._shards, low, high).begin() as tx:
            rows = await tx.fetch(
                QUERIES.mirror_block,
                low_id=low,
                high_id=high,
                blocker_id=change.blocker_id,
                is_blocked=change.is_blocked,
                change_id=change.change_id,
            )
            found = [ThreadId(row["id"]) for row in rows]
            for each in found:
                change_id = await tx.fetch_value(QUERIES.touch_thread, thread_id=each)
                await self._outbox.add(tx, ThreadChanged(each, change_id))
        for each in found:
            await self._feeder.feed_at_once(each)

    async def apply_at_once(self, change: BlockChanged) -> None:
        """`apply`, before whoever blocks gets their answer; where a server does not answer, the event does it later."""
        try:
            await self.apply(change)
        except UNAVAILABLE as error:
            log.warning("block.postponed", blocker_id=change.blocker_id, error=str(error))
