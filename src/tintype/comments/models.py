"""The types of the comments room."""

from typing import Literal

import msgspec

from tintype.accounts import Account
from tintype.base.ids import AccountId, CommentId, PostId

MAX_COMMENT_LENGTH = 2_200
MAX_PINNED = 3
MAX_FILTERS = 200
MAX_FILTER_LENGTH = 60
MAX_DEPTH = 1_000
"""Replies to replies may nest deeper; the stored depth stops here to stay within its column."""

CommentState = Literal["visible", "filtered", "waiting", "hidden", "deleted"]
Sort = Literal["newest", "oldest", "top"]


class Comment(msgspec.Struct, frozen=True, kw_only=True):
    """A comment as it is stored."""

    id: CommentId
    post_id: PostId
    account_id: AccountId
    parent_id: CommentId | None
    parent_account_id: AccountId | None
    root_id: CommentId | None
    depth: int
    text: str
    state: CommentState
    like_count: int
    thread_count: int
    is_pinned: bool
    viewer_has_liked: bool
    has_replies: bool


class VisibleComment(msgspec.Struct, frozen=True):
    """A comment as a viewer sees it; without an author it is a placeholder that holds its replies together."""

    comment: Comment
    author: Account | None
    answers: Account | None
    """Whom it replies to, where the viewer may know of them."""
    post_author_id: AccountId

    @property
    def is_placeholder(self) -> bool:
        """Whether the comment itself is not shown: deleted, hidden, or by an account the viewer may not see."""
        return self.author is None

    def may_delete(self, viewer: AccountId | None) -> bool:
        """Whether the viewer may delete it: their own comment, or one under their own post."""
        return not self.is_placeholder and viewer in {self.comment.account_id, self.post_author_id}


class CommentDraft(msgspec.Struct, frozen=True):
    """A comment as its author sends it; `key` is the idempotency key of the request."""

    text: str
    reply_to: CommentId | None = None
    key: str | None = None


class CommentCursor(msgspec.Struct, frozen=True, array_like=True):
    """Where a page of comments ended: the last comment, and how many likes it had."""

    id: int
    like_count: int = 0


class CommentPage(msgspec.Struct, frozen=True):
    """Comments in their order, and the cursor of the next page, if there is one."""

    comments: list[VisibleComment]
    next_cursor: CommentCursor | None
