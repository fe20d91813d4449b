"""Comments: threads under posts, and the likes they get.

They live with the post, on its author's shard; an index of each person's comments and comment likes lives with that
person.
"""

from tintype.comments.dependencies import CommentsDependencies
from tintype.comments.errors import (
    CommentInvalid,
    CommentNotFound,
    CommentNotYours,
    CommentRepeated,
    CommentsOff,
    FiltersInvalid,
    TooManyPinnedComments,
)
from tintype.comments.events import CommentAdded, CommentKept, CommentLiked, CommentRemoved
from tintype.comments.models import Comment, CommentCursor, CommentDraft, CommentPage, Sort, VisibleComment
from tintype.comments.service import Comments
from tintype.comments.store import QUERIES

__all__ = [
    "QUERIES",
    "Comment",
    "CommentAdded",
    "CommentCursor",
    "CommentDraft",
    "CommentInvalid",
    "CommentKept",
    "CommentLiked",
    "CommentNotFound",
    "CommentNotYours",
    "CommentPage",
    "CommentRemoved",
    "CommentRepeated",
    "Comments",
    "CommentsDependencies",
    "CommentsOff",
    "FiltersInvalid",
    "Sort",
    "TooManyPinnedComments",
    "VisibleComment",
]
