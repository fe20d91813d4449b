"""Copies a PNG: the chunks of the image and its colours, and a rebuilt eXIf chunk; no texts, nothing after the end."""

import struct
import zlib

from tintype.media.metadata.models import Cleaned, NotCleanable, Removed
from tintype.media.metadata.signs import has_location
from tintype.media.metadata.tiff import RebuiltExif, rebuild_exif

MAX_CHUNKS = 20_000
MAX_TEXT_BYTES = 1024 * 1024
SIGNATURE_BYTES = 8
EXIF, END = b"eXIf", b"IEND"
ALLOWED = {
    *(b"IHDR", b"PLTE", b"IDAT", END, b"tRNS"),
    *(b"gAMA", b"cHRM", b"sRGB", b"iCCP", b"cICP", b"mDCV", b"mDCv", b"cLLI", b"cLLi", b"sBIT"),
    *(b"bKGD", b"hIST", b"pHYs", b"tIME"),
}


def clean_png(content: bytes) -> Cleaned:
    """The copy of a PNG, and what was left out."""
    view, at = memoryview(content), SIGNATURE_BYTES
    cleaned = Cleaned([view[:at]])
    for _ in range(MAX_CHUNKS):
        end = at + 12 + int.from_bytes(view[at : at + 4], "big")
        kind = bytes(view[at + 4 : at + 8])
        if end > len(content):
            break
        if kind in ALLOWED:
            cleaned.parts.append(view[at:end])
        else:
            _replace(cleaned, kind, bytes(view[at + 8 : end - 4]))
        at = end
        if kind == END:
            if at < len(content):
                cleaned.removed.add("attachments")
                cleaned.removed.update(_location_in(content[at:]))
            return cleaned
    raise NotCleanable("no end of the image")


def _replace(cleaned: Cleaned, kind: bytes, body: bytes) -> None:
    """Rebuild an Exif chunk, and leave out any other."""
    rebuilt = rebuild_exif(body) if kind == EXIF else RebuiltExif(b"", is_reduced=True)
    if rebuilt.block:
        cleaned.parts.append(_chunk(EXIF, rebuilt.block))
    cleaned.removed.update(_location_in(_unpacked(kind, body)))
    if rebuilt.is_reduced:
        cleaned.removed.add("metadata")


def _unpacked(kind: bytes, body: bytes) -> bytes:
    """A compressed text: after a keyword, NUL and a method; in iTXt after flags and two more texts."""
    _, _, rest = body.partition(b"\0")
    if kind == b"iTXt" and rest[:1] == b"\1":
        rest = rest[2:].partition(b"\0")[2].partition(b"\0")[2]
    elif kind == b"zTXt":
        rest = rest[1:]
    else:
        return body
    try:
        return zlib.decompressobj().decompress(rest, MAX_TEXT_BYTES)
    except zlib.error:
        return body


def _location_in(body: bytes) -> set[Removed]:
    return {"location"} if has_location(body) else set()


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
