"""The notifications room as others use it."""

import contextlib
from collections.abc import Sequence
from datetime import datetime

import msgspec
from nats.aio.client import Client
from nats.errors import Error as NatsError

from shardwright.routing import Shards
from tintype.accounts import SessionsEnded, StatusChanged
from tintype.base.ids import LARGEST_ID, AccountId
from tintype.base.jobs import Handler, Schedule, on
from tintype.base.listeners import Listeners
from tintype.base.nats import NatsNames
from tintype.base.outbox import Outbox
from tintype.base.personal_data import PersonalDataHolder
from tintype.base.settings import Settings
from tintype.comments import CommentAdded, CommentLiked, CommentRemoved, Comments
from tintype.direct import Direct, MessageSent
from tintype.graph import BlockChanged, FollowChanged, FollowDecided, FollowRequested, Visibility
from tintype.notifications.comment_event_handlers import CommentEventHandlers
from tintype.notifications.dependencies import NotificationsDependencies
from tintype.notifications.events import MessagePushDue, NotificationTold, PushDue
from tintype.notifications.list_reader import ListReader
from tintype.notifications.list_writer import ListWriter
from tintype.notifications.message_pushes import MessagePushes
from tintype.notifications.models import (
    NotificationPage,
    NotificationPreference,
    PushEndpoint,
    QuietHours,
    Subscription,
    UnreadChanged,
)
from tintype.notifications.notify import Notifier, system_activity
from tintype.notifications.people_event_handlers import PeopleEventHandlers
from tintype.notifications.personal_data import NotificationsPersonalData
from tintype.notifications.post_event_handlers import PostEventHandlers
from tintype.notifications.preferences import NotificationPreferences
from tintype.notifications.push_delivery import PushDelivery
from tintype.notifications.push_sender import PushSender
from tintype.notifications.push_subscriptions import PushSubscriptions
from tintype.notifications.retention import NotificationRetention
from tintype.notifications.story_event_handlers import StoryEventHandlers
from tintype.notifications.vapid import VapidKey
from tintype.posts import PostEdited, PostLiked, PostPublished, PostRemoved, Posts
from tintype.stories import (
    CountdownEnded,
    Stories,
    StoryAnswered,
    StoryPublished,
    StoryReacted,
    StoryRemoved,
    StoryReplied,
)

PUSHES_AT_ONCE = 64


class Notifications:
    """Everybody's list of notifications, their preferences, and pushes to their browsers."""

    def __init__(
        self,
        shards: Shards,
        outbox: Outbox,
        visibility: Visibility,
        *,
        posts: Posts,
        comments: Comments,
        stories: Stories,
        direct: Direct,
        settings: Settings,
        nats: Client,
    ) -> None:
        deps = NotificationsDependencies(shards, outbox, visibility, posts, comments, stories)
        self.changed: Listeners[UnreadChanged] = Listeners()
        self._names, self._nats = NatsNames(settings.namespace), nats
        self.vapid_key = VapidKey(settings)
        self.push_sender = PushSender(self.vapid_key, may_be_internal=settings.push_internal)
        self._preferences = NotificationPreferences(deps)
        self._writer = ListWriter(deps, self._publish_change)
        self._reader = ListReader(deps, self._writer, self._publish_change)
        self._notifier = Notifier(deps, self._writer)
        self._on_post = PostEventHandlers(self._notifier, self._writer)
        self._on_comment = CommentEventHandlers(self._notifier, self._writer)
        self._on_story = StoryEventHandlers(deps, self._notifier)
        self._on_people = PeopleEventHandlers(self._notifier, self._writer)
        self._subscriptions = PushSubscriptions(deps, self.push_sender)
        self._push = PushDelivery(
            deps,
            reader=self._reader,
            preferences=self._preferences,
            subscriptions=self._subscriptions,
            sender=self.push_sender,
        )
        self._message_pushes = MessagePushes(
            deps,
            direct,
            preferences=self._preferences,
            subscriptions=self._subscriptions,
            sender=self.push_sender,
        )
        self._retention = NotificationRetention(deps)
        self.personal_data: PersonalDataHolder = NotificationsPersonalData(deps, self._notifier, self._writer)

    async def get_page(
        self, account_id: AccountId, *, before: int = LARGEST_ID, limit: int = 20
    ) -> NotificationPage:
        """A page of the account's list, newest first."""
        return await self._reader.page(account_id, before=before, limit=limit)

    async def count_unread(self, account_id: AccountId) -> int:
        """How many notifications are unread."""
        return await self._reader.count_unread(account_id)

    async def mark_read(self, account_id: AccountId, notification_id: int) -> None:
        """Mark one notification as read."""
        await self._reader.mark_read(account_id, notification_id)

    async def mark_all_read(self, account_id: AccountId, *, up_to: int | None = None) -> None:
        """Mark everything up to and including this notification as read; without one, the whole list."""
        await self._reader.mark_all_read(account_id, up_to=up_to)

    async def remove(self, account_id: AccountId, notification_id: int) -> None:
        """Remove one notification from the list."""
        await self._reader.remove(account_id, notification_id)

    async def warn(self, account_id: AccountId, *, object_id: int, act_id: int) -> None:
        """Notify the account of a moderator's warning, once per moderation act."""
        await self._notifier.notify(
            system_activity(account_id, "warning", object_id=object_id, change_id=act_id)
        )

    async def list_preferences(self, account_id: AccountId) -> list[NotificationPreference]:
        """The account's preference for every kind that can be configured, defaults included."""
        return await self._preferences.list(account_id)

    async def set_preference(self, account_id: AccountId, preference: NotificationPreference) -> None:
        """Replace the account's preference for one kind."""
        await self._preferences.set(account_id, preference)

    async def find_quiet_hours(self, account_id: AccountId) -> QuietHours | None:
        """The hours during which the account's devices get no pushes, if set."""
        return await self._preferences.find_quiet_hours(account_id)

    async def set_quiet_hours(self, account_id: AccountId, quiet: QuietHours | None) -> None:
        """Send no pushes during these hours; None removes the setting."""
        await self._preferences.set_quiet_hours(account_id, quiet)

    async def subscribe(self, account_id: AccountId, browser: PushEndpoint) -> Subscription:
        """Push to this browser from now on; subscribing again renews its keys."""
        return await self._subscriptions.subscribe(account_id, browser)

    async def list_subscriptions(self, account_id: AccountId) -> Sequence[Subscription]:
        """The account's subscribed browsers."""
        return await self._subscriptions.list(account_id)

    async def unsubscribe(self, account_id: AccountId, subscription_id: int) -> None:
        """Push nothing to this browser any more."""
        await self._subscriptions.unsubscribe(account_id, subscription_id)

    async def sweep(self, now: datetime | None = None) -> None:
        """Delete what is older than 90 days, on every shard."""
        await self._retention.sweep(now)

    async def close(self) -> None:
        """Close the connections to push services."""
        await self.push_sender.close()

    def handlers(self) -> list[Handler]:
        """Reactions to events of other rooms, and the delivery of pushes."""
        post, comment, story, people = self._on_post, self._on_comment, self._on_story, self._on_people
        return [
            on(PostLiked, post.on_liked, name="notifications-liked", many=True),
            on(PostPublished, post.on_published, name="notifications-published", many=True),
            on(PostEdited, post.on_edited, name="notifications-edited"),
            on(PostRemoved, post.on_removed, name="notifications-removed"),
            on(CommentAdded, comment.on_added, name="notifications-comment", many=True),
            on(CommentRemoved, comment.on_removed, name="notifications-comment-removed"),
            on(CommentLiked, comment.on_liked, name="notifications-comment-liked", many=True),
            on(StoryPublished, story.on_published, name="notifications-story-published"),
            on(StoryRemoved, story.on_removed, name="notifications-story-removed"),
            on(StoryReacted, story.on_reacted, name="notifications-story-reacted"),
            on(StoryReplied, story.on_replied, name="notifications-story-replied"),
            on(StoryAnswered, story.on_answered, name="notifications-story-answered"),
            on(CountdownEnded, story.on_countdown_ended, name="notifications-countdown-ended"),
            on(FollowChanged, people.on_follow, name="notifications-follow", many=True),
            on(FollowRequested, people.on_request, name="notifications-request", many=True),
            on(FollowDecided, people.on_decided, name="notifications-decided"),
            on(BlockChanged, people.on_block, name="notifications-block"),
            on(StatusChanged, people.on_status, name="notifications-status"),
            on(SessionsEnded, self._subscriptions.on_sessions_ended, name="push-sessions-ended"),
            on(NotificationTold, self._push.on_told, name="push-told"),
            on(MessageSent, self._message_pushes.on_sent, name="push-messages", many=True),
            on(
                MessagePushDue,
                self._message_pushes.deliver,
                name="push-message-deliver",
                concurrency=PUSHES_AT_ONCE,
            ),
            on(PushDue, self._push.deliver, name="push-deliver", concurrency=PUSHES_AT_ONCE),
        ]

    def schedules(self) -> list[Schedule]:
        """Work that this room repeats: the sweep."""
        return self._retention.schedules()

    async def _publish_change(self, account_id: AccountId, unread_count: int | None = None) -> None:
        """Tell live connections the new unread count; whoever misses it reads it with the next request."""
        count = await self._reader.count_unread(account_id) if unread_count is None else unread_count
        await self.changed.notify(UnreadChanged(account_id, count))
        body = msgspec.json.encode({"account_id": str(account_id), "unread_count": count})
        with contextlib.suppress(NatsError):
            await self._nats.publish(self._names.notifications(account_id), body)
