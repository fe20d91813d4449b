"""Errors of the graph."""

from tintype.base.errors import Conflict, Invalid, NotFound


class CannotFollowYourself(Invalid):
    """You cannot follow yourself."""

    code = "cannot_follow_yourself"


class CannotBeYourself(Invalid):
    """You cannot do that to yourself."""

    code = "cannot_be_yourself"


class TooManyFollowees(Conflict):
    """You follow as many people as is possible; unfollow somebody first."""

    code = "too_many_followees"


class TooManyPreferences(Conflict):
    """You have muted, restricted or marked as many people as is possible; remove somebody first."""

    code = "too_many_attitudes"


class RequestNotFound(NotFound):
    """There is no such request: it was withdrawn, or answered already."""

    code = "request_not_found"
