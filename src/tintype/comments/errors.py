"""How the comments room says no."""

from tintype.base.errors import Conflict, Forbidden, Invalid, NotFound


class CommentNotFound(NotFound):
    """That comment is gone, or you may not see it."""

    code = "comment_not_found"


class CommentInvalid(Invalid):
    """A comment has 1 to 2,200 characters."""

    code = "comment_invalid"


class CommentRepeated(Conflict):
    """You said exactly that here a moment ago."""

    code = "comment_repeated"


class CommentsOff(Forbidden):
    """The author of this post has turned comments off."""

    code = "comments_off"


class CommentNotYours(Forbidden):
    """Only the author of the comment or of the post may do that."""

    code = "comment_not_yours"


class TooManyPinned(Conflict):
    """A post has at most 3 comments on top, none of them an answer."""

    code = "too_many_pinned"


class FiltersInvalid(Invalid):
    """Give at most 200 words or phrases, each of 1 to 60 characters."""

    code = "filters_invalid"
