"""How the looks say no."""

from tintype.base.errors import Invalid


class CropRefused(Invalid):
    """That crop is too narrow: the longer side may be at most ten times the shorter."""

    code = "crop_refused"
