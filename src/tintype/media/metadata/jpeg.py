"""Copies a JPEG: the coded image with its tables, its colours, and a rebuilt Exif block.

XMP (also in several segments), IPTC, comments, maker segments and previews are left out, and so is whatever follows the
end of the image: second images (MPF), motion clips, trailers of camera makers.
"""

import re
import struct

from tintype.media.metadata.models import Cleaned, NotCleanable
from tintype.media.metadata.signs import has_location
from tintype.media.metadata.tiff import PREFIX, rebuild_exif

MAX_SEGMENTS = 4_000
APP0, APP1, APP2, APP14 = 0xE0, 0xE1, 0xE2, 0xEE
COMMENT = 0xFE
START_OF_SCAN, END = 0xDA, 0xD9
JFIF, ICC_PROFILE, ADOBE = b"JFIF\0", b"ICC_PROFILE\0", b"Adobe"
MAX_JFIF_BYTES = 16
"""Without the optional thumbnail."""
CODING = {*range(0xC0, 0xD0), 0xDB, 0xDC, 0xDD, START_OF_SCAN} - {0xC8}
"""Frames, scans, and the tables that they need."""
_FILL = re.compile(rb"\xff*(?=\xff[^\xff])")
_MARKER = re.compile(rb"\xff[\x01-\xcf\xd8-\xfe]")


def clean_jpeg(content: bytes) -> Cleaned:
    """The copy of a JPEG, and what was left out."""
    cleaned = Cleaned([b"\xff\xd8"])
    view, at, is_coded = memoryview(content), 2, False
    for _ in range(MAX_SEGMENTS):
        start, marker = _next_marker(content, at, is_coded=is_coded)
        if is_coded:  # fill bytes are left out
            cleaned.parts.append(view[at:start])
        if marker == END:
            cleaned.parts.append(b"\xff\xd9")
            _drop_rest(cleaned, content[start + 2 :])
            return cleaned
        end = start + 2 + int.from_bytes(content[start + 2 : start + 4], "big")
        if not start + 4 <= end <= len(content):
            break
        _copy_segment(cleaned, marker, view[start:end])
        at, is_coded = end, marker == START_OF_SCAN
    raise NotCleanable("a segment reaches past the end, or there are too many")


def _next_marker(content: bytes, at: int, *, is_coded: bool) -> tuple[int, int]:
    """Where the next marker begins, and which it is; before it come coded bytes after a scan, else fill bytes."""
    if is_coded:
        found = _MARKER.search(content, at)
        start = found.start() if found else len(content)
    else:
        found = _FILL.match(content, at)
        start = found.end() if found else at
    if start + 2 > len(content) or content[start] != 0xFF:  # noqa: PLR2004 - every marker begins so
        raise NotCleanable("no end of the image")
    return start, content[start + 1]


def _copy_segment(cleaned: Cleaned, marker: int, segment: memoryview) -> None:
    body = bytes(segment[4:])
    if marker in CODING or _is_allowed(marker, body):
        cleaned.parts.append(segment)
    elif marker == APP0 and body.startswith(JFIF):
        # The size of the thumbnail is in the last two bytes.
        cleaned.parts.append(_segment(APP0, body[:12] + b"\0\0"))
        cleaned.removed.add("metadata")
    elif marker == APP1 and body.startswith(PREFIX):
        _copy_exif(cleaned, body[len(PREFIX) :])
    else:
        cleaned.removed.add("location" if has_location(body) else "metadata")


def _is_allowed(marker: int, body: bytes) -> bool:
    if marker == APP0:
        return body.startswith(JFIF) and len(body) < MAX_JFIF_BYTES
    return (marker == APP2 and body.startswith(ICC_PROFILE)) or (marker == APP14 and body.startswith(ADOBE))


def _copy_exif(cleaned: Cleaned, block: bytes) -> None:
    rebuilt = rebuild_exif(block)
    if rebuilt.block:
        cleaned.parts.append(_segment(APP1, PREFIX + rebuilt.block))
    if has_location(block):
        cleaned.removed.add("location")
    if rebuilt.is_reduced:
        cleaned.removed.add("metadata")


def _segment(marker: int, body: bytes) -> bytes:
    return bytes([0xFF, marker]) + struct.pack(">H", len(body) + 2) + body


def _drop_rest(cleaned: Cleaned, rest: bytes) -> None:
    if rest.strip(b"\0\xff"):
        cleaned.removed.add("attachments")
        if has_location(rest):
            cleaned.removed.add("location")
