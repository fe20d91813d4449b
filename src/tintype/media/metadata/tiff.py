"""Rebuilds an Exif block from an allowlist of tags: what the camera was set to, the time, and the rights.

Maker notes (some hold the names of places), GPS tables, thumbnails, descriptions, comments and serial numbers are not
on the list. Values are copied as they are, in the byte order of the block.
"""

import struct
from dataclasses import dataclass

PREFIX = b"Exif\0\0"
BYTE_ORDERS = {b"II*\0": "<", b"MM\0*": ">"}
FIRST_BYTES = 64
"""Where the TIFF header is looked for: after a prefix, or a length, or nothing."""
MAX_ENTRIES = 512
MAX_VALUE_BYTES = 512
SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8}
INLINE_BYTES = 4
EXIF_TABLE, INTEROPERABILITY_TABLE, GPS_TABLE = 0x8769, 0xA005, 0x8825
POINTERS = {EXIF_TABLE, INTEROPERABILITY_TABLE, GPS_TABLE}

MAIN_TAGS = {
    *(0x010F, 0x0110),  # make and model
    *(0x0112, 0x011A, 0x011B, 0x0128),  # orientation and resolution
    *(0x0131, 0x0132, 0x013B, 0x8298),  # software, time, artist, copyright
    *(0x013E, 0x013F, 0x0211, 0x0213, 0x0214),  # colours
}
EXIF_TAGS = {
    *(0x829A, 0x829D, 0x8822, 0x8827, 0x8830, 0x8831, 0x8832),  # exposure and sensitivity
    *(0x9000, 0x9003, 0x9004, 0x9010, 0x9011, 0x9012),  # version and times
    *(0x9101, 0x9102, *range(0x9201, 0x920B), 0x9214, 0x9290, 0x9291, 0x9292),
    *(0xA000, 0xA001, 0xA002, 0xA003, 0xA20E, 0xA20F, 0xA210, 0xA215, 0xA217, 0xA300, 0xA301),
    *(0xA401, 0xA402, 0xA403, 0xA404, 0xA405, 0xA406, 0xA408, 0xA409, 0xA40A, 0xA40C),
    *(0xA432, 0xA433, 0xA434, 0xA460),  # lens; composite images
}
INTEROPERABILITY_TAGS = {1, 2}


@dataclass(frozen=True)
class Entry:
    """One tag: its type, its number of values, and the values as stored."""

    tag: int
    kind: int
    count: int
    value: bytes
    """Empty for one that is too long to be kept, or lies outside of the block."""


@dataclass(frozen=True)
class RebuiltExif:
    """A block without a prefix that holds the allowed tags alone; empty when there were none to be read."""

    block: bytes
    is_reduced: bool
    """Whether there was something else in it, besides a location."""


def rebuild_exif(block: bytes) -> RebuiltExif:
    """Rebuild a block, with any prefix, from the tags that are allowed."""
    start = find_header(block)
    if start is None:
        return RebuiltExif(b"", is_reduced=bool(block.strip(b"\0")))
    block = block[start:]
    order = BYTE_ORDERS[block[:4]]
    try:
        (first,) = struct.unpack_from(f"{order}I", block, 4)
        main = _read(block, first, order)
        exif = _read_nested(block, main, EXIF_TABLE, order)
        interoperability = _read_nested(block, exif, INTEROPERABILITY_TABLE, order)
    except struct.error:
        return RebuiltExif(b"", is_reduced=True)
    tables = [
        _allowed(main, MAIN_TAGS),
        _allowed(exif, EXIF_TAGS),
        _allowed(interoperability, INTEROPERABILITY_TAGS),
    ]
    kept = sum(len(table) for table in tables)
    found = [each for each in (*main, *exif, *interoperability) if each.tag not in POINTERS]
    rebuilt = _write(block[:4], order, tables) if kept else b""
    return RebuiltExif(rebuilt, is_reduced=len(found) > kept)


def find_header(block: bytes) -> int | None:
    """Where the TIFF header begins, within the first bytes."""
    found = [at for mark in BYTE_ORDERS if (at := block.find(mark, 0, FIRST_BYTES)) >= 0]
    return min(found, default=None)


def _read_nested(block: bytes, table: list[Entry], pointer: int, order: str) -> list[Entry]:
    entry = next((each for each in table if each.tag == pointer and len(each.value) == INLINE_BYTES), None)
    if entry is None:
        return []
    try:
        return _read(block, struct.unpack(f"{order}I", entry.value)[0], order)
    except struct.error:
        return []


def _read(block: bytes, at: int, order: str) -> list[Entry]:
    (count,) = struct.unpack_from(f"{order}H", block, at)
    if count > MAX_ENTRIES:
        return []
    entries: list[Entry] = []
    for place in range(at + 2, at + 2 + 12 * count, 12):
        tag, kind, number = struct.unpack_from(f"{order}HHI", block, place)
        size = SIZES.get(kind, 0) * number
        start = place + 8
        if size > INLINE_BYTES:
            (start,) = struct.unpack_from(f"{order}I", block, start)
        value = block[start : start + size] if 0 < size <= MAX_VALUE_BYTES else b""
        entries.append(Entry(tag, kind, number, value if len(value) == size else b""))
    return entries


def _allowed(table: list[Entry], tags: set[int]) -> list[Entry]:
    by_tag = {entry.tag: entry for entry in reversed(table) if entry.tag in tags and entry.value}
    return [by_tag[tag] for tag in sorted(by_tag)]


def _write(magic: bytes, order: str, tables: list[list[Entry]]) -> bytes:
    """The header and the tables, each with a pointer to the next one that is not empty."""
    main, exif, interoperability = tables
    content = bytearray(magic + struct.pack(f"{order}I", 8))
    pointer = _append(content, order, main, EXIF_TABLE if exif or interoperability else None)
    if pointer:
        struct.pack_into(f"{order}I", content, pointer, len(content))
        pointer = _append(content, order, exif, INTEROPERABILITY_TABLE if interoperability else None)
    if pointer:
        struct.pack_into(f"{order}I", content, pointer, len(content))
        _append(content, order, interoperability, None)
    return bytes(content)


def _append(content: bytearray, order: str, table: list[Entry], pointer_tag: int | None) -> int:
    """Append a table with its values; returns where its pointer to another table has to be written, or 0."""
    entries = [*table, *([Entry(pointer_tag, 4, 1, bytes(4))] if pointer_tag else [])]
    entries.sort(key=lambda entry: entry.tag)
    start = len(content)
    values = start + 2 + 12 * len(entries) + 4
    pointer, data = 0, bytearray()
    content += struct.pack(f"{order}H", len(entries))
    for entry in entries:
        if entry.tag == pointer_tag:
            pointer = len(content) + 8
        inline = entry.value.ljust(INLINE_BYTES, b"\0")
        if len(entry.value) > INLINE_BYTES:
            inline = struct.pack(f"{order}I", values + len(data))
            data += entry.value + bytes(len(entry.value) % 2)
        content += struct.pack(f"{order}HHI", entry.tag, entry.kind, entry.count) + inline
    content += bytes(4) + data
    return pointer
