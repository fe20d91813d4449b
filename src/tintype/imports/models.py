"""What readers make of an archive: items to import, what they leave out and why, and people."""

from datetime import datetime
from typing import Literal

import msgspec

from tintype.imports.archive_files import ArchiveFile
from tintype.imports.reasons import SkippedItem

ItemKind = Literal["post", "reel", "story", "archived post", "photo"]


class ItemMedia(msgspec.Struct, frozen=True):
    """A photo or video of an item."""

    file: ArchiveFile
    alt_text: str = ""


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """One post to be, as an archive describes it."""

    kind: ItemKind
    name: str
    """Where it stands in the archive, for the report."""
    source_id: str
    """What it is called at its source, if it is called anything: with the same name it is the same item."""
    posted_at: datetime | None
    """None: the archive does not say; then the camera's or the file's own time counts."""
    caption: str
    media: tuple[ItemMedia, ...]
    is_archived: bool = False


class ArchiveContents(msgspec.Struct, frozen=True):
    """All that a reader has found in an archive."""

    source: str
    items: list[Item]
    """Of two that were posted at the same time, the one that was on top comes later."""
    skipped: list[SkippedItem]
    following: tuple[str, ...] = ()
    """Usernames at the source."""
    followers: tuple[str, ...] = ()
