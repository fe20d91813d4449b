"""Comments: threads under posts, and the likes they get.

They live with the post, on its author's shard; an index of what somebody said lives with that person.
"""

from tintype.comments.errors import (
    CommentInvalid,
    CommentNotFound,
    CommentNotYours,
    CommentRepeated,
    CommentsOff,
    FiltersInvalid,
    TooManyPinned,
)
from tintype.comments.events import CommentAdded, CommentKept, CommentLiked, CommentRemoved
from tintype.comments.models import Comment, CommentPage, Place, SeenComment, Sort
from tintype.comments.service import QUERIES, Comments

__all__ = [
    "QUERIES",
    "Comment",
    "CommentAdded",
    "CommentInvalid",
    "CommentKept",
    "CommentLiked",
    "CommentNotFound",
    "CommentNotYours",
    "CommentPage",
    "CommentRemoved",
    "CommentRepeated",
    "Comments",
    "CommentsOff",
    "FiltersInvalid",
    "Place",
    "SeenComment",
    "Sort",
    "TooManyPinned",
]
