"""Takes the place out of an original, and leaves everything else in it as it came, byte for byte.

A phone writes into a photo where it was taken. Owners who do not want that kept still get their original back. The
position lies in a table of its own inside the EXIF block: it is overwritten with zeros where it stands, so that no
other part of the file moves. What cannot be read that simply is not kept at all.
"""

import mmap
import re
import struct
from pathlib import Path

TIFF = re.compile(rb"(?:Exif\0\0|EXIF....(?:Exif\0\0)?)(II\*\0|MM\0\*)", re.DOTALL)
IN_TEXT = b"GPSLatitude"
PNG = b"\x89PNG"
GPS_TABLE, ENTRY_BYTES, MOST_ENTRIES = 0x8825, 12, 512
SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4}
INLINE_BYTES = 4


def forget_place(file: Path) -> bool:
    """Whether the file now tells no place; one that we cannot clear is to be thrown away."""
    with file.open("r+b") as opened, mmap.mmap(opened.fileno(), 0) as content:
        if content[:4] == PNG:  # its blocks carry checksums
            return False
        try:
            for found in TIFF.finditer(content):
                _clear(content, found.start(1), "<" if found[1].startswith(b"II") else ">")
        except (struct.error, IndexError, ValueError):
            return False
        return content.find(IN_TEXT) < 0


def _clear(content: mmap.mmap, base: int, order: str) -> None:
    """Empty every position table of one EXIF block, which begins at `base`."""
    (first,) = struct.unpack_from(f"{order}I", content, base + 4)
    for tag, _, _, at in _entries(content, base, first, order):
        if tag == GPS_TABLE:
            (table,) = struct.unpack_from(f"{order}I", content, at + 8)
            _empty(content, base, table, order)


def _empty(content: mmap.mmap, base: int, table: int, order: str) -> None:
    entries = _entries(content, base, table, order)
    for _, kind, count, at in entries:
        size = SIZES[kind] * count if kind in SIZES else 0
        if size > INLINE_BYTES:
            (value,) = struct.unpack_from(f"{order}I", content, at + 8)
            _zero(content, base + value, size)
    _zero(content, base + table, 2 + ENTRY_BYTES * len(entries))


def _entries(content: mmap.mmap, base: int, table: int, order: str) -> list[tuple[int, int, int, int]]:
    """Tag, type, count and position of each entry of a table."""
    (count,) = struct.unpack_from(f"{order}H", content, base + table)
    if count > MOST_ENTRIES:
        raise ValueError("no such table")
    places = [base + table + 2 + ENTRY_BYTES * number for number in range(count)]
    return [(*struct.unpack_from(f"{order}HHI", content, at), at) for at in places]


def _zero(content: mmap.mmap, start: int, size: int) -> None:
    if start + size > len(content):
        raise ValueError("past the end")
    content[start : start + size] = bytes(size)
