"""How the media room says no."""

from tintype.base.errors import Invalid, NotFound


class MediaRefused(Invalid):
    """That file is not a photo we can take: a JPEG, PNG or WebP of at most 30 MB and 64 megapixels."""

    code = "media_refused"


class MediaNotFound(NotFound):
    """There is no such file."""

    code = "media_not_found"
