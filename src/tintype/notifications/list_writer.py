"""The writing side of a recipient's list: activities are added, and retracted when they are undone.

Activities arrive at least once, in any order and in batches. Each has a row of its own, keyed by what happened and who
did it, and the newest change wins; the notifications that are shown are groups of such rows. A batch is one statement
for all recipients of a shard, under their locks, so that actor counts and unread counts are exact.
"""

import time
from collections.abc import Iterable, Sequence
from typing import Protocol

import asyncpg

from shardwright.routing import Query, Shard, Transaction
from tintype.base.bounded_map import BoundedMap
from tintype.base.ids import AccountId, CommentId, PostId, has_shard
from tintype.base.keyed_locks import KeyedLocks
from tintype.base.shard_groups import group_by_shard
from tintype.notifications.dependencies import NotificationsDependencies
from tintype.notifications.events import NotificationTold
from tintype.notifications.models import SYSTEM, Activity
from tintype.notifications.store import QUERIES

FOR_POST_AUTHOR_ONLY = frozenset({"like", "comment"})
"""Kinds that only a post's author receives: the recipient is known from the post, so no trace is stored with it."""
Key = tuple[AccountId, str, int, AccountId]
"""What identifies an activity: recipient, kind, object, actor."""
TRACES_REMEMBERED = 50_000
REMEMBERED_S = 300.0
"""Whoever likes one post of somebody likes the next one: for this long, a trace that was recorded is not sent again.

Traces are only erased with their source or their recipient, after which none of the two is notified of anything."""


class OnListChanged(Protocol):
    """Called after a recipient's list has changed, to tell live connections."""

    async def __call__(self, account_id: AccountId, unread_count: int | None = None) -> None:
        """The unread count is given where it is known; otherwise it is read."""
        ...


class ListWriter:
    """Adds activities to lists and retracts them."""

    def __init__(self, deps: NotificationsDependencies, on_changed: OnListChanged) -> None:
        self._shards, self._outbox, self._on_changed = deps.shards, deps.outbox, on_changed
        self._locks: KeyedLocks[int] = KeyedLocks()
        self._traced: BoundedMap[tuple[int, AccountId], float] = BoundedMap(TRACES_REMEMBERED)

    async def apply(self, added: Iterable[Activity], retracted: Iterable[Activity] = ()) -> None:
        """Activities are in their recipients' lists, once, or in nobody's; of several changes the newest is applied.

        An activity that arrives only after its retraction is ignored. What recipients do not want is left out.
        """
        newest = _newest([*added], [*retracted])
        accepted: list[Activity] = []
        for number, (own_added, own_retracted) in self._by_shard(newest).items():
            shard = self._shards.shard(number)
            async with self._locks.of(number):
                await self._retract_activities(shard, own_retracted)
                accepted += await self._add_activities(shard, own_added)
        await self._record_traces(accepted)

    async def _add_activities(self, shard: Shard, activities: Sequence[Activity]) -> list[Activity]:
        """Add activities of one shard; returns those whose recipients want them."""
        if not activities:
            return []
        accepted: list[Activity] = []
        for some, rows in await self._write(shard, QUERIES.add_activities, activities):
            accepted += [some[number] for row in rows for number in row["accepted"]]
            if any(row["is_told"] for row in rows):
                await self._outbox.wake(shard)
        return accepted

    async def _retract_activities(self, shard: Shard, activities: Sequence[Activity]) -> None:
        if activities:
            await self._write(shard, QUERIES.retract_activities, activities)

    async def _write(
        self, shard: Shard, query: Query, activities: Sequence[Activity]
    ) -> list[tuple[Sequence[Activity], list[asyncpg.Record]]]:
        """Run the statement, again under locks for those recipients whose lists changed while it began."""
        rows = await shard.fetch(query, **self._columns(query, activities))
        written = [(activities, rows)]
        known = {row["account_id"] for row in rows}
        rest = [each for each in activities if each.recipient_id not in known]
        if rest:

            async def lock_and_write(tx: Transaction) -> list[asyncpg.Record]:
                recipients = sorted({each.recipient_id for each in rest})
                await tx.execute(QUERIES.lock_states, account_ids=recipients)
                return await tx.fetch(query, **self._columns(query, rest))

            written.append((rest, await shard.transact(lock_and_write)))
        for row in (row for _, some in written for row in some if row["unread_count"] is not None):
            await self._on_changed(AccountId(row["account_id"]), row["unread_count"])
        return written

    def _columns(self, query: Query, activities: Sequence[Activity]) -> dict[str, object]:
        columns: dict[str, object] = {
            "account_ids": [each.recipient_id for each in activities],
            "kinds": [each.kind for each in activities],
            "object_ids": [each.object_id for each in activities],
            "actor_ids": [each.actor_id for each in activities],
            "change_ids": [each.change_id for each in activities],
        }
        if query is QUERIES.add_activities:
            columns |= {
                "group_ids": [each.group_id for each in activities],
                "post_ids": [each.post_id for each in activities],
                "are_own_posts": [each.kind in FOR_POST_AUTHOR_ONLY for each in activities],
                "traced_ids": [each.comment_id if self._is_beside(each) else None for each in activities],
                **self._outbox.prepare(
                    NotificationTold, last="account_id", more=("notification_id", "told_id")
                ),
            }
        return columns

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

    async def _retract(self, recipient: AccountId, query: Query, **params: object) -> int:
        shard = self._shards.owner(recipient)
        async with self._locks.of(shard.number), shard.begin() as tx:
            if await tx.fetch_one(QUERIES.lock_list, account_id=recipient) is None:
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

    async def _record_traces(self, activities: Iterable[Activity]) -> None:
        """Record whose list each source is in. A handler that dies before this is repeated, and does it then."""
        now = time.monotonic()
        missing: set[tuple[int, AccountId]] = set()
        for each in activities:
            post_id = None if each.kind in FOR_POST_AUTHOR_ONLY else each.post_id
            comment_id = None if self._is_beside(each) else each.comment_id
            sources = {one for one in (each.actor_id, post_id, comment_id) if one is not None} - {SYSTEM}
            pairs = {(int(source), each.recipient_id) for source in sources}
            missing |= {pair for pair in pairs if self._traced.get(pair, 0.0) < now}
        known = [pair for pair in missing if has_shard(self._shards, pair[0])]
        for shard, own in group_by_shard(self._shards, known, lambda pair: pair[0]):
            await shard.execute(
                QUERIES.record_traces,
                source_ids=[source for source, _ in own],
                recipient_ids=[recipient for _, recipient in own],
            )
            for pair in own:
                self._traced[pair] = now + REMEMBERED_S

    def _is_beside(self, activity: Activity) -> bool:
        """Whether the comment lies on the recipient's shard: its trace is then recorded with the activity."""
        comment_id = activity.comment_id
        return (
            comment_id is not None
            and has_shard(self._shards, comment_id)
            and self._shards.shard_of(comment_id) == self._shards.shard_of(activity.recipient_id)
        )

    def _by_shard(
        self, newest: Iterable[tuple[Activity, bool]]
    ) -> dict[int, tuple[list[Activity], list[Activity]]]:
        """Activities to add and to retract, by the shard of their recipients."""
        grouped: dict[int, tuple[list[Activity], list[Activity]]] = {}
        for each, is_retracted in newest:
            parts = grouped.setdefault(self._shards.shard_of(each.recipient_id), ([], []))
            parts[is_retracted].append(each)
        return grouped


def _newest(added: Sequence[Activity], retracted: Sequence[Activity]) -> list[tuple[Activity, bool]]:
    """Of each activity the newest change, in the order they came, and whether it is retracted."""
    newest: dict[Key, tuple[Activity, bool]] = {}
    for each, is_retracted in ((each, some is retracted) for some in (added, retracted) for each in some):
        key = each.recipient_id, each.kind, each.object_id, each.actor_id
        known = newest.get(key)
        if known is None or known[0].change_id < each.change_id:
            newest[key] = each, is_retracted
    return list(newest.values())
