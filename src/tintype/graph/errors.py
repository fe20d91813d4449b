"""How the graph says no."""

from tintype.base.errors import Conflict, Invalid, NotFound


class CannotFollowYourself(Invalid):
    """You cannot follow yourself."""

    code = "cannot_follow_yourself"


class CannotBeYourself(Invalid):
    """You cannot do that to yourself."""

    code = "cannot_be_yourself"


class TooManyFollowees(Conflict):
    """You follow as many people as one can; unfollow somebody first."""

    code = "too_many_followees"


class TooManyAttitudes(Conflict):
    """You have muted, restricted or marked as many people as one can; take somebody off first."""

    code = "too_many_attitudes"


class RequestNotFound(NotFound):
    """There is no such request: it was taken back, or answered already."""

    code = "request_not_found"
