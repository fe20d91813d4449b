"""Reads the size of a HEIC's primary image: ftyp, meta, then the primary item and its size property.

Bursts, depth maps and thumbnails are further items, which are not decoded. A file whose major brand says it is a
sequence (msf1, hevc, hevx) is an animation.
"""

import struct
from collections.abc import Iterator

from tintype.media.errors import (
    MediaAnimated,
    MediaBomb,
    MediaDamaged,
    MediaDimensionsFalse,
    MediaDimensionsRefused,
)

MAX_BOXES = 4_096
LONGEST_SIDE = 16_384
SEQUENCES = {b"msf1", b"hevc", b"hevx"}
Box = tuple[bytes, bytes]


def read_size(content: bytes) -> tuple[int, int]:
    """Width and height of the primary item, as stored."""
    if content[8:12] in SEQUENCES:
        raise MediaAnimated(kind="heic")
    meta = _find(_boxes(content), b"meta")
    inside = list(_boxes(meta[4:]))
    primary = _read_primary(_find(inside, b"pitm"))
    properties = list(_boxes(_find(inside, b"iprp")))
    sizes = {
        number: struct.unpack(">II", body[4:12])
        for number, (kind, body) in enumerate(_boxes(_find(properties, b"ipco")), start=1)
        if kind == b"ispe"
    }
    # Tiles and thumbnails too: a decoder trusts the size of each of them.
    if any(max(size) > LONGEST_SIDE for size in sizes.values()):
        raise MediaDimensionsRefused(reason="a part of it is too large")
    own = {
        sizes[number] for number in _read_properties(_find(properties, b"ipma"), primary) if number in sizes
    }
    if len(own) != 1:
        raise MediaDimensionsFalse(reason="no size, or more than one", sizes=len(own))
    width, height = own.pop()
    return width, height


def _find(boxes: Iterator[Box] | list[Box], kind: bytes) -> bytes:
    for found, body in boxes:
        if found == kind:
            return body
    raise MediaDamaged(reason="a box is missing", box=kind.decode())


def _boxes(content: bytes) -> Iterator[Box]:
    at = 0
    for _ in range(MAX_BOXES):
        if at + 8 > len(content):
            return
        length, kind = int.from_bytes(content[at : at + 4], "big"), content[at + 4 : at + 8]
        start = at + 8
        if length == 1:
            length, start = int.from_bytes(content[at + 8 : at + 16], "big"), at + 16
        end = len(content) if length == 0 else at + length
        if end < start or end > len(content):
            raise MediaDamaged(reason="a box reaches past the end")
        # The body of the image data is long, and not needed here.
        yield kind, b"" if kind == b"mdat" else content[start:end]
        at = end
    raise MediaBomb(reason="too many boxes")


def _read_primary(body: bytes) -> int:
    return int.from_bytes(body[4:6] if body[0] == 0 else body[4:8], "big")


def _read_properties(body: bytes, item: int) -> list[int]:
    """The indexes of the properties that belong to an item."""
    version, is_wide = body[0], bool(body[3] & 1)
    (count,) = struct.unpack_from(">I", body, 4)
    at = 8
    for _ in range(min(count, MAX_BOXES)):
        number_bytes = 2 if version < 1 else 4
        number = int.from_bytes(body[at : at + number_bytes], "big")
        many = body[at + number_bytes]
        at += number_bytes + 1
        step = 2 if is_wide else 1
        if number == item:
            mask = 0x7FFF if is_wide else 0x7F
            return [
                int.from_bytes(body[at + step * k : at + step * (k + 1)], "big") & mask for k in range(many)
            ]
        at += step * many
    raise MediaDamaged(reason="the primary picture has no properties")
