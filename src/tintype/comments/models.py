"""What a comment looks like to the rest of the house."""

from typing import Literal

import msgspec

from tintype.accounts import Account
from tintype.base.ids import AccountId, CommentId, PostId

LONGEST_COMMENT = 2_200
MOST_PINNED = 3
MOST_FILTERS = 200
LONGEST_FILTER = 60
DEEPEST = 1_000
"""Answers to answers may go on this long; it only keeps the number within its column."""

State = Literal["visible", "filtered", "waiting", "hidden", "deleted"]
Sort = Literal["newest", "oldest", "top"]


class Comment(msgspec.Struct, frozen=True, kw_only=True):
    """A comment as its row has it."""

    id: CommentId
    post_id: PostId
    account_id: AccountId
    parent_id: CommentId | None
    parent_account_id: AccountId | None
    root_id: CommentId | None
    depth: int
    text: str
    state: State
    like_count: int
    thread_count: int
    is_pinned: bool
    viewer_has_liked: bool
    has_replies: bool


class SeenComment(msgspec.Struct, frozen=True):
    """A comment as a viewer sees it; without an author it is an empty place that holds its answers."""

    comment: Comment
    author: Account | None
    answers: Account | None
    """Whom it answers, where the viewer may know."""
    post_author_id: AccountId

    @property
    def is_empty(self) -> bool:
        """Whether only the place is left: deleted, hidden, or by somebody the viewer may not see."""
        return self.author is None


class Place(msgspec.Struct, frozen=True, array_like=True):
    """Where a page of comments goes on: after this one, which had so many likes."""

    id: int
    like_count: int = 0


class CommentPage(msgspec.Struct, frozen=True):
    """Comments in their order, and where the next page begins."""

    comments: list[SeenComment]
    next_place: Place | None
