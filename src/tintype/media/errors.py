"""How the media room says no."""

from tintype.base.errors import Invalid, NotFound, Unavailable


class MediaRefused(Invalid):
    """That file is not a photo we can take: a JPEG, PNG or WebP of at most 30 MB and 64 megapixels."""

    code = "media_refused"


class MediaNotFound(NotFound):
    """There is no such file."""

    code = "media_not_found"


class MediaUnsupported(MediaRefused):
    """That is not a kind of file we take: send a JPEG, PNG, WebP or HEIC photo, or an MP4 or MOV video."""

    code = "media_unsupported"


class MediaTooLarge(MediaRefused):
    """That file has more bytes than we take."""

    code = "media_too_large"


class MediaDimensionsRefused(MediaRefused):
    """A photo may have 64 megapixels, 16,384 pixels on a side, and be ten times as long as wide, not more."""

    code = "media_dimensions_refused"


class MediaDimensionsFalse(MediaRefused):
    """That file says it is of one size and is of another."""

    code = "media_dimensions_false"


class MediaDamaged(MediaRefused):
    """That file is damaged or cut short."""

    code = "media_damaged"


class MediaAnimated(MediaRefused):
    """That picture moves: send a single picture, or a video."""

    code = "media_animated"


class MediaDisguised(MediaRefused):
    """That file is a photo and something else at once: send the photo alone."""

    code = "media_disguised"


class MediaBomb(MediaRefused):
    """That file unpacks to far more than a photo needs."""

    code = "media_bomb"


class MediaTooSlow(MediaRefused):
    """That file takes too long to work on."""

    code = "media_too_slow"


class MediaTooCostly(MediaRefused):
    """That file needs more memory or disk than we give to one file."""

    code = "media_too_costly"


class MediaUnavailable(Unavailable):
    """Photos and videos cannot be worked on right now; try again in a moment."""

    code = "media_unavailable"
