"""How the posts room says no."""

from tintype.base.errors import Invalid, NotFound


class PostNotFound(NotFound):
    """That post is gone, or you may not see it."""

    code = "post_not_found"


class CaptionTooLong(Invalid):
    """A caption has at most 2,200 characters."""

    code = "caption_too_long"


class MediaInvalid(Invalid):
    """A post needs 1 to 10 photos that you uploaded within the last 24 hours and have not posted yet."""

    code = "media_invalid"
