"""Why a link has no preview."""

from tintype.base.errors import NotFound


class PreviewNotFound(NotFound):
    """There is nothing public at that address."""

    code = "preview_not_found"


class PreviewGone(PreviewNotFound):
    """A public post was at that address; its author has deleted it."""

    code = "preview_gone"
