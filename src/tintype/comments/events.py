"""What the comments room announces."""

from tintype.base.events import Event
from tintype.base.ids import AccountId, CommentId, PostId


class CommentAdded(Event, frozen=True):
    """Somebody commented on a post, or replied to a comment."""

    comment_id: CommentId
    post_id: PostId
    post_author_id: AccountId
    account_id: AccountId
    parent_id: CommentId | None = None
    parent_account_id: AccountId | None = None
    mention_ids: tuple[AccountId, ...] = ()
    is_new: bool = True
    """False when it came back after it had been hidden: nobody is told a second time."""


class CommentKept(Event, frozen=True):
    """Somebody commented, and it waits for the author of the post: nobody else is told."""

    comment_id: CommentId
    post_id: PostId
    account_id: AccountId


class CommentRemoved(Event, frozen=True):
    """A comment can no longer be seen."""

    comment_id: CommentId
    post_id: PostId
    account_id: AccountId
    is_deleted: bool = True
    """False where a moderator hid it and may show it again."""


class CommentLiked(Event, frozen=True):
    """Somebody liked a comment, or took the like back."""

    comment_id: CommentId
    post_id: PostId
    comment_author_id: AccountId
    account_id: AccountId
    change_id: int
    is_liked: bool
