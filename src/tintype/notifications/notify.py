"""Decides whether an activity becomes a notification, and finds whom a source was notified to.

Nobody is notified of their own activities, of people they have blocked, muted or restricted or who have blocked them,
of what their preferences leave out, or of a post that they may not see. The list checks the same again when it is read.
"""

from collections.abc import AsyncIterator

from tintype.base.ids import AccountId, CommentId, PostId, has_shard
from tintype.graph import VisibleAccount
from tintype.notifications.dependencies import NotificationsDependencies
from tintype.notifications.kinds import KINDS, KindName
from tintype.notifications.list_writer import ListWriter
from tintype.notifications.models import SYSTEM, Activity
from tintype.notifications.preferences import NotificationPreferences
from tintype.notifications.store import QUERIES

TRACES_A_PAGE = 500


class Notifier:
    """Notifies recipients of activities, as far as they want that and may know of them."""

    def __init__(
        self, deps: NotificationsDependencies, writer: ListWriter, preferences: NotificationPreferences
    ) -> None:
        self._shards, self._visibility, self._posts = deps.shards, deps.visibility, deps.posts
        self._writer, self._preferences = writer, preferences

    async def notify(self, activity: Activity) -> None:
        """Add the activity to the recipient's list, if the recipient wants it and may know of it."""
        if await self._may_notify(activity):
            await self._writer.add(activity)

    async def retract(self, activity: Activity) -> None:
        """Retract the activity, even if it has not arrived yet; deleted accounts leave nothing to remember."""
        if not await self._exists(activity.recipient_id):
            return
        if await self._is_deleted(activity.actor_id):  # nothing of theirs will arrive that must be ignored
            await self._writer.erase_actor(activity.recipient_id, activity.actor_id)
        else:
            await self._writer.retract(activity)

    async def recipients_of(self, source: AccountId | PostId | CommentId) -> AsyncIterator[AccountId]:
        """Everybody who was ever notified of something about this account, post or comment."""
        after = 0
        while has_shard(self._shards, source):
            rows = await self._shards.owner(source).fetch(
                QUERIES.page_traces, source_id=source, after=after, limit=TRACES_A_PAGE
            )
            for row in rows:
                yield AccountId(row["recipient_id"])
            if len(rows) < TRACES_A_PAGE:
                return
            after = rows[-1]["recipient_id"]

    async def is_outdated(self, source: PostId | CommentId, change_id: int) -> bool:
        """Whether a newer change of this post or comment was processed already."""
        newest = await self._shards.owner(source).fetch_value(QUERIES.find_newest_change, source_id=source)
        return newest is not None and newest > change_id

    async def record_change(self, source: PostId | CommentId, change_id: int) -> bool:
        """Record a change of a post or comment as processed; False when a newer one was processed before."""
        recorded = await self._shards.owner(source).fetch_one(
            QUERIES.record_change, source_id=source, change_id=change_id
        )
        return recorded is not None

    async def _may_notify(self, activity: Activity) -> bool:
        if activity.actor_id == activity.recipient_id or not await self._exists(activity.recipient_id):
            return False
        if KINDS[activity.kind].is_system:
            return True
        visible = await self._visibility.find_accounts(activity.recipient_id, [activity.actor_id])
        actor = visible.get(activity.actor_id)
        if not is_welcome(actor):
            return False
        audience = (await self._preferences.get(activity.recipient_id, activity.kind)).audience
        if audience == "off" or (audience == "following" and not (actor and actor.relation.follows)):
            return False
        if activity.post_id is None:
            return True
        return activity.post_id in await self._posts.find_many(
            [activity.post_id], viewer=activity.recipient_id
        )

    async def _exists(self, recipient: AccountId) -> bool:
        found = (await self._visibility.find_accounts(recipient, [recipient])).get(recipient)
        return found is not None and found.account.status not in {"leaving", "gone"}

    async def _is_deleted(self, actor: AccountId) -> bool:
        found = (await self._visibility.find_accounts(actor, [actor])).get(actor)
        return actor != SYSTEM and (found is None or found.account.status == "gone")


def is_welcome(actor: VisibleAccount | None) -> bool:
    """Whether the viewer who sees this account wants notifications about it: it is neither muted nor restricted."""
    return actor is not None and not actor.relation.mutes_posts and not actor.relation.restricts


def system_activity(recipient: AccountId, kind: KindName, *, object_id: int, change_id: int) -> Activity:
    """A message from the operators, such as a warning; each is a notification of its own."""
    return Activity(
        recipient_id=recipient,
        kind=kind,
        actor_id=SYSTEM,
        change_id=change_id,
        object_id=object_id,
        group_id=change_id,
    )
