"""The writing side: an act joins somebody's list, or leaves it.

Acts arrive at least once and in any order. Each has a row of its own, keyed by what happened and who did it, and the
newest change wins; the lines that are shown are groups of such rows. Everything of one recipient happens under one
lock, on one shard, in one transaction, so that the counts of a line and of what is unread are exact.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from weakref import WeakValueDictionary

from shardwright.running import Queries, Query, Shards, Transaction
from tintype.base.ids import AccountId, CommentId, PostId, has_shard
from tintype.base.outbox import Outbox
from tintype.notifications.events import NotificationTold
from tintype.notifications.models import HOUSE, Act

Changed = Callable[[AccountId], Awaitable[None]]
"""Lets whoever watches a recipient's list know that it changed."""


class Telling:
    """Puts acts into lists and takes them out again."""

    def __init__(self, shards: Shards, outbox: Outbox, queries: Queries, changed: Changed) -> None:
        self._shards, self._outbox, self._queries, self._changed = shards, outbox, queries, changed
        self._turns: WeakValueDictionary[AccountId, asyncio.Lock] = WeakValueDictionary()

    async def tell(self, act: Act) -> None:
        """The act is in the recipient's list, once, unless a newer change of it has been heard of."""
        await self._trace(act)
        async with self._turn(act.recipient_id), self._shards.owner(act.recipient_id).begin() as tx:
            await tx.fetch_one(self._queries.lock_state, account_id=act.recipient_id)
            before = await tx.fetch_one(self._queries.find_act, **_key(act))
            if before is not None and before["change_id"] >= act.change_id:
                return
            if before is not None and before["notification_id"] is not None:
                await tx.execute(self._queries.renew_act, **_key(act), change_id=act.change_id)
                return
            await self._join(tx, act, is_first=before is None)
        await self._changed(act.recipient_id)

    async def take_back(self, act: Act) -> None:
        """The act is in nobody's list any more; one that was not heard of yet will stay silent."""
        await self._leave(
            act.recipient_id, self._queries.take_back_act, **_key(act, "account_id"), change_id=act.change_id
        )

    async def take_back_actors(self, recipient: AccountId, actors: Iterable[AccountId]) -> None:
        """Nothing that these people did is in the recipient's list."""
        await self._leave(recipient, self._queries.take_back_actors, actor_ids=list(actors))

    async def take_back_posts(self, recipient: AccountId, posts: Iterable[PostId]) -> None:
        """Nothing about these posts is in the recipient's list."""
        await self._leave(recipient, self._queries.take_back_posts, post_ids=list(posts))

    async def take_back_comment(self, recipient: AccountId, comment_id: CommentId) -> None:
        """Nothing about this comment is in the recipient's list."""
        await self._leave(recipient, self._queries.take_back_comment, comment_id=comment_id)

    async def take_back_line(self, recipient: AccountId, notification_id: int) -> bool:
        """One line is gone from the list; False when it was not there."""
        query = self._queries.take_back_group
        return await self._leave(recipient, query, notification_id=notification_id) > 0

    async def _join(self, tx: Transaction, act: Act, *, is_first: bool) -> None:
        told = await tx.fetch_one(
            self._queries.tell_act,
            **_key(act),
            change_id=act.change_id,
            group_id=act.group_id,
            post_id=act.post_id,
        )
        # Who likes, unlikes and likes again is listed again, but rings no bell a second time.
        if told is not None and is_first:
            await self._outbox.add(tx, NotificationTold(act.recipient_id, told["id"], told["place"]))

    async def _leave(self, recipient: AccountId, query: Query, **params: object) -> int:
        async with self._turn(recipient), self._shards.owner(recipient).begin() as tx:
            await tx.fetch_one(self._queries.lock_state, account_id=recipient)
            left = await tx.fetch(query, account_id=recipient, **params)
            if left:
                groups = [row["notification_id"] for row in left]
                actors = [row["actor_id"] for row in left]
                await tx.execute(self._queries.count_leaving, notification_ids=groups, actor_ids=actors)
                await tx.execute(
                    self._queries.drop_empty_groups, account_id=recipient, notification_ids=groups
                )
        if left:
            await self._changed(recipient)
        return len(left)

    def _turn(self, recipient: AccountId) -> asyncio.Lock:
        """The row lock once more, inside this process: those who wait for a viral post hold no connection meanwhile."""
        turn = self._turns.get(recipient)
        if turn is None:
            turn = self._turns[recipient] = asyncio.Lock()
        return turn

    async def _trace(self, act: Act) -> None:
        """First the trace, then the act: whatever is interrupted, nothing is in a list that cannot be found again."""
        sources = {act.actor_id, act.post_id, act.comment_id} - {None, HOUSE}
        by_shard: dict[int, list[int]] = {}
        for source in sources:
            if source is not None and has_shard(self._shards, source):
                by_shard.setdefault(self._shards.shard_of(source), []).append(source)
        for number, own in by_shard.items():
            shard = self._shards.shard(number)
            await shard.execute(self._queries.trace, source_ids=sorted(own), recipient_id=act.recipient_id)


def _key(act: Act, *without: str) -> dict[str, int | str]:
    key = {
        "account_id": act.recipient_id,
        "kind": act.kind,
        "object_id": act.object_id,
        "actor_id": act.actor_id,
    }
    return {name: value for name, value in key.items() if name not in without}
