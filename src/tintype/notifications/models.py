"""The types that the notifications room shows to other rooms."""

from typing import NamedTuple

import msgspec

from tintype.accounts import Account
from tintype.base.ids import AccountId, CommentId, PostId
from tintype.notifications.kinds import KindName, NotificationAudience
from tintype.posts import Post
from tintype.stories import Reaction, StoryId

SYSTEM = AccountId(0)
"""The actor of messages from the operators; no account has this id."""
NO_OBJECT = 0
"""The object of an activity that is about the recipient alone, such as a follow."""


class UnreadChanged(msgspec.Struct, frozen=True):
    """Somebody's list has changed: how many notifications are unread now."""

    account_id: AccountId
    unread_count: int


class Activity(msgspec.Struct, frozen=True, kw_only=True):
    """Something an actor did that a recipient is notified of."""

    recipient_id: AccountId
    kind: KindName
    actor_id: AccountId
    change_id: int
    """Of one (kind, object, actor) the newest change wins, in whatever order changes arrive."""
    object_id: int = NO_OBJECT
    group_id: int = NO_OBJECT
    """Activities of one kind and group are one notification while it is unread."""
    post_id: PostId | None = None
    comment_id: CommentId | None = None


class StoryPreview(msgspec.Struct, frozen=True, kw_only=True):
    """The story that a notification is about; after the story has ended, without its picture."""

    story_id: StoryId
    folder: str | None = None
    """The folder of its media, while it is live."""
    is_hidden: bool = False
    """Hidden by a moderator: only its author gets to see it."""
    text: str | None = None
    """The text of the reply or answer, or the title of the countdown."""
    reaction: Reaction | None = None


class LatestActivity(NamedTuple):
    """The latest of a notification's activities that its recipient may see."""

    kind: str
    actor_id: AccountId
    object_id: int


class Notification(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of a list: the latest actors, how many there are, and what it is about."""

    id: int
    kind: KindName
    cursor: int
    """Its position in the list, newest first; an id whose time says when it happened last."""
    actors: list[Account]
    actor_count: int
    object_id: int
    post: Post | None
    story: StoryPreview | None = None
    comment_text: str | None = None
    """What the comment says that it is about, shortened."""
    is_read: bool


class NotificationPage(msgspec.Struct, frozen=True):
    """A page of the list; `next_before` is the cursor of the next page, if there is one."""

    notifications: list[Notification]
    next_before: int | None


class NotificationPreference(msgspec.Struct, frozen=True):
    """Whose activities of one kind somebody wants to be notified of, and whether they are pushed."""

    kind: KindName
    audience: NotificationAudience
    is_pushed: bool


class QuietHours(msgspec.Struct, frozen=True):
    """Minutes after midnight between which nothing is pushed; the list grows all the same."""

    begin: int
    end: int
    time_zone: str


class Subscription(msgspec.Struct, frozen=True):
    """A browser that notifications are pushed to (RFC 8030)."""

    id: int
    session_id: str
    endpoint: str
    public_key: bytes
    auth_secret: bytes
    device: str


class PushEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    """Where a browser of one session receives pushes, and the keys they are encrypted with (RFC 8291)."""

    session_id: str
    endpoint: str
    public_key: bytes
    auth_secret: bytes
    device: str = ""
