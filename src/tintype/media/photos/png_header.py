"""Reads a PNG's size by walking its chunks, and decompresses what a decoder would besides the image.

A kilobyte of deflate can become a megabyte: the compressed profile and texts are tried first, within a limit.
"""

import zlib
from collections.abc import Iterator

from tintype.media.errors import MediaAnimated, MediaBomb, MediaDamaged, MediaDimensionsFalse

MAX_CHUNKS = 20_000
MAX_UNPACKED_BYTES = 4 * 1024 * 1024
"""Over all compressed chunks of a file: the largest printers' profiles have two or three."""

IHDR_BYTES = 13
DEPTHS = {0: {1, 2, 4, 8, 16}, 2: {8, 16}, 3: {1, 2, 4, 8}, 4: {8, 16}, 6: {8, 16}}


def read_size(content: bytes) -> tuple[int, int]:
    """Width and height; refuses animations, and texts or profiles that are decompression bombs."""
    size: tuple[int, int] | None = None
    unpacked = 0
    has_picture = False
    for kind, body in _chunks(content):
        if (kind == b"IHDR") != (size is None):
            raise MediaDimensionsFalse(reason="a header that is missing, late or there twice")
        if kind == b"IHDR":
            size = _read_ihdr(body)
        elif kind == b"acTL":
            raise MediaAnimated(kind="png")
        elif kind in {b"iCCP", b"zTXt", b"iTXt"}:
            unpacked += _unpacked_bytes(kind, body, MAX_UNPACKED_BYTES - unpacked)
        has_picture = has_picture or kind == b"IDAT"
    if size is None or not has_picture:
        raise MediaDamaged(reason="no picture in it")
    return size


def _chunks(content: bytes, at: int = 8) -> Iterator[tuple[bytes, memoryview]]:
    view = memoryview(content)
    for _ in range(MAX_CHUNKS):
        length, kind = int.from_bytes(view[at : at + 4], "big"), bytes(view[at + 4 : at + 8])
        end = at + 12 + length
        if len(kind) != 4 or end > len(content):  # noqa: PLR2004 - numbers of the format's own layout
            raise MediaDamaged(reason="a chunk reaches past the end")
        yield kind, view[at + 8 : at + 8 + length]
        if kind == b"IEND":
            return
        at = end
    raise MediaBomb(reason="too many chunks")


def _read_ihdr(body: memoryview) -> tuple[int, int]:
    if len(body) != IHDR_BYTES or body[8] not in DEPTHS.get(body[9], set()):
        raise MediaDamaged(reason="a header that no PNG has")
    return int.from_bytes(body[:4], "big"), int.from_bytes(body[4:8], "big")


def _unpacked_bytes(kind: bytes, body: memoryview, most: int) -> int:
    packed = _packed_part(kind, bytes(body))
    try:
        # One byte more than allowed shows that there is too much; 0 would mean no limit at all.
        unpacked = len(zlib.decompressobj().decompress(packed, most + 1))
    except zlib.error:
        return 0  # decoders skip a text or a profile that cannot be decompressed
    if unpacked > most:
        raise MediaBomb(reason="a text or profile unpacks without end", chunk=kind.decode())
    return unpacked


def _packed_part(kind: bytes, body: bytes) -> bytes:
    """The compressed bytes: after a keyword, NUL and a method; in iTXt after flags and two more texts."""
    _, _, rest = body.partition(b"\0")
    if kind != b"iTXt":
        return rest[1:]
    if rest[:1] != b"\x01":
        return b""
    return rest[2:].partition(b"\0")[2].partition(b"\0")[2]
