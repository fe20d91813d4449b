"""Reactions to events about stories: mentions, reactions, replies, answers and ended countdowns become notifications.

Until direct messages carry replies, authors receive them here; the text stays on the shard of whoever wrote it.
"""

from tintype.base.ids import AccountId
from tintype.notifications.dependencies import NotificationsDependencies
from tintype.notifications.kinds import KindName
from tintype.notifications.models import Activity
from tintype.notifications.notify import Notifier
from tintype.stories import (
    CountdownEnded,
    StoryAnswered,
    StoryId,
    StoryPublished,
    StoryReacted,
    StoryRemoved,
    StoryReplied,
)


class StoryEventHandlers:
    """Turns events about stories into notifications."""

    def __init__(self, deps: NotificationsDependencies, notifier: Notifier) -> None:
        self._stories, self._notifier = deps.stories, notifier

    async def on_published(self, event: StoryPublished) -> None:
        """Notify the people mentioned who may see the story."""
        for recipient in dict.fromkeys(event.mention_ids):
            await self._notify_mentioned(recipient, event.story_id, event.author_id, event.story_id)

    async def on_removed(self, event: StoryRemoved) -> None:
        """Retract the mentions of a removed story; notify again of a restored one."""
        for recipient in dict.fromkeys(event.mention_ids):
            if event.is_back:
                await self._notify_mentioned(recipient, event.story_id, event.author_id, event.change_id)
            else:
                activity = _activity(
                    recipient, "story_mention", event.author_id, event.story_id, event.change_id
                )
                await self._notifier.retract(activity)

    async def on_reacted(self, event: StoryReacted) -> None:
        """Notify the author of a reaction, or retract it."""
        activity = _activity(
            event.author_id, "story_reaction", event.account_id, event.story_id, event.change_id
        )
        is_set = event.reaction is not None
        await (self._notifier.notify(activity) if is_set else self._notifier.retract(activity))

    async def on_replied(self, event: StoryReplied) -> None:
        """Notify the author of a reply; each reply is a notification of its own."""
        await self._notifier.notify(
            _activity(event.author_id, "story_reply", event.account_id, event.reply_id, event.reply_id)
        )

    async def on_answered(self, event: StoryAnswered) -> None:
        """Notify the author of answers to a question, or retract one; a story's answers are one notification."""
        activity = _activity(
            event.author_id, "story_answer", event.account_id, event.story_id, event.change_id
        )
        await (self._notifier.retract(activity) if event.is_withdrawn else self._notifier.notify(activity))

    async def on_countdown_ended(self, event: CountdownEnded) -> None:
        """Notify somebody who asked for it; the story's id orders the change, so that repeats are one notification."""
        await self._notifier.notify(
            _activity(event.account_id, "story_countdown", event.author_id, event.story_id, event.story_id)
        )

    async def _notify_mentioned(
        self, recipient: AccountId, story_id: StoryId, actor: AccountId, change_id: int
    ) -> None:
        if story_id in await self._stories.find_many([story_id], viewer=recipient):
            await self._notifier.notify(_activity(recipient, "story_mention", actor, story_id, change_id))


def _activity(
    recipient: AccountId, kind: KindName, actor: AccountId, object_id: int, change_id: int
) -> Activity:
    return Activity(
        recipient_id=recipient,
        kind=kind,
        actor_id=actor,
        change_id=change_id,
        object_id=object_id,
        group_id=object_id,
    )
