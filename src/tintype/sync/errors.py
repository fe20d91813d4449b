"""Errors of the sync room."""

from tintype.base.errors import Invalid


class UpdateInvalid(Invalid):
    """An update needs a key (200 characters) and a kind (50), and holds 16 KiB and 250 people at most."""

    code = "update_invalid"
