"""Media: photos and videos, from the upload to their deletion.

Owns `media`, `media_uploads` and `storage_usage` (on the uploader's shard) and the files in the object stores.

The room is loaded when something is first taken from it. The sandbox's processes run modules of this package: with the
whole room, its database client and the rooms below, each of them would hold 30 MB more.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tintype.media.room import *  # noqa: F403 - the names in its __all__


def __getattr__(name: str) -> object:
    """A name of the room's front door."""
    if not name.startswith("_"):
        room = import_module("tintype.media.room")
        if name in room.__all__:
            globals()[name] = value = getattr(room, name)
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
