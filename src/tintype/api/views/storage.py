"""What somebody stores."""

import msgspec


class StorageView(msgspec.Struct, frozen=True):
    """Stored bytes, and how many are allowed."""

    used_bytes: int
    """Of photos and videos, originals and everything made from them."""
    reserved_bytes: int
    """Announced by uploads that are not finished."""
    quota_bytes: int | None
    """How many are allowed; null: any number."""
