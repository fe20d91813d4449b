"""Reads a WebP's size; the container and the image within must state the same."""

from tintype.media.errors import MediaAnimated, MediaDamaged, MediaDimensionsFalse

MAX_CHUNKS = 64
ANIMATED = 0x02


def read_size(content: bytes) -> tuple[int, int]:
    """Width and height; refuses animations, and a container that states another size than its image."""
    canvas: tuple[int, int] | None = None
    at, end = 12, min(len(content), 8 + int.from_bytes(content[4:8], "little"))
    for _ in range(MAX_CHUNKS):
        kind, length = content[at : at + 4], int.from_bytes(content[at + 4 : at + 8], "little")
        body = content[at + 8 : min(at + 8 + length, at + 48)]
        if at + 8 + length > end:
            raise MediaDamaged(reason="a chunk reaches past the end")
        if kind in {b"ANIM", b"ANMF"}:
            raise MediaAnimated(kind="webp")
        if kind == b"VP8X":
            if canvas is not None:
                raise MediaDimensionsFalse(reason="a second canvas")
            canvas = _read_canvas(body)
        elif kind in {b"VP8 ", b"VP8L"}:
            return _agree(canvas, _read_lossy(body) if kind == b"VP8 " else _read_lossless(body))
        at += 8 + length + (length & 1)
    raise MediaDamaged(reason="no picture in it")


def _agree(canvas: tuple[int, int] | None, picture: tuple[int, int]) -> tuple[int, int]:
    if canvas is not None and canvas != picture:
        raise MediaDimensionsFalse(canvas=str(canvas), picture=str(picture))
    return picture


def _read_canvas(body: bytes) -> tuple[int, int]:
    if body[0] & ANIMATED:
        raise MediaAnimated(kind="webp")
    return 1 + int.from_bytes(body[4:7], "little"), 1 + int.from_bytes(body[7:10], "little")


def _read_lossy(body: bytes) -> tuple[int, int]:
    is_key_frame = not body[0] & 1
    if not is_key_frame or body[3:6] != b"\x9d\x01\x2a" or len(body) < 10:  # noqa: PLR2004 - numbers of the format's own layout
        raise MediaDamaged(reason="not a key frame")
    sides = int.from_bytes(body[6:8], "little"), int.from_bytes(body[8:10], "little")
    return sides[0] & 0x3FFF, sides[1] & 0x3FFF


def _read_lossless(body: bytes) -> tuple[int, int]:
    if body[0] != 0x2F or len(body) < 5:  # noqa: PLR2004 - numbers of the format's own layout
        raise MediaDamaged(reason="no lossless picture")
    bits = int.from_bytes(body[1:5], "little")
    return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
