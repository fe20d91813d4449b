"""Looks: the filters for photos."""

import msgspec

from tintype.media import Look


class LooksView(msgspec.Struct, frozen=True):
    """All looks, in the order in which they are offered."""

    looks: tuple[Look, ...]
