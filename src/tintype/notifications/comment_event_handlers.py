"""Reactions to events about comments: comments, replies, mentions and likes of them become notifications."""

from tintype.base.ids import LARGEST_ID, AccountId, CommentId
from tintype.comments import CommentAdded, CommentLiked, CommentRemoved
from tintype.notifications.kinds import KindName
from tintype.notifications.list_writer import ListWriter
from tintype.notifications.models import Activity
from tintype.notifications.notify import Notifier


class CommentEventHandlers:
    """Turns events about comments into notifications."""

    def __init__(self, notifier: Notifier, writer: ListWriter) -> None:
        self._notifier, self._writer = notifier, writer

    async def on_added(self, events: list[CommentAdded]) -> None:
        """Notify whom a comment replies to, the post's author and whom it mentions, each person once, in this order."""
        outdated = await self._notifier.find_outdated({each.comment_id: each.comment_id for each in events})
        activities = [one for each in events if each.comment_id not in outdated for one in _adding(each)]
        await self._notifier.notify(*activities)
        changes = {CommentId(each.object_id): each.object_id for each in activities}
        removed = await self._notifier.find_outdated(changes)  # removed in the meantime
        for each in activities:
            if each.object_id in removed:
                await self._writer.retract_comment(each.recipient_id, CommentId(each.object_id))

    async def on_removed(self, event: CommentRemoved) -> None:
        """Retract the comment from every list; a `CommentAdded` that arrives later notifies nobody."""
        await self._notifier.record_change(event.comment_id, LARGEST_ID)
        async for recipient in self._notifier.recipients_of(event.comment_id):
            await self._writer.retract_comment(recipient, event.comment_id)

    async def on_liked(self, events: list[CommentLiked]) -> None:
        """Notify the comments' authors of likes, or retract them."""
        await self._notifier.apply(
            [_liking(each) for each in events if each.is_liked],
            [_liking(each) for each in events if not each.is_liked],
        )


def _adding(event: CommentAdded) -> list[Activity]:
    kinds: dict[AccountId, KindName] = dict.fromkeys(event.mention_ids, "mention")
    kinds[event.post_author_id] = "comment"
    if event.parent_account_id is not None:
        kinds[event.parent_account_id] = "reply"
    groups = {"comment": event.post_id, "reply": event.parent_id, "mention": event.comment_id}
    return [
        Activity(
            recipient_id=recipient,
            kind=kind,
            actor_id=event.account_id,
            change_id=event.comment_id,
            object_id=event.comment_id,
            group_id=groups[kind] or event.comment_id,
            post_id=event.post_id,
            comment_id=event.comment_id,
        )
        for recipient, kind in kinds.items()
    ]


def _liking(event: CommentLiked) -> Activity:
    return Activity(
        recipient_id=event.comment_author_id,
        kind="comment_like",
        actor_id=event.account_id,
        change_id=event.change_id,
        object_id=event.comment_id,
        group_id=event.comment_id,
        post_id=event.post_id,
        comment_id=event.comment_id,
    )
