"""How the looks say no."""

from tintype.base.errors import NotFound
from tintype.media.errors import MediaRefused


class CropRefused(MediaRefused):
    """That crop is too narrow: the longer side may be at most ten times the shorter."""

    code = "crop_refused"


class LookNotFound(NotFound):
    """There is no such look."""

    code = "look_not_found"
