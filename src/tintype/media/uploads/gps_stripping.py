"""Strips GPS data from an original photo, and leaves every other byte as it was.

A phone writes into a photo where it was taken. Owners who do not want that stored still get their original back. The
position is a table of its own (an IFD) inside the EXIF block: it is overwritten with zeros in place, so that no other
part of the file moves. An original that cannot be stripped this simply is not stored at all.
"""

import mmap
import re
import struct
from pathlib import Path

TIFF = re.compile(rb"(?:Exif\0\0|EXIF....(?:Exif\0\0)?)(II\*\0|MM\0\*)", re.DOTALL)
IN_XMP = b"GPSLatitude"
PNG = b"\x89PNG"
GPS_TABLE, ENTRY_BYTES, MAX_ENTRIES = 0x8825, 12, 512
SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4}
INLINE_BYTES = 4


def strip_gps(file: Path) -> bool:
    """Zero the GPS data of a file in place; False when that is not certain, and the file must not be stored."""
    with file.open("r+b") as opened, mmap.mmap(opened.fileno(), 0) as content:
        if content[:4] == PNG:  # its blocks carry checksums
            return False
        try:
            for found in TIFF.finditer(content):
                _clear(content, found.start(1), "<" if found[1].startswith(b"II") else ">")
        except (struct.error, IndexError, ValueError):
            return False
        return content.find(IN_XMP) < 0


def _clear(content: mmap.mmap, base: int, order: str) -> None:
    """Zero every GPS table of the EXIF block that begins at `base`."""
    (first,) = struct.unpack_from(f"{order}I", content, base + 4)
    for tag, _, _, at in _entries(content, base, first, order):
        if tag == GPS_TABLE:
            (table,) = struct.unpack_from(f"{order}I", content, at + 8)
            _zero_table(content, base, table, order)


def _zero_table(content: mmap.mmap, base: int, table: int, order: str) -> None:
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
    if count > MAX_ENTRIES:
        raise ValueError("no such table")
    offsets = [base + table + 2 + ENTRY_BYTES * number for number in range(count)]
    return [(*struct.unpack_from(f"{order}HHI", content, at), at) for at in offsets]


def _zero(content: mmap.mmap, start: int, size: int) -> None:
    if start + size > len(content):
        raise ValueError("past the end")
    content[start : start + size] = bytes(size)
