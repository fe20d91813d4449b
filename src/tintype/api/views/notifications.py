"""Notifications: who did what, when, and the settings about them."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Literal

import msgspec

from tintype.accounts import Account
from tintype.api.views.context import ViewContext
from tintype.api.views.people import SMALL, RelationView, show_relation
from tintype.base.ids import AccountId
from tintype.graph import VisibleAccount
from tintype.media import Audience, public_photo_urls
from tintype.notifications import KindName, Notification, NotificationAudience, StoryPreview
from tintype.posts import Post

FOLLOW_BACK_KINDS = frozenset({"follow", "accepted"})
"""Kinds of notifications that offer to follow the actor back."""
Recency = Literal["today", "week", "month", "earlier"]


class ActorView(msgspec.Struct, frozen=True):
    """Somebody who did something."""

    account_id: str
    username: str
    full_name: str
    is_verified: bool
    is_private: bool
    avatar_urls: dict[str, str] | None
    relation: RelationView | None
    """How the viewer is related to them, where the notification offers to follow back; null elsewhere."""


class PostPreviewView(msgspec.Struct, frozen=True):
    """The post that it is about, as a thumbnail."""

    post_id: str
    thumbnail_url: str | None


class StoryPreviewView(msgspec.Struct, frozen=True):
    """The story that it is about; one that has expired has no picture.

    `text` is the reply or answer, or the title of the countdown that ended.
    """

    story_id: str
    is_live: bool
    thumbnail_url: str | None
    text: str | None
    reaction: str | None


class NotificationView(msgspec.Struct, frozen=True):
    """One notification: the latest actors, and how many there are in all."""

    notification_id: str
    kind: KindName
    actors: list[ActorView]
    actor_count: int
    others_count: int
    """How many more there are than `actors` names."""
    object_id: str | None
    """The comment for comment, reply and comment_like, and for a mention in one; the case for a warning;
    the reply for story_reply, the story for the other kinds about stories."""
    post: PostPreviewView | None
    story: StoryPreviewView | None
    comment_text: str | None
    """The beginning of the comment that it is about, if the recipient may see it."""
    happened_at: datetime
    recency: Recency
    is_read: bool


class NotificationsView(msgspec.Struct, frozen=True):
    """A page of notifications, newest first."""

    notifications: list[NotificationView]
    unread_count: int
    next_cursor: str | None
    has_more: bool


class UnreadView(msgspec.Struct, frozen=True):
    """How many notifications are unread."""

    unread_count: int


class NotificationPreferenceView(msgspec.Struct, frozen=True):
    """Whose actions of a kind one is notified of, and whether push messages are sent."""

    kind: KindName
    audience: NotificationAudience
    is_pushed: bool


class QuietHoursView(msgspec.Struct, frozen=True):
    """When no push messages are sent, in minutes after midnight."""

    begin: int
    end: int
    time_zone: str


class NotificationSettingsView(msgspec.Struct, frozen=True):
    """The preferences for every kind of notification, and the quiet hours."""

    kinds: list[NotificationPreferenceView]
    quiet_hours: QuietHoursView | None


def show_notification(
    line: Notification, now: datetime, people: Mapping[AccountId, VisibleAccount], context: ViewContext
) -> NotificationView:
    """A notification for its recipient; `people` holds the actors whose relation is shown."""
    happened_at = context.layout.id_time(line.cursor)
    return NotificationView(
        notification_id=str(line.id),
        kind=line.kind,
        actors=[
            _show_actor(each, people.get(each.id) if line.kind in FOLLOW_BACK_KINDS else None)
            for each in line.actors
        ],
        actor_count=line.actor_count,
        others_count=max(0, line.actor_count - len(line.actors)),
        object_id=str(line.object_id) if line.object_id else None,
        post=PostPreviewView(str(line.post.id), _thumbnail(line.post, context)) if line.post else None,
        story=_show_story(line.story, context) if line.story else None,
        comment_text=line.comment_text,
        happened_at=happened_at,
        recency=_recency(now - happened_at),
        is_read=line.is_read,
    )


def _show_actor(account: Account, seen: VisibleAccount | None) -> ActorView:
    """Somebody beside what they did."""
    return ActorView(
        account_id=str(account.id),
        username=account.username,
        full_name=account.full_name,
        is_verified=account.is_verified,
        is_private=account.is_private,
        avatar_urls=public_photo_urls(account.avatar_folder) if account.avatar_folder else None,
        relation=show_relation(seen.relation) if seen else None,
    )


def _thumbnail(post: Post, context: ViewContext) -> str | None:
    if not post.media:
        return None
    return context.urls.photo_urls(post.media[0].folder, audience=_audience(is_shown=post.is_shown))[SMALL]


def _show_story(story: StoryPreview, context: ViewContext) -> StoryPreviewView:
    audience = _audience(is_shown=not story.is_hidden)
    url = context.urls.photo_urls(story.folder, audience=audience)[SMALL] if story.folder else None
    return StoryPreviewView(str(story.story_id), story.folder is not None, url, story.text, story.reaction)


def _audience(*, is_shown: bool) -> Audience:
    """For whom a thumbnail's URL is made: the recipient is the author, or may see the author's content."""
    return "viewers" if is_shown else "owner"


def _recency(age: timedelta) -> Recency:
    if age < timedelta(days=1):
        return "today"
    if age < timedelta(days=7):
        return "week"
    return "month" if age < timedelta(days=30) else "earlier"
