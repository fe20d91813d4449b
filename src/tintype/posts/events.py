"""What the posts room announces."""

from tintype.base.events import Event
from tintype.base.ids import AccountId, PostId


class PostPublished(Event, frozen=True):
    """A post can now be seen, for the first time or again (taken out of the archive)."""

    post_id: PostId
    author_id: AccountId
    hashtags: tuple[str, ...] = ()
    mention_ids: tuple[AccountId, ...] = ()
    tagged_ids: tuple[AccountId, ...] = ()
    place_id: str | None = None
    is_new: bool = True
    """False when it came back out of the archive: nobody is told a second time."""


class PostEdited(Event, frozen=True):
    """A post's words, tags or place changed; the fields say how it is now."""

    post_id: PostId
    author_id: AccountId
    change_id: int
    hashtags: tuple[str, ...] = ()
    mention_ids: tuple[AccountId, ...] = ()
    tagged_ids: tuple[AccountId, ...] = ()
    place_id: str | None = None
    untagged_ids: tuple[AccountId, ...] = ()
    """Who was in the pictures before and is not any more."""


class PostRemoved(Event, frozen=True):
    """A post can no longer be seen: archived, hidden by a moderator, or deleted."""

    post_id: PostId
    author_id: AccountId
    change_id: int
    is_deleted: bool
    tagged_ids: tuple[AccountId, ...] = ()


class PostPurged(Event, frozen=True):
    """Nothing of a deleted post is left here; whoever keeps something under its id lets go of it too."""

    post_id: PostId
    author_id: AccountId


class PostLiked(Event, frozen=True):
    """Somebody liked a post, or took the like back. Change ids of one post and person increase with time."""

    post_id: PostId
    author_id: AccountId
    account_id: AccountId
    change_id: int
    is_liked: bool
