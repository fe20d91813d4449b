"""The writing side: an act joins somebody's list, or leaves it.

Acts arrive at least once and in any order. Each has a row of its own, keyed by what happened and who did it, and the
newest change wins; the lines that are shown are groups of such rows. Everything of one recipient happens under one
lock, on one shard, in one transaction, so that the counts of a line and of what is unread are exact.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence

import asyncpg

from shardwright.running import Queries, Query, Shards, Transaction
from tintype.base.ids import AccountId, CommentId, PostId, has_shard
from tintype.base.outbox import Outbox
from tintype.notifications.events import NotificationTold
from tintype.notifications.models import HOUSE, Act
from tintype.notifications.turns import Turns

Changed = Callable[[AccountId], Awaitable[None]]
"""Lets whoever watches a recipient's list know that it changed."""
OF_ONES_OWN_POST = frozenset({"like", "comment"})
"""What only the author of a post is told: whom to look for is known without a trace."""
Key = tuple[str, int, int]
"""What makes an act the same act, of one recipient: kind, object, actor."""


class Telling:
    """Puts acts into lists and takes them out again."""

    def __init__(self, shards: Shards, outbox: Outbox, queries: Queries, changed: Changed) -> None:
        self._shards, self._outbox, self._queries, self._changed = shards, outbox, queries, changed
        self._turns: Turns[AccountId, Act] = Turns(self._tell_together)

    async def tell(self, act: Act) -> None:
        """The act is in the recipient's list, once, unless a newer change of it has been heard of."""
        await self._trace(act)
        await self._turns.add(act.recipient_id, act)

    async def take_back(self, act: Act) -> None:
        """The act is in nobody's list any more; one that was not heard of yet will stay silent."""
        await self._leave(
            act.recipient_id,
            self._queries.take_back_act,
            self._queries.lock_state,
            kind=act.kind,
            object_id=act.object_id,
            actor_id=act.actor_id,
            change_id=act.change_id,
        )

    async def take_back_actors(self, recipient: AccountId, actors: Iterable[AccountId]) -> None:
        """Nothing that these people did is in the recipient's list."""
        await self._leave(recipient, self._queries.take_back_actors, actor_ids=list(actors))

    async def forget_actor(self, recipient: AccountId, actor: AccountId) -> None:
        """Nothing remembers that this person, who has left, ever did something to the recipient."""
        await self.take_back_actors(recipient, [actor])
        shard = self._shards.owner(recipient)
        await shard.execute(self._queries.erase_acts_of, account_id=recipient, actor_id=actor)

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

    async def _tell_together(self, recipient: AccountId, acts: list[Act]) -> None:
        async with self._shards.owner(recipient).begin() as tx:
            await tx.fetch_one(self._queries.lock_state, account_id=recipient)
            before = await self._find(tx, recipient, acts)
            fresh: dict[Key, Act] = {}
            for act in _newest(acts):
                known = before.get(key_of(act))
                if known is None or (known["change_id"] < act.change_id and not known["notification_id"]):
                    fresh[key_of(act)] = act
                elif known["change_id"] < act.change_id:
                    await self._renew(tx, act)
            for group in _groups(fresh.values()):
                await self._join(tx, group, is_first=any(key_of(act) not in before for act in group))
        if fresh:
            await self._changed(recipient)

    async def _find(
        self, tx: Transaction, recipient: AccountId, acts: Sequence[Act]
    ) -> dict[Key, asyncpg.Record]:
        rows = await tx.fetch(
            self._queries.find_acts,
            account_id=recipient,
            kinds=[act.kind for act in acts],
            object_ids=[act.object_id for act in acts],
            actor_ids=[act.actor_id for act in acts],
        )
        return {(row["kind"], row["object_id"], row["actor_id"]): row for row in rows}

    async def _renew(self, tx: Transaction, act: Act) -> None:
        await tx.execute(
            self._queries.renew_act,
            account_id=act.recipient_id,
            kind=act.kind,
            object_id=act.object_id,
            actor_id=act.actor_id,
            change_id=act.change_id,
        )

    async def _join(self, tx: Transaction, acts: Sequence[Act], *, is_first: bool) -> None:
        told = await tx.fetch_one(
            self._queries.tell_acts,
            account_id=acts[0].recipient_id,
            kind=acts[0].kind,
            group_id=acts[0].group_id,
            post_id=acts[0].post_id,
            object_ids=[act.object_id for act in acts],
            actor_ids=[act.actor_id for act in acts],
            change_ids=[act.change_id for act in acts],
        )
        # Who likes, unlikes and likes again is listed again, but rings no bell a second time.
        if told is not None and is_first:
            await self._outbox.add(tx, NotificationTold(acts[0].recipient_id, told["id"], told["place"]))

    async def _leave(
        self, recipient: AccountId, query: Query, lock: Query | None = None, **params: object
    ) -> int:
        async with self._turns.of(recipient), self._shards.owner(recipient).begin() as tx:
            if await tx.fetch_one(lock or self._queries.lock_list, account_id=recipient) is None:
                return 0
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

    async def _trace(self, act: Act) -> None:
        """First the trace, then the act: whatever is interrupted, nothing is in a list that cannot be found again."""
        by_shard: dict[int, list[int]] = {}
        post_id = None if act.kind in OF_ONES_OWN_POST else act.post_id
        for source in {act.actor_id, post_id, act.comment_id} - {HOUSE}:
            if source is not None and has_shard(self._shards, source):
                by_shard.setdefault(self._shards.shard_of(source), []).append(source)
        for number, own in by_shard.items():
            shard = self._shards.shard(number)
            await shard.execute(self._queries.trace, source_ids=sorted(own), recipient_id=act.recipient_id)


def key_of(act: Act) -> Key:
    """What makes it the same act as another of the same recipient."""
    return act.kind, act.object_id, act.actor_id


def _newest(acts: Iterable[Act]) -> list[Act]:
    """Of each act the newest change, in the order they came."""
    newest: dict[Key, Act] = {}
    for act in acts:
        known = newest.get(key_of(act))
        if known is None or known.change_id < act.change_id:
            newest[key_of(act)] = act
    return list(newest.values())


def _groups(acts: Iterable[Act]) -> list[list[Act]]:
    groups: dict[tuple[str, int], list[Act]] = {}
    for act in acts:
        groups.setdefault((act.kind, act.group_id), []).append(act)
    return list(groups.values())
