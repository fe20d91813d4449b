"""Reactions to events about posts: likes, tags and mentions become notifications, and are retracted when undone."""

from tintype.base.ids import AccountId
from tintype.notifications.kinds import KindName
from tintype.notifications.list_writer import ListWriter
from tintype.notifications.models import Activity
from tintype.notifications.notify import Notifier
from tintype.posts import PostEdited, PostLiked, PostPublished, PostRemoved

NAMING: tuple[KindName, ...] = ("tag", "mention")


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

    async def on_published(self, events: list[PostPublished]) -> None:
        """Notify the people tagged or mentioned, unless the post was edited since."""
        naming = [each for each in events if each.is_new and (each.tagged_ids or each.mention_ids)]
        current = [each for each in naming if not await self._is_edited(each)]
        await self._notifier.notify(*(one for each in current for one in _namings(each, each.post_id)))
        for event in [each for each in current if await self._is_edited(each)]:  # in the meantime
            retracted = [
                _naming(
                    event, recipient, kind, event.post_id + 1
                )  # newer than what was just added, older than
                for recipient in {*event.tagged_ids, *event.mention_ids}  # what the edit adds
                for kind in NAMING
            ]
            await self._notifier.retract(*retracted)

    async def on_edited(self, event: PostEdited) -> None:
        """Notify people who are tagged or mentioned now, and retract it for those who no longer are."""
        if not await self._notifier.record_change(event.post_id, event.change_id):
            return
        await self._notifier.notify(*_namings(event, event.change_id))
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

    async def _is_edited(self, event: PostPublished) -> bool:
        return await self._notifier.is_outdated(event.post_id, event.post_id)


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


def _namings(event: PostPublished | PostEdited, change_id: int) -> list[Activity]:
    """What people are notified of who are tagged, or else mentioned."""
    kinds: dict[AccountId, KindName] = dict.fromkeys(event.tagged_ids, "tag")
    for recipient in event.mention_ids:
        kinds.setdefault(recipient, "mention")
    return [_naming(event, recipient, kind, change_id) for recipient, kind in kinds.items()]
