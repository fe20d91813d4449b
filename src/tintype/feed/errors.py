"""Errors of the feed room."""

from tintype.base.errors import Conflict, Invalid


class TagInvalid(Invalid):
    """A hashtag is one word with at least one letter."""

    code = "tag_invalid"


class TooManyTags(Conflict):
    """You follow as many hashtags as are allowed; unfollow one first."""

    code = "too_many_tags"
