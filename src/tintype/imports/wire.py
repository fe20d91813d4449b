"""What the process that reads archives sends to the one that imports them: contents, with files by their number.

Texts are cut to what can be shown, and cleaned of what cannot be stored, before they are sent.
"""

from collections.abc import Callable
from datetime import datetime
from typing import IO

import msgspec

from tintype.imports.archive_files import ArchiveFile
from tintype.imports.errors import FileUnreadable
from tintype.imports.models import ArchiveContents, Item, ItemKind, ItemMedia
from tintype.imports.reasons import SkippedItem

MAX_NAME_LENGTH = 500
MAX_TEXT_LENGTH = 10_000
MAX_USERNAME_LENGTH = 64
MAX_PEOPLE = 10_000


class Answer(msgspec.Struct, frozen=True):
    """Whether the process has done what it was asked; else the code and the text of the error."""

    code: str = ""
    text: str = ""


class WireFile(msgspec.Struct, frozen=True, array_like=True):
    """A file of an archive."""

    number: int
    archive: str
    name: str
    size_bytes: int
    modified_at: datetime
    checksum: int | None
    alt_text: str


class WireItem(msgspec.Struct, frozen=True, array_like=True):
    """An item of an archive."""

    kind: ItemKind
    name: str
    source_id: str
    posted_at: datetime | None
    caption: str
    media: list[WireFile]
    is_archived: bool


class WireContents(msgspec.Struct, frozen=True):
    """All that a reader has found."""

    source: str
    items: list[WireItem]
    skipped: list[SkippedItem]
    following: list[str]
    followers: list[str]


def to_wire(contents: ArchiveContents, number_of: Callable[[ArchiveFile], int]) -> WireContents:
    """Contents as they are sent."""
    return WireContents(
        contents.source,
        [_item_to_wire(each, number_of) for each in contents.items],
        [
            SkippedItem(_shown(each.name, MAX_NAME_LENGTH), each.code, _shown(each.reason, MAX_NAME_LENGTH))
            for each in contents.skipped
        ],
        [_shown(each, MAX_USERNAME_LENGTH) for each in contents.following[:MAX_PEOPLE]],
        [_shown(each, MAX_USERNAME_LENGTH) for each in contents.followers[:MAX_PEOPLE]],
    )


def from_wire(contents: WireContents, open_file: Callable[[int], IO[bytes]]) -> ArchiveContents:
    """Contents as they were sent, with files that are fetched when they are read."""
    return ArchiveContents(
        contents.source,
        [_item_from_wire(each, open_file) for each in contents.items],
        contents.skipped,
        tuple(contents.following),
        tuple(contents.followers),
    )


def _item_to_wire(item: Item, number_of: Callable[[ArchiveFile], int]) -> WireItem:
    media = [
        WireFile(
            number_of(each.file),
            _shown(each.file.archive, MAX_NAME_LENGTH),
            _shown(each.file.name, MAX_NAME_LENGTH),
            each.file.size_bytes,
            each.file.modified_at,
            _checksum(each.file),
            _shown(each.alt_text, MAX_TEXT_LENGTH),
        )
        for each in item.media
    ]
    return WireItem(
        item.kind,
        _shown(item.name, MAX_NAME_LENGTH),
        _shown(item.source_id, MAX_TEXT_LENGTH),
        item.posted_at,
        _shown(item.caption, MAX_TEXT_LENGTH),
        media,
        item.is_archived,
    )


def _item_from_wire(item: WireItem, open_file: Callable[[int], IO[bytes]]) -> Item:
    media = tuple(
        ItemMedia(
            ArchiveFile(
                each.archive,
                each.name,
                each.size_bytes,
                each.modified_at,
                lambda number=each.number: open_file(number),
                each.checksum,
            ),
            each.alt_text,
        )
        for each in item.media
    )
    return Item(
        kind=item.kind,
        name=item.name,
        source_id=item.source_id,
        posted_at=item.posted_at,
        caption=item.caption,
        media=media,
        is_archived=item.is_archived,
    )


def _checksum(file: ArchiveFile) -> int | None:
    """As stated, else of the content; None where that cannot be read, which shows when the file is asked for."""
    if file.checksum is not None:
        return file.checksum
    try:
        return int(file.fingerprint().rpartition("-")[2], 16)
    except FileUnreadable:
        return None


def _shown(text: str, length: int) -> str:
    return text[:length].encode(errors="replace").decode().replace("\0", "")
