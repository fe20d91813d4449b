"""Reactions to events about comments: comments, replies, mentions and likes of them become notifications."""

from tintype.base.ids import LARGEST_ID, AccountId
from tintype.comments import CommentAdded, CommentLiked, CommentRemoved
from tintype.notifications.kinds import KindName
from tintype.notifications.list_writer import ListWriter
from tintype.notifications.models import Activity
from tintype.notifications.notify import Notifier


class CommentEventHandlers:
    """Turns events about comments into notifications."""

    def __init__(self, notifier: Notifier, writer: ListWriter) -> None:
        self._notifier, self._writer = notifier, writer

    async def on_added(self, event: CommentAdded) -> None:
        """Notify whom it replies to, the post's author and whom it mentions, each person once, in this order."""
        if await self._notifier.is_outdated(event.comment_id, event.comment_id):
            return
        kinds: dict[AccountId, KindName] = dict.fromkeys(event.mention_ids, "mention")
        kinds[event.post_author_id] = "comment"
        if event.parent_account_id is not None:
            kinds[event.parent_account_id] = "reply"
        groups = {"comment": event.post_id, "reply": event.parent_id, "mention": event.comment_id}
        for recipient, kind in kinds.items():
            activity = Activity(
                recipient_id=recipient,
                kind=kind,
                actor_id=event.account_id,
                change_id=event.comment_id,
                object_id=event.comment_id,
                group_id=groups[kind] or event.comment_id,
                post_id=event.post_id,
                comment_id=event.comment_id,
            )
            await self._notifier.notify(activity)
        if await self._notifier.is_outdated(event.comment_id, event.comment_id):  # removed in the meantime
            for recipient in kinds:
                await self._writer.retract_comment(recipient, event.comment_id)

    async def on_removed(self, event: CommentRemoved) -> None:
        """Retract the comment from every list; a `CommentAdded` that arrives later notifies nobody."""
        await self._notifier.record_change(event.comment_id, LARGEST_ID)
        async for recipient in self._notifier.recipients_of(event.comment_id):
            await self._writer.retract_comment(recipient, event.comment_id)

    async def on_liked(self, event: CommentLiked) -> None:
        """Notify the comment's author of a like, or retract it."""
        activity = Activity(
            recipient_id=event.comment_author_id,
            kind="comment_like",
            actor_id=event.account_id,
            change_id=event.change_id,
            object_id=event.comment_id,
            group_id=event.comment_id,
            post_id=event.post_id,
            comment_id=event.comment_id,
        )
        await (self._notifier.notify(activity) if event.is_liked else self._notifier.retract(activity))
