"""Seen markers: how far each member has read. A marker only moves forward, so it may be sent twice and out of order."""

from tintype.base.ids import AccountId, has_shard
from tintype.direct.after_seen import EndsAfterSeen
from tintype.direct.dependencies import DirectDependencies
from tintype.direct.errors import ThreadNotFound
from tintype.direct.events import ThreadSeen
from tintype.direct.inbox_feeder import InboxFeeder
from tintype.direct.models import ThreadId
from tintype.direct.reader import ThreadReader
from tintype.direct.store import QUERIES


class SeenMarkers:
    """Moves seen markers."""

    def __init__(
        self, deps: DirectDependencies, reader: ThreadReader, feeder: InboxFeeder, ends: EndsAfterSeen
    ) -> None:
        self._shards, self._outbox, self._reader, self._feeder = deps.shards, deps.outbox, reader, feeder
        self._ends = ends

    async def mark(self, thread_id: ThreadId, by: AccountId, number: int) -> None:
        """Somebody has seen the messages of a thread up to this number."""
        if not has_shard(self._shards, thread_id):
            raise ThreadNotFound
        shard = self._shards.owner(thread_id)
        marked = await shard.fetch_one(
            QUERIES.mark_seen,
            thread_id=thread_id,
            account_id=by,
            number=number,
            **self._outbox.prepare(ThreadSeen, last="number", thread_id=thread_id, account_id=by),
        )
        if marked is None:
            await self._reader.get_row(
                thread_id, by
            )  # nothing new for a member; nobody else learns of the thread
            return
        await self._outbox.wake(shard)
        await self._feeder.see_at_once(thread_id, by, marked["seen_number"])
        if marked["has_waiting"]:
            await self._ends.begin(thread_id)
