"""Reads a JPEG's size, and counts its scans: a small progressive file can keep a decoder busy for minutes."""

import re
from collections.abc import Iterator

from tintype.media.errors import MediaBomb, MediaDamaged, MediaDimensionsFalse, MediaUnsupported

MAX_SEGMENTS = 2_000
"""ICC profiles and depth maps come in chunks of 64 KB; real files have a few hundred at most."""

FEW_SCANS = 20
"""What common encoders write (18 for progressive CMYK, 10 for colour, 1 otherwise), with room for a thumbnail."""

MAX_SCANS = 100
MAX_SCANNED_PIXELS = FEW_SCANS * 64_000_000
"""Every scan of a progressive file covers the whole image."""

BASELINE, EXTENDED, PROGRESSIVE = 0xC0, 0xC1, 0xC2
FRAMES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}
START_OF_SCAN, END = 0xDA, 0xD9
WITHOUT_LENGTH = {0x01, *range(0xD0, 0xD9)}
_FILL = re.compile(rb"\xff+")
_MARKER = re.compile(rb"\xff[\x01-\xcf\xd8-\xfe]")


def read_size(content: bytes) -> tuple[int, int]:
    """Width and height of the primary image; what follows its end (MPO, motion photos) is not read."""
    size: tuple[int, int] | None = None
    for marker, start, end in _segments(content):
        if marker in FRAMES:
            if size is not None:
                raise MediaDimensionsFalse(reason="a second frame header")
            size = _read_frame(marker, content[start:end])
        elif marker == START_OF_SCAN:
            break
    if size is None:
        raise MediaDamaged(reason="no frame header before the picture")
    _count_scans(content, size[0] * size[1])
    return size


def _read_frame(marker: int, body: bytes) -> tuple[int, int]:
    if marker not in {BASELINE, EXTENDED, PROGRESSIVE}:
        raise MediaUnsupported(reason="a lossless, hierarchical or arithmetic JPEG")
    if len(body) < 6 or len(body) != 6 + 3 * body[5]:  # noqa: PLR2004 - numbers of the format's own layout
        raise MediaDamaged(reason="a frame header of a wrong length")
    if body[0] != 8 or body[5] not in {1, 3, 4}:  # noqa: PLR2004 - numbers of the format's own layout
        raise MediaUnsupported(reason="not 8 bits of 1, 3 or 4 components")
    return int.from_bytes(body[3:5], "big"), int.from_bytes(body[1:3], "big")


def _segments(content: bytes, at: int = 2) -> Iterator[tuple[int, int, int]]:
    """The segments before the first scan: marker, start and end of the body. A second start marker is refused."""
    for _ in range(MAX_SEGMENTS):
        fill = _FILL.match(content, at)
        if fill is None:
            raise MediaDamaged(reason="no marker where one must be")
        at = fill.end() - 1
        marker = content[at + 1]
        if marker in WITHOUT_LENGTH or marker in {0x00, END}:
            raise MediaDamaged(reason="a marker that must not be there", marker=marker)
        length = int.from_bytes(content[at + 2 : at + 4], "big")
        if length < 2 or at + 2 + length > len(content):  # noqa: PLR2004 - numbers of the format's own layout
            raise MediaDamaged(reason="a segment reaches past the end")
        yield marker, at + 4, at + 2 + length
        at += 2 + length
    raise MediaBomb(reason="too many segments")


def _count_scans(content: bytes, pixels: int) -> None:
    # Entropy-coded bytes never hold FF DA, so the plain count, at the speed of memory, is never too low.
    if content.count(b"\xff\xda") <= FEW_SCANS:
        return
    scans = 0
    for scans, _ in enumerate(_scans(content), start=1):
        if scans > MAX_SCANS or scans * pixels > MAX_SCANNED_PIXELS:
            raise MediaBomb(reason="too many scans", scans=scans)


def _scans(content: bytes) -> Iterator[int]:
    """The offset of each scan of the primary image, up to its end marker."""
    at = next(start for marker, start, _ in _segments(content) if marker == START_OF_SCAN) - 4
    while (found := _MARKER.search(content, at)) is not None:
        marker = content[found.start() + 1]
        if marker == END:
            return
        if marker == START_OF_SCAN:
            yield found.start()
        length = int.from_bytes(content[found.start() + 2 : found.start() + 4], "big")
        at = found.start() + 2 + (0 if marker in WITHOUT_LENGTH else length)
