"""Errors of looks and edits, as people read them."""

from tintype.base.errors import NotFound
from tintype.media.errors import MediaRefused


class CropRefused(MediaRefused):
    """That crop is too narrow. The longer side may be at most ten times the shorter one."""

    code = "crop_refused"


class LookNotFound(NotFound):
    """There is no photo filter with that name. Choose one from the list of filters."""

    code = "look_not_found"
