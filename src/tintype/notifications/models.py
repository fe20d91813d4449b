"""What notifications look like to the rest of the house."""

import msgspec

from tintype.accounts import Account
from tintype.base.ids import AccountId, CommentId, PostId
from tintype.notifications.kinds import Audience, KindName
from tintype.posts import Post
from tintype.stories import Reaction, StoryId

HOUSE = AccountId(0)
"""Who acts when those who run the place speak: no account has this id."""
NO_OBJECT = 0
"""What an act is about when it is about the recipient alone, such as a follow."""


class Act(msgspec.Struct, frozen=True, kw_only=True):
    """Something that somebody did and that somebody else is told."""

    recipient_id: AccountId
    kind: KindName
    actor_id: AccountId
    change_id: int
    """Of one (kind, object, actor) the newest change wins, in whatever order they arrive."""
    object_id: int = NO_OBJECT
    group_id: int = NO_OBJECT
    """Acts of one kind and group are told as one while they are unread."""
    post_id: PostId | None = None
    comment_id: CommentId | None = None


class StoryGlance(msgspec.Struct, frozen=True, kw_only=True):
    """The story that a line is about: for a while after its end, too, but without its picture."""

    story_id: StoryId
    folder: str | None = None
    """Where its picture lies, while it lives."""
    text: str | None = None
    """What was answered."""
    reaction: Reaction | None = None


class Notification(msgspec.Struct, frozen=True, kw_only=True):
    """One line of somebody's list: who did it last, how many they are, and what it is about."""

    id: int
    kind: KindName
    place: int
    """Its place in the list, newest first, and by its time also when it happened last."""
    actors: list[Account]
    actor_count: int
    object_id: int
    post: Post | None
    story: StoryGlance | None = None
    is_read: bool


class Page(msgspec.Struct, frozen=True):
    """A part of the list; `next_before` is the place the next one begins at."""

    notifications: list[Notification]
    next_before: int | None


class Choice(msgspec.Struct, frozen=True):
    """What somebody wants to be told of one kind, and whether on their devices."""

    kind: KindName
    audience: Audience
    is_pushed: bool


class QuietHours(msgspec.Struct, frozen=True):
    """Minutes after midnight between which devices stay silent; the list fills all the same."""

    begin: int
    end: int
    time_zone: str


class Subscription(msgspec.Struct, frozen=True):
    """A browser that wants to be told."""

    id: int
    session_id: str
    endpoint: str
    public_key: bytes
    auth_secret: bytes
    device: str
