"""Events of the posts room."""

from tintype.base.events import Event
from tintype.base.ids import AccountId, PostId


class PostPublished(Event, frozen=True):
    """A post became visible, for the first time or again (unarchived, or restored by a moderator)."""

    post_id: PostId
    author_id: AccountId
    hashtags: tuple[str, ...] = ()
    mention_ids: tuple[AccountId, ...] = ()
    tagged_ids: tuple[AccountId, ...] = ()
    place_id: str | None = None
    is_new: bool = True
    """False when it became visible again: nobody is notified a second time."""
    media_count: int = 0
    """How many photos and videos it has; 0 where the event does not say."""
    has_video: bool = False
    """Known where the event says how many there are."""


class PostImported(Event, frozen=True):
    """A post of an import became visible: it goes to walls and topics by its own time, to no feed, and notifies nobody.

    An event of its own, so that a process of an earlier release neither fans it out nor notifies anybody.
    """

    post_id: PostId
    author_id: AccountId
    hashtags: tuple[str, ...] = ()
    is_new: bool = True
    """False when it became visible again."""


class PostEdited(Event, frozen=True):
    """A post's caption, tags or place changed; the fields have the new values."""

    post_id: PostId
    author_id: AccountId
    change_id: int
    hashtags: tuple[str, ...] = ()
    mention_ids: tuple[AccountId, ...] = ()
    tagged_ids: tuple[AccountId, ...] = ()
    place_id: str | None = None
    untagged_ids: tuple[AccountId, ...] = ()
    """Who was tagged before the change and is not any more."""


class PostRemoved(Event, frozen=True):
    """A post is no longer visible: archived, hidden by a moderator, or deleted."""

    post_id: PostId
    author_id: AccountId
    change_id: int
    is_deleted: bool
    tagged_ids: tuple[AccountId, ...] = ()


class PostPurged(Event, frozen=True):
    """Every row of a deleted post is gone; other rooms delete what they store under its id."""

    post_id: PostId
    author_id: AccountId


class PostLiked(Event, frozen=True):
    """Somebody liked a post, or took the like back. Change ids of one post and person increase with time."""

    post_id: PostId
    author_id: AccountId
    account_id: AccountId
    change_id: int
    is_liked: bool
