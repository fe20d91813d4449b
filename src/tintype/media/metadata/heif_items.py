"""Reads the items of a HEIF: what each is (`iinf`), and where its bytes lie in the file (`iloc`)."""

import struct
from dataclasses import dataclass

from tintype.media.metadata.boxes import Box, Range, boxes
from tintype.media.metadata.models import NotCleanable

MAX_ITEMS = 2_048
MAX_EXTENTS = 16
IN_FILE, IN_IDAT = 0, 1


@dataclass(frozen=True)
class Item:
    """One item: its type, the content type of a MIME item, and its extents as offsets in the file."""

    kind: bytes
    content_type: bytes
    extents: list[Range]


def read_items(content: bytearray, inside: dict[bytes, Box]) -> list[Item]:
    """Every item that is described or located; one that is only located has an empty type."""
    try:
        kinds = _read_kinds(content, inside[b"iinf"])
        places = _read_places(content, inside[b"iloc"], inside.get(b"idat"))
    except (KeyError, struct.error, IndexError) as error:
        raise NotCleanable("the list of items cannot be read") from error
    return [Item(*kinds.get(number, (b"", b"")), extents) for number, extents in places.items()]


def _read_kinds(content: bytearray, iinf: Box) -> dict[int, tuple[bytes, bytes]]:
    """Type and content type by the number of the item."""
    first = iinf.start + (6 if content[iinf.start] == 0 else 8)
    kinds: dict[int, tuple[bytes, bytes]] = {}
    for box in boxes(content, first, iinf.end):
        version = content[box.start]
        if box.kind != b"infe" or version not in {2, 3} or len(kinds) > MAX_ITEMS:
            raise NotCleanable("an item without a type, or too many")
        (number,) = struct.unpack_from(">H" if version == 2 else ">I", content, box.start + 4)  # noqa: PLR2004 - numbers of the format's own layout
        at = box.start + (8 if version == 2 else 10)  # noqa: PLR2004 - likewise
        kind = bytes(content[at : at + 4])
        texts = bytes(content[at + 4 : box.end]).split(b"\0")
        if number in kinds:
            raise NotCleanable("an item is described twice")
        kinds[number] = (kind, texts[1] if len(texts) > 1 else b"")
    return kinds


def _read_places(content: bytearray, iloc: Box, idat: Box | None) -> dict[int, list[Range]]:
    version = content[iloc.start]
    if version > 2:  # noqa: PLR2004 - the versions that exist
        raise NotCleanable("an unknown version of the item locations")
    sizes = struct.unpack_from(">H", content, iloc.start + 4)[0]
    offset_bytes, length_bytes, base_bytes, index_bytes = (sizes >> shift & 15 for shift in (12, 8, 4, 0))
    reader = _Reader(content, iloc.start + 6, iloc.end)
    count = reader.number(2 if version < 2 else 4)  # noqa: PLR2004 - likewise
    places: dict[int, list[Range]] = {}
    for _ in range(count):
        number = reader.number(2 if version < 2 else 4)  # noqa: PLR2004 - likewise
        method = reader.number(2) & 15 if version else IN_FILE
        reference, base = reader.number(2), reader.number(base_bytes)
        extents = reader.number(2)
        if reference or method not in {IN_FILE, IN_IDAT} or number in places or extents > MAX_EXTENTS:
            raise NotCleanable("an item outside of the file, or built from another one")
        if method == IN_IDAT:
            base += idat.start if idat else len(content)
        places[number] = []
        for _ in range(extents):
            reader.number(index_bytes if version else 0)
            start, length = base + reader.number(offset_bytes), reader.number(length_bytes)
            if not length or start + length > len(content):
                raise NotCleanable("an item without a length, or past the end")
            places[number].append((start, start + length))
        if len(places) > MAX_ITEMS:
            raise NotCleanable("too many items")
    return places


class _Reader:
    """Reads big-endian numbers of varying size, one after the other."""

    def __init__(self, content: bytearray, at: int, end: int) -> None:
        self._content, self._at, self._end = content, at, end

    def number(self, size: int) -> int:
        if self._at + size > self._end:
            raise NotCleanable("the item locations are cut off")
        self._at += size
        return int.from_bytes(self._content[self._at - size : self._at], "big")
