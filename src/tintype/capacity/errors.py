"""Ways in which a plan cannot be made."""

from tintype.base.errors import Invalid


class CostsInvalid(Invalid):
    """That file of costs cannot be read."""

    code = "costs_invalid"
