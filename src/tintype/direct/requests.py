"""Requests: threads from people whom the recipient does not follow wait until they are accepted."""

from shardwright.routing import Transaction
from tintype.base.ids import AccountId, has_shard
from tintype.base.outbox import Outbox
from tintype.direct.dependencies import DirectDependencies
from tintype.direct.errors import ThreadNotFound
from tintype.direct.inbox_feeder import InboxFeeder
from tintype.direct.models import ThreadId
from tintype.direct.store import QUERIES
from tintype.direct.thread_rows import announce, lock_as_member


class Requests:
    """Accepts and declines requests."""

    def __init__(self, deps: DirectDependencies, feeder: InboxFeeder) -> None:
        self._shards, self._outbox, self._feeder = deps.shards, deps.outbox, feeder

    async def accept(self, thread_id: ThreadId, by: AccountId) -> None:
        """Move a request to the inbox; accepting twice changes nothing."""
        if not has_shard(self._shards, thread_id):
            raise ThreadNotFound
        async with self._shards.owner(thread_id).begin() as tx:
            _, member = await lock_as_member(tx, thread_id, by)
            if member["state"] != "requested":
                return
            await accept_in(tx, self._outbox, thread_id, by)
        await self._feeder.feed_at_once(thread_id)

    async def decline(self, thread_id: ThreadId, by: AccountId) -> None:
        """Remove a request from the list; who sent it is not told. A group is left."""
        if not has_shard(self._shards, thread_id):
            raise ThreadNotFound
        async with self._shards.owner(thread_id).begin() as tx:
            _, member = await lock_as_member(tx, thread_id, by)
            if member["state"] != "requested":
                raise ThreadNotFound
            await tx.execute(QUERIES.set_member_state, thread_id=thread_id, account_id=by, state="declined")
            await announce(tx, self._outbox, thread_id, gone=(by,))
        await self._feeder.feed_at_once(thread_id)


async def accept_in(tx: Transaction, outbox: Outbox, thread_id: ThreadId, by: AccountId) -> None:
    """Accept a request, in a transaction that holds the thread."""
    await tx.execute(QUERIES.set_member_state, thread_id=thread_id, account_id=by, state="active")
    await tx.execute(QUERIES.accept_pair, thread_id=thread_id)
    await announce(tx, outbox, thread_id)
