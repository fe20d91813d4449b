"""The writing side of a recipient's list: activities are added, and retracted when they are undone.

Activities arrive at least once and in any order. Each has a row of its own, keyed by what happened and who did it, and
the newest change wins; the notifications that are shown are groups of such rows. Everything of one recipient happens
under one lock, on one shard, in one transaction, so that a notification's actor count and the unread count are exact.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence

import asyncpg

from shardwright.routing import Query, Transaction
from tintype.base.batch_loader import KeyedBatcher
from tintype.base.ids import AccountId, CommentId, PostId, has_shard
from tintype.notifications.dependencies import NotificationsDependencies
from tintype.notifications.events import NotificationTold
from tintype.notifications.models import SYSTEM, Activity
from tintype.notifications.store import QUERIES

OnListChanged = Callable[[AccountId], Awaitable[None]]
"""Called after a recipient's list has changed, to tell live connections."""
FOR_POST_AUTHOR_ONLY = frozenset({"like", "comment"})
"""Kinds that only a post's author receives: the recipient is known from the post, so no trace is stored with it."""
Key = tuple[str, int, int]
"""What identifies an activity of one recipient: kind, object, actor."""


class ListWriter:
    """Adds activities to lists and retracts them."""

    def __init__(self, deps: NotificationsDependencies, on_changed: OnListChanged) -> None:
        self._shards, self._outbox, self._on_changed = deps.shards, deps.outbox, on_changed
        self._batches: KeyedBatcher[AccountId, Activity] = KeyedBatcher(self._add_batch)

    async def add(self, activity: Activity) -> None:
        """The activity is in the recipient's list, once, unless a newer change of it was processed before."""
        await self._record_traces(activity)
        await self._batches.add(activity.recipient_id, activity)

    async def retract(self, activity: Activity) -> None:
        """The activity is in nobody's list; if it arrives only after its retraction, it is ignored."""
        await self._retract(
            activity.recipient_id,
            QUERIES.retract_activity,
            QUERIES.lock_state,
            kind=activity.kind,
            object_id=activity.object_id,
            actor_id=activity.actor_id,
            change_id=activity.change_id,
        )

    async def retract_actors(self, recipient: AccountId, actors: Iterable[AccountId]) -> None:
        """Nothing that these people did is in the recipient's list."""
        await self._retract(recipient, QUERIES.retract_actors, actor_ids=list(actors))

    async def erase_actor(self, recipient: AccountId, actor: AccountId) -> None:
        """No row remains of what this deleted account did to the recipient, retracted or not."""
        await self.retract_actors(recipient, [actor])
        shard = self._shards.owner(recipient)
        await shard.execute(QUERIES.erase_activities_of, account_id=recipient, actor_id=actor)

    async def retract_posts(self, recipient: AccountId, posts: Iterable[PostId]) -> None:
        """Nothing about these posts is in the recipient's list."""
        await self._retract(recipient, QUERIES.retract_posts, post_ids=list(posts))

    async def retract_comment(self, recipient: AccountId, comment_id: CommentId) -> None:
        """Nothing about this comment is in the recipient's list."""
        await self._retract(recipient, QUERIES.retract_comment, comment_id=comment_id)

    async def remove(self, recipient: AccountId, notification_id: int) -> bool:
        """One notification is gone from the list; False when it was not there."""
        return await self._retract(recipient, QUERIES.retract_group, notification_id=notification_id) > 0

    async def _add_batch(self, recipient: AccountId, activities: list[Activity]) -> None:
        async with self._shards.owner(recipient).begin() as tx:
            await tx.fetch_one(QUERIES.lock_state, account_id=recipient)
            before = await self._find(tx, recipient, activities)
            fresh: dict[Key, Activity] = {}
            for activity in _newest(activities):
                known = before.get(key_of(activity))
                if known is None or (
                    known["change_id"] < activity.change_id and not known["notification_id"]
                ):
                    fresh[key_of(activity)] = activity
                elif known["change_id"] < activity.change_id:
                    await self._renew(tx, activity)
            for group in _groups(fresh.values()):
                await self._join(tx, group, is_first=any(key_of(each) not in before for each in group))
        if fresh:
            await self._on_changed(recipient)

    async def _find(
        self, tx: Transaction, recipient: AccountId, activities: Sequence[Activity]
    ) -> dict[Key, asyncpg.Record]:
        rows = await tx.fetch(
            QUERIES.find_activities,
            account_id=recipient,
            kinds=[each.kind for each in activities],
            object_ids=[each.object_id for each in activities],
            actor_ids=[each.actor_id for each in activities],
        )
        return {(row["kind"], row["object_id"], row["actor_id"]): row for row in rows}

    async def _renew(self, tx: Transaction, activity: Activity) -> None:
        await tx.execute(
            QUERIES.renew_activity,
            account_id=activity.recipient_id,
            kind=activity.kind,
            object_id=activity.object_id,
            actor_id=activity.actor_id,
            change_id=activity.change_id,
        )

    async def _join(self, tx: Transaction, activities: Sequence[Activity], *, is_first: bool) -> None:
        """Activities of one kind and group join the unread notification of that group, or open one."""
        first = activities[0]
        notification = await tx.fetch_one(
            QUERIES.add_activities,
            account_id=first.recipient_id,
            kind=first.kind,
            group_id=first.group_id,
            post_id=first.post_id,
            object_ids=[each.object_id for each in activities],
            actor_ids=[each.actor_id for each in activities],
            change_ids=[each.change_id for each in activities],
        )
        # Somebody who likes, unlikes and likes again is listed again, but is not pushed to devices a second time.
        if notification is not None and is_first:
            await self._outbox.add(
                tx, NotificationTold(first.recipient_id, notification["id"], notification["place"])
            )

    async def _retract(
        self, recipient: AccountId, query: Query, lock: Query | None = None, **params: object
    ) -> int:
        async with self._batches.lock(recipient), self._shards.owner(recipient).begin() as tx:
            if await tx.fetch_one(lock or QUERIES.lock_list, account_id=recipient) is None:
                return 0
            retracted = await tx.fetch(query, account_id=recipient, **params)
            if retracted:
                groups = [row["notification_id"] for row in retracted]
                actors = [row["actor_id"] for row in retracted]
                await tx.execute(QUERIES.subtract_actors, notification_ids=groups, actor_ids=actors)
                await tx.execute(QUERIES.delete_empty_groups, account_id=recipient, notification_ids=groups)
        if retracted:
            await self._on_changed(recipient)
        return len(retracted)

    async def _record_traces(self, activity: Activity) -> None:
        """First the trace, then the activity: whatever is interrupted, every list entry can be found by its source."""
        by_shard: dict[int, list[int]] = {}
        post_id = None if activity.kind in FOR_POST_AUTHOR_ONLY else activity.post_id
        for source in {activity.actor_id, post_id, activity.comment_id} - {SYSTEM}:
            if source is not None and has_shard(self._shards, source):
                by_shard.setdefault(self._shards.shard_of(source), []).append(source)
        for number, own in by_shard.items():
            shard = self._shards.shard(number)
            await shard.execute(
                QUERIES.record_traces, source_ids=sorted(own), recipient_id=activity.recipient_id
            )


def key_of(activity: Activity) -> Key:
    """What identifies an activity among those of the same recipient."""
    return activity.kind, activity.object_id, activity.actor_id


def _newest(activities: Iterable[Activity]) -> list[Activity]:
    """Of each activity the newest change, in the order they came."""
    newest: dict[Key, Activity] = {}
    for each in activities:
        known = newest.get(key_of(each))
        if known is None or known.change_id < each.change_id:
            newest[key_of(each)] = each
    return list(newest.values())


def _groups(activities: Iterable[Activity]) -> list[list[Activity]]:
    groups: dict[tuple[str, int], list[Activity]] = {}
    for each in activities:
        groups.setdefault((each.kind, each.group_id), []).append(each)
    return list(groups.values())
