"""Imports: posts that people bring from elsewhere, from the archives that other services give them or from a folder.

Readers turn an archive into items, without touching a database; the importer publishes items through the rooms of media
and posts. The key of an item is stored with its post, so a repeated import adds nothing. Owns `imports`,
`import_archives` and `import_lines` (on the account's shard): imports that people start in the app, and their reports.

The room is loaded when something is first taken from it: the process that reads uploaded archives runs modules of this
package, and needs neither a database client nor the rooms below.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tintype.imports.room import *  # noqa: F403 - the names in its __all__


def __getattr__(name: str) -> object:
    """A name of the room's front door."""
    if not name.startswith("_"):
        room = import_module("tintype.imports.room")
        if name in room.__all__:
            globals()[name] = value = getattr(room, name)
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
