"""Signs of a location anywhere in some bytes, whatever format surrounds them.

Used in two ways: to tell the owner that a location was removed, and as a second reader of the result that knows nothing
of the container it looks into.
"""

import re
import struct
from collections.abc import Iterator

GPS_TABLE, EXIF_TABLE = 0x8825, 0x8769
MAX_ENTRIES = 512
MAX_HEADERS = 200
MAX_TABLES = 16
MAX_READ_BYTES = 512 * 1024
"""Of each end of a large attachment: a clip has its metadata at one of them."""

_WORDS = re.compile(
    rb"GPSL(?:at|on)|GPSPosition|GPSCoord|GPSDest|ISO6709|GPS_?(?:lat|lon)|\xa9xyz"
    rb"|(?:photoshop|Iptc4xmpCore|Iptc4xmpExt|mwg-rs|exifEX|lr|xmp):"
    rb"(?:City|State|Country|Location|Sublocation|ProvinceState|WorldRegion)"
    rb"|Iptc4xmpCore:CountryCode|(?:LocationCreated|LocationShown|LocationName|geo:lat|geo:lon)",
    re.IGNORECASE,
)
_IPTC = re.compile(rb"\x1c\x02[\x1a\x1b\x5a\x5c\x5f\x64\x65]\x00")
"""Datasets of IPTC records: content location, city, sublocation, province, country."""
_POSITION = re.compile(rb"G\0?P\0?S\0?L\0?(?:a\0?t|o\0?n)", re.IGNORECASE)
_HEX = re.compile(rb"[0-9a-fA-F]{32,}(?:\n[0-9a-fA-F]{2,})*")


def has_location(content: bytes) -> bool:
    """Whether metadata that is about to be removed says where it was taken, as far as that can be told."""
    if len(content) > 2 * MAX_READ_BYTES:
        content = content[:MAX_READ_BYTES] + content[-MAX_READ_BYTES:]
    views = (content, content.replace(b"\0", b""), *_from_hexadecimal(content))
    return any(_WORDS.search(each) or _IPTC.search(each) or has_gps_table(each) for each in views)


def has_gps_table(content: bytes) -> bool:
    """Whether any TIFF structure in these bytes, wherever it begins, has a GPS table with a position in it."""
    headers = 0
    for mark, order in ((b"II*\0", "<"), (b"MM\0*", ">")):
        at = content.find(mark)
        while at >= 0 and headers < MAX_HEADERS:
            headers += 1
            if _leads_to_gps(content, at, order):
                return True
            at = content.find(mark, at + 1)
    return headers >= MAX_HEADERS


def names_position(content: bytes) -> bool:
    """Whether the words of a position stand anywhere in these bytes, in one or two bytes a letter."""
    return b"ISO6709" in content or any(
        _POSITION.match(content, at) for word in (b"GPSL", b"G\0P\0S\0L") for at in _all(content, word)
    )


def _all(content: bytes, word: bytes) -> Iterator[int]:
    at = content.find(word)
    while at >= 0:
        yield at
        at = content.find(word, at + 1)


def _leads_to_gps(content: bytes, base: int, order: str) -> bool:
    """Follow the chain of tables, and their Exif tables, from a TIFF header."""
    todo, seen = [_number(content, base + 4, order)], set[int]()
    while todo:
        table = todo.pop()
        if not table or table in seen or len(seen) >= MAX_TABLES:
            continue
        seen.add(table)
        entries = _entries(content, base + table, order)
        for tag, place in entries:
            if tag == GPS_TABLE:
                position = _number(content, place + 8, order)
                if any(number for number, _ in _entries(content, base + position, order) if number):
                    return True
            elif tag == EXIF_TABLE:
                todo.append(_number(content, place + 8, order))
        todo.append(_number(content, base + table + 2 + 12 * len(entries), order))
    return False


def _entries(content: bytes, at: int, order: str) -> list[tuple[int, int]]:
    """Tag and position of each entry of a table that lies within the content."""
    count = _number(content, at, order, "H")
    if count > MAX_ENTRIES:
        return []
    places = range(at + 2, min(at + 2 + 12 * count, len(content) - 11), 12)
    return [(_number(content, place, order, "H"), place) for place in places]


def _number(content: bytes, at: int, order: str, kind: str = "I") -> int:
    try:
        return struct.unpack_from(f"{order}{kind}", content, at)[0]
    except struct.error:
        return 0


def _from_hexadecimal(content: bytes) -> list[bytes]:
    """What stands in hexadecimal, as profiles in the texts of a PNG do."""
    found = (each[0].replace(b"\n", b"") for each in _HEX.finditer(content))
    return [bytes.fromhex(digits[: len(digits) // 2 * 2].decode()) for digits in found]
