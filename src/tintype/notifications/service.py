"""Tells people what happened to them: the parts of the room, put together."""

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
from nats.aio.client import Client
from nats.errors import Error as BusError

from shardwright.running import Queries, Shards
from tintype.accounts import SessionsEnded, StatusChanged
from tintype.base.belongings import Record
from tintype.base.bus import Names
from tintype.base.ids import AccountId
from tintype.base.jobs import Handler, Schedule, on
from tintype.base.outbox import Outbox
from tintype.base.settings import Settings
from tintype.comments import CommentAdded, CommentLiked, CommentRemoved, Comments
from tintype.graph import BlockChanged, FollowChanged, FollowDecided, FollowRequested, Sight
from tintype.notifications.choices import Choices
from tintype.notifications.events import NotificationTold, PushDue
from tintype.notifications.hearing import Hearing, from_house
from tintype.notifications.keeping import Keeping
from tintype.notifications.meeting import Meeting
from tintype.notifications.pushing import Pushing
from tintype.notifications.reading import Reading
from tintype.notifications.sending import PushSender
from tintype.notifications.stories import Glances, StoryNews
from tintype.notifications.telling import Telling
from tintype.notifications.vapid import VapidKey
from tintype.posts import PostEdited, PostLiked, PostPublished, PostRemoved, Posts
from tintype.stories import Stories, StoryPublished, StoryReacted, StoryRemoved, StoryReplied

QUERIES = Queries.load(Path(__file__).with_name("queries.sql"))
SWEEP_EVERY_S = 3600.0
LIKES_AT_ONCE = 128
"""Likes of one post are told together: the more wait, the fewer transactions they need."""
PUSHES_AT_ONCE = 64


class Notifications:
    """Everybody's list: `reading` shows it, `choices` say what enters it, `pushing` rings for it."""

    def __init__(
        self,
        shards: Shards,
        outbox: Outbox,
        sight: Sight,
        *,
        posts: Posts,
        comments: Comments,
        stories: Stories,
        settings: Settings,
        bus: Client,
    ) -> None:
        self._names, self._bus, self._comments = Names(settings.namespace), bus, comments
        self.key = VapidKey(settings)
        self.choices = Choices(shards, QUERIES)
        self._telling = Telling(shards, outbox, QUERIES, self._announce)
        self._hearing = Hearing(
            shards, sight, posts, queries=QUERIES, telling=self._telling, choices=self.choices
        )
        self._meeting = Meeting(self._hearing, self._telling)
        self._story_news = StoryNews(self._hearing, stories)
        self.reading = Reading(
            shards,
            sight,
            posts,
            glances=Glances(stories),
            queries=QUERIES,
            telling=self._telling,
            changed=self._announce,
        )
        sender = PushSender(self.key, may_be_internal=settings.push_internal)
        self.pushing = Pushing(
            shards, outbox, queries=QUERIES, reading=self.reading, choices=self.choices, sender=sender
        )
        self._keeping = Keeping(shards, queries=QUERIES, hearing=self._hearing, telling=self._telling)

    async def warn(self, account_id: AccountId, *, object_id: int, act_id: int) -> None:
        """A moderator's warning about something of theirs is in the list, once per act."""
        await self._hearing.hear(from_house(account_id, "warning", object_id=object_id, change_id=act_id))

    def export(self, account_id: AccountId) -> AsyncIterator[Record]:
        """Everything the room keeps of this person, oldest first."""
        return self._keeping.export(account_id)

    async def erase(self, account_id: AccountId) -> int:
        """Remove some of it, wherever it lies."""
        return await self._keeping.erase(account_id)

    async def count_left(self, account_id: AccountId) -> int:
        """How much is still there."""
        return await self._keeping.count_left(account_id)

    async def sweep(self) -> None:
        """What is too old is gone."""
        await self._keeping.sweep()

    async def close(self) -> None:
        """Close the connections to push services."""
        await self.pushing.sender.close()

    def handlers(self) -> list[Handler]:
        """What this room does when something has happened."""
        hearing, meeting, news = self._hearing, self._meeting, self._story_news
        return [
            on(PostLiked, hearing.on_liked, name="notifications-liked", concurrency=LIKES_AT_ONCE),
            on(PostPublished, hearing.on_published, name="notifications-published"),
            on(PostEdited, hearing.on_edited, name="notifications-edited"),
            on(PostRemoved, hearing.on_removed, name="notifications-removed"),
            on(CommentAdded, hearing.on_comment, name="notifications-comment"),
            on(CommentRemoved, hearing.on_comment_removed, name="notifications-comment-removed"),
            on(CommentLiked, hearing.on_comment_liked, name="notifications-comment-liked"),
            on(StoryPublished, news.on_published, name="notifications-story-published"),
            on(StoryRemoved, news.on_removed, name="notifications-story-removed"),
            on(StoryReacted, news.on_reacted, name="notifications-story-reacted"),
            on(StoryReplied, news.on_replied, name="notifications-story-replied"),
            on(FollowChanged, meeting.on_follow, name="notifications-follow"),
            on(FollowRequested, meeting.on_request, name="notifications-request"),
            on(FollowDecided, meeting.on_decided, name="notifications-decided"),
            on(BlockChanged, meeting.on_block, name="notifications-block"),
            on(StatusChanged, meeting.on_status, name="notifications-status"),
            on(SessionsEnded, self.pushing.on_sessions_ended, name="push-sessions-ended"),
            on(NotificationTold, self.pushing.on_told, name="push-told"),
            on(PushDue, self.pushing.deliver, name="push-deliver", concurrency=PUSHES_AT_ONCE),
        ]

    def schedules(self) -> list[Schedule]:
        """What this room repeats by the clock."""
        return [Schedule("notifications-sweep", SWEEP_EVERY_S, self.sweep)]

    async def _announce(self, account_id: AccountId) -> None:
        """Let live connections know; who misses it finds out at the next look."""
        count = await self.reading.count_unread(account_id)
        body = msgspec.json.encode({"account_id": str(account_id), "unread_count": count})
        with contextlib.suppress(BusError):
            await self._bus.publish(self._names.notifications(account_id), body)
