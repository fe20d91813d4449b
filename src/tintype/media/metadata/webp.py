"""Copies a WebP: the image, its alpha channel and colours, and a rebuilt EXIF chunk; no XMP, nothing after the end."""

import struct

from tintype.media.metadata.models import Cleaned, NotCleanable
from tintype.media.metadata.signs import has_location
from tintype.media.metadata.tiff import RebuiltExif, rebuild_exif

MAX_CHUNKS = 256
HEADER_BYTES = 12
CANVAS, EXIF = b"VP8X", b"EXIF"
ALLOWED = {b"VP8 ", b"VP8L", b"ALPH", b"ICCP", CANVAS}
HAS_EXIF, HAS_XMP = 0x08, 0x04


def clean_webp(content: bytes) -> Cleaned:
    """The copy of a WebP, and what was left out."""
    end = min(len(content), 8 + int.from_bytes(content[4:8], "little"))
    cleaned = Cleaned([b""])
    at = HEADER_BYTES
    for _ in range(MAX_CHUNKS):
        if at + 8 > end:
            break
        kind, length = content[at : at + 4], int.from_bytes(content[at + 4 : at + 8], "little")
        if at + 8 + length > end:
            raise NotCleanable("a chunk reaches past the end")
        _copy_chunk(cleaned, kind, content[at + 8 : at + 8 + length])
        at += 8 + length + (length & 1)
    else:
        raise NotCleanable("too many chunks")
    if content[min(at, end) :].strip(b"\0"):
        cleaned.removed.add("attachments")
        if has_location(content[end:]):
            cleaned.removed.add("location")
    return _with_header(cleaned)


def _copy_chunk(cleaned: Cleaned, kind: bytes, body: bytes) -> None:
    if kind in ALLOWED:
        cleaned.parts.append(_chunk(kind, body))
        return
    rebuilt = rebuild_exif(body) if kind == EXIF else RebuiltExif(b"", is_reduced=True)
    if rebuilt.block:
        cleaned.parts.append(_chunk(EXIF, rebuilt.block))
    if has_location(body):
        cleaned.removed.add("location")
    if rebuilt.is_reduced:
        cleaned.removed.add("metadata")


def _with_header(cleaned: Cleaned) -> Cleaned:
    """Write the size of the file, and say in the canvas which chunks there are."""
    has_exif = any(part[:4] == EXIF for part in cleaned.parts)
    for number, part in enumerate(cleaned.parts):
        if part[:4] == CANVAS and len(part) > 8:  # noqa: PLR2004 - its flags are the first byte of the body
            flags = part[8] & ~(HAS_EXIF | HAS_XMP) | (HAS_EXIF if has_exif else 0)
            cleaned.parts[number] = bytes([*part[:8], flags, *part[9:]])
    size = 4 + sum(len(part) for part in cleaned.parts)
    cleaned.parts[0] = b"RIFF" + struct.pack("<I", size) + b"WEBP"
    return cleaned


def _chunk(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack("<I", len(body)) + body + bytes(len(body) & 1)
