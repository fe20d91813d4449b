"""Reactions to events about posts: likes, tags and mentions become notifications, and are retracted when undone."""

from collections.abc import Iterable

from tintype.base.ids import AccountId
from tintype.notifications.kinds import KindName
from tintype.notifications.list_writer import ListWriter
from tintype.notifications.models import Activity
from tintype.notifications.notify import Notifier
from tintype.posts import PostEdited, PostLiked, PostPublished, PostRemoved


class PostEventHandlers:
    """Turns events about posts into notifications."""

    def __init__(self, notifier: Notifier, writer: ListWriter) -> None:
        self._notifier, self._writer = notifier, writer

    async def on_liked(self, events: list[PostLiked]) -> None:
        """Notify the authors of likes, or retract them."""
        await self._notifier.apply(
            [_liking(each) for each in events if each.is_liked],
            [_liking(each) for each in events if not each.is_liked],
        )

    async def on_published(self, event: PostPublished) -> None:
        """Notify the people tagged or mentioned, unless the post was edited since."""
        named = {*event.tagged_ids, *event.mention_ids}
        if not event.is_new or not named or await self._notifier.is_outdated(event.post_id, event.post_id):
            return
        await self._notify_named(event, event.post_id)
        if await self._notifier.is_outdated(event.post_id, event.post_id):  # edited in the meantime
            for recipient in named:  # newer than what was just added, older than what the edit adds
                await self._notifier.retract(_naming(event, recipient, "tag", event.post_id + 1))
                await self._notifier.retract(_naming(event, recipient, "mention", event.post_id + 1))

    async def on_edited(self, event: PostEdited) -> None:
        """Notify people who are tagged or mentioned now, and retract it for those who no longer are."""
        if not await self._notifier.record_change(event.post_id, event.change_id):
            return
        await self._notify_named(event, event.change_id)
        tagged, mentioned = set(event.tagged_ids), set(event.mention_ids) - set(event.tagged_ids)
        async for recipient in self._notifier.recipients_of(event.post_id):
            if recipient not in tagged:
                await self._notifier.retract(_naming(event, recipient, "tag", event.change_id))
            if recipient not in mentioned:
                await self._notifier.retract(_naming(event, recipient, "mention", event.change_id))

    async def on_removed(self, event: PostRemoved) -> None:
        """Retract everything about the post from the author's list and everybody else's."""
        await self._writer.retract_posts(event.author_id, [event.post_id])
        async for recipient in self._notifier.recipients_of(event.post_id):
            await self._writer.retract_posts(recipient, [event.post_id])

    async def _notify_named(self, event: PostPublished | PostEdited, change_id: int) -> None:
        for recipient in dict.fromkeys(event.tagged_ids):
            await self._notifier.notify(_naming(event, recipient, "tag", change_id))
        for recipient in dict.fromkeys(_without(event.mention_ids, event.tagged_ids)):
            await self._notifier.notify(_naming(event, recipient, "mention", change_id))


def _liking(event: PostLiked) -> Activity:
    return Activity(
        recipient_id=event.author_id,
        kind="like",
        actor_id=event.account_id,
        change_id=event.change_id,
        object_id=event.post_id,
        group_id=event.post_id,
        post_id=event.post_id,
    )


def _naming(
    event: PostPublished | PostEdited, recipient: AccountId, kind: KindName, change_id: int
) -> Activity:
    return Activity(
        recipient_id=recipient,
        kind=kind,
        actor_id=event.author_id,
        change_id=change_id,
        object_id=event.post_id,
        group_id=event.post_id,
        post_id=event.post_id,
    )


def _without(these: Iterable[AccountId], those: Iterable[AccountId]) -> list[AccountId]:
    left_out = set(those)
    return [each for each in these if each not in left_out]
