"""Events of the comments room."""

from tintype.base.events import Event
from tintype.base.ids import AccountId, CommentId, PostId


class CommentAdded(Event, frozen=True):
    """Somebody commented on a post or replied to a comment, and the comment is visible."""

    comment_id: CommentId
    post_id: PostId
    post_author_id: AccountId
    account_id: AccountId
    parent_id: CommentId | None = None
    parent_account_id: AccountId | None = None
    mention_ids: tuple[AccountId, ...] = ()
    is_new: bool = True
    """False when a moderator restored it: nobody is notified a second time."""


class CommentKept(Event, frozen=True):
    """Somebody commented, and the comment is held back until the author of the post approves it."""

    comment_id: CommentId
    post_id: PostId
    account_id: AccountId


class CommentRemoved(Event, frozen=True):
    """A comment is no longer visible."""

    comment_id: CommentId
    post_id: PostId
    account_id: AccountId
    is_deleted: bool = True
    """False where a moderator hid it and may restore it."""


class CommentLiked(Event, frozen=True):
    """Somebody liked a comment, or took the like back."""

    comment_id: CommentId
    post_id: PostId
    comment_author_id: AccountId
    account_id: AccountId
    change_id: int
    is_liked: bool
