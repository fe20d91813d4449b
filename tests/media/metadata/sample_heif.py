"""HEIF files written box by box, around a picture that an encoder made: with any items, boxes and properties."""

import struct
from dataclasses import dataclass, field
from functools import cache

from tests.media.photos import sample_photos

PICTURE = 1
FIRST_EXTRA = 10


def box(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I4s", 8 + len(body), kind) + body


def full_box(kind: bytes, body: bytes, version: int = 0, flags: int = 0) -> bytes:
    return box(kind, struct.pack(">B3s", version, flags.to_bytes(3, "big")) + body)


@dataclass(frozen=True)
class ExtraItem:
    """An item besides the picture; its bytes lie in the media data, or in the item list itself (`idat`)."""

    kind: bytes
    content: bytes
    content_type: bytes = b""
    is_in_idat: bool = False


@dataclass(frozen=True)
class HeifParts:
    """What to add to the picture."""

    items: list[ExtraItem] = field(default_factory=list[ExtraItem])
    top_boxes: list[bytes] = field(default_factory=list[bytes])
    meta_boxes: list[bytes] = field(default_factory=list[bytes])
    properties: list[bytes] = field(default_factory=list[bytes])
    gap: bytes = b""
    """Bytes of the media data that no item uses."""
    trailer: bytes = b""


def exif_item(tiff: bytes, *, offset: int = 6, lead: bytes = b"Exif\0\0") -> ExtraItem:
    """An Exif item: the offset of its TIFF header, what stands before it, and the block."""
    return ExtraItem(b"Exif", struct.pack(">I", offset) + lead + tiff)


def make_heif(parts: HeifParts, base: bytes | None = None) -> bytes:
    """A HEIC with one picture of 64 by 48 and these parts."""
    coded, properties, associations = _take_apart(base or _picture())
    ftyp = box(b"ftyp", b"heic\0\0\0\0mif1heic")
    before = ftyp + b"".join(parts.top_boxes)
    size = len(_meta(parts, properties, associations, 0, len(coded)))
    data_at = len(before) + size + 8
    data = coded + parts.gap + b"".join(item.content for item in parts.items if not item.is_in_idat)
    meta = _meta(parts, properties, associations, data_at, len(coded))
    return before + meta + box(b"mdat", data) + parts.trailer


@cache
def _picture() -> bytes:
    return sample_photos.heic(sample_photos.corners(64, 48))


def _meta(parts: HeifParts, properties: bytes, associations: bytes, data_at: int, coded_bytes: int) -> bytes:
    handler = full_box(b"hdlr", bytes(4) + b"pict" + bytes(13))
    primary = full_box(b"pitm", struct.pack(">H", PICTURE))
    infos = [_info(PICTURE, ExtraItem(b"hvc1", b""))]
    places = [_place(PICTURE, 0, data_at, coded_bytes)]
    at, in_idat, idat = data_at + coded_bytes + len(parts.gap), 0, b""
    for number, item in enumerate(parts.items, start=FIRST_EXTRA):
        infos.append(_info(number, item))
        if item.is_in_idat:
            places.append(_place(number, 1, in_idat, len(item.content)))
            in_idat += len(item.content)
            idat += item.content
        else:
            places.append(_place(number, 0, at, len(item.content)))
            at += len(item.content)
    iinf = full_box(b"iinf", struct.pack(">H", len(infos)) + b"".join(infos))
    iloc = full_box(b"iloc", b"\x44\0" + struct.pack(">H", len(places)) + b"".join(places), version=1)
    extra = b"".join(parts.properties)
    iprp = box(b"iprp", box(b"ipco", properties + extra) + box(b"ipma", associations))
    refs = b"".join(
        box(b"cdsc", struct.pack(">HHH", number, 1, PICTURE))
        for number in range(FIRST_EXTRA, FIRST_EXTRA + len(parts.items))
    )
    iref = full_box(b"iref", refs) if refs else b""
    stored = box(b"idat", idat) if idat else b""
    body = handler + primary + iinf + iloc + iprp + iref + stored + b"".join(parts.meta_boxes)
    return full_box(b"meta", body)


def _info(number: int, item: ExtraItem) -> bytes:
    content_type = item.content_type + b"\0" if item.content_type else b""
    body = struct.pack(">HH4s", number, 0, item.kind) + b"\0" + content_type
    return full_box(b"infe", body, version=2)


def _place(number: int, method: int, offset: int, length: int) -> bytes:
    return struct.pack(">HHHHII", number, method, 0, 1, offset, length)


def _take_apart(content: bytes) -> tuple[bytes, bytes, bytes]:
    """The coded picture, the properties and their associations of a file with one item."""
    boxes = _children(content)
    inside = _children(boxes[b"meta"][4:])
    properties = _children(inside[b"iprp"])
    return boxes[b"mdat"], properties[b"ipco"], properties[b"ipma"]


def _children(content: bytes) -> dict[bytes, bytes]:
    found: dict[bytes, bytes] = {}
    at = 0
    while at + 8 <= len(content):
        length, kind = struct.unpack_from(">I4s", content, at)
        found[kind] = content[at + 8 : at + length]
        at += length
    return found
