"""Messages that disappear some time after everybody else has seen them.

Such a message is sent with the latest end it may have, four weeks and the time itself, and with the time that begins
when all the others have seen it. Then its end moves forward, by the clock of the thread's shard; every read compares
the end, as with all disappearing messages. Whoever marks messages as seen brings that about at once, and a sweep does
where the last one to wait for has left, was removed, or has answered instead.
"""

import asyncpg

from shardwright.routing import Shard, Shards, Transaction
from tintype.direct.models import QUICK_MEMBERS, ThreadId
from tintype.direct.store import QUERIES

BATCH = 500
UNSEEN_DAYS, LARGE_GROUP_DAYS = 28, 1
"""How long a message that ends after it was seen waits for that; and in a large group, where nobody waits for all."""


class EndsAfterSeen:
    """Moves the ends of messages that everybody has seen."""

    def __init__(self, shards: Shards) -> None:
        self._shards = shards

    async def begin(self, thread_id: ThreadId) -> None:
        """The time of messages of this thread that all others have seen begins."""
        await self._begin(self._shards.owner(thread_id), thread_id)

    async def sweep(self) -> None:
        """The same for every thread in which somebody has left or answered since."""
        for number in sorted(self._shards.map.owners):
            shard = self._shards.shard(number)
            for row in await shard.fetch(QUERIES.list_all_seen, limit=BATCH):
                await self._begin(shard, ThreadId(row["thread_id"]))

    async def _begin(self, shard: Shard, thread_id: ThreadId) -> None:
        async with shard.begin() as tx:
            await tx.fetch_one(QUERIES.lock_thread, thread_id=thread_id)
            await tx.execute(QUERIES.begin_ends, thread_id=thread_id)


async def find_lifetime(tx: Transaction, thread: asyncpg.Record) -> dict[str, int | None]:
    """When a message that is sent now ends, as `send_at_once` decides it too."""
    lasting: int | None = thread["disappear_s"]
    if lasting is None or not thread["disappears_after_seen"]:
        return {"disappear_s": lasting, "wait_days": 0, "after_seen_s": None}
    if await tx.fetch_value(QUERIES.count_members, thread_id=thread["id"]) > QUICK_MEMBERS:
        return {"disappear_s": lasting, "wait_days": LARGE_GROUP_DAYS, "after_seen_s": None}
    return {"disappear_s": lasting, "wait_days": UNSEEN_DAYS, "after_seen_s": lasting}
