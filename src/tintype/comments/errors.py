"""Errors of the comments room."""

from tintype.base.errors import Conflict, Forbidden, Invalid, NotFound


class CommentNotFound(NotFound):
    """That comment is gone, or you may not see it."""

    code = "comment_not_found"


class CommentInvalid(Invalid):
    """A comment must have 1 to 2,200 characters."""

    code = "comment_invalid"


class CommentRepeated(Conflict):
    """You posted the same comment here a moment ago."""

    code = "comment_repeated"


class CommentsOff(Forbidden):
    """The author of this post has turned comments off."""

    code = "comments_off"


class CommentNotYours(Forbidden):
    """Only the author of the comment or of the post can do that."""

    code = "comment_not_yours"


class TooManyPinnedComments(Conflict):
    """You can pin at most 3 comments of a post, and no replies. Unpin one first."""

    code = "too_many_pinned"


class FiltersInvalid(Invalid):
    """Give at most 200 words or phrases, each with 1 to 60 characters."""

    code = "filters_invalid"
