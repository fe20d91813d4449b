"""Boxes of ISO media files (HEIF, MP4, MOV) in a buffer that can be changed in place.

Nothing moves: a box that is not wanted becomes a `free` box of the same length, filled with zeros.
"""

import struct
from collections.abc import Iterator, MutableSequence
from dataclasses import dataclass

from tintype.media.metadata.models import NotCleanable

MAX_BOXES = 20_000
ZEROS = bytes(1024 * 1024)
Buffer = MutableSequence[int]
Range = tuple[int, int]


@dataclass(frozen=True)
class Box:
    """One box: where it begins, where its body does, and where it ends."""

    kind: bytes
    at: int
    start: int
    end: int


def boxes(content: bytearray | memoryview, start: int, end: int, *, is_file: bool = False) -> Iterator[Box]:
    """The boxes of a range. In a file what follows the last complete box is no error: it is not yielded."""
    at = start
    for _ in range(MAX_BOXES):
        if at == end:
            return
        box = read_box(content, at, end)
        if box is None:
            if is_file or not any(content[at:end]):  # QuickTime ends some lists with four zero bytes
                return
            raise NotCleanable("a box reaches past the end")
        yield box
        at = box.end
    raise NotCleanable("too many boxes")


def read_box(content: bytearray | memoryview, at: int, end: int) -> Box | None:
    """The box at an offset, if it is complete."""
    if at + 8 > end:
        return None
    length, kind = struct.unpack_from(">I4s", content, at)
    start = at + 8
    if length == 1 and at + 16 <= end:
        (length,) = struct.unpack_from(">Q", content, at + 8)
        start = at + 16
    elif length == 0:
        length = end - at
    return Box(kind, at, start, at + length) if start <= at + length <= end else None


def free(content: bytearray | memoryview, box: Box) -> None:
    """Make a box a `free` box of the same length, filled with zeros."""
    content[box.at + 4 : box.at + 8] = b"free"
    zero(content, box.start, box.end)


def zero(content: bytearray | memoryview, start: int, end: int) -> None:
    """Overwrite a range with zeros."""
    for at in range(start, end, len(ZEROS)):
        size = min(len(ZEROS), end - at)
        content[at : at + size] = ZEROS[:size]


def merged(ranges: list[Range]) -> list[Range]:
    """The same ranges in order, without overlaps."""
    result: list[Range] = []
    for start, end in sorted(each for each in ranges if each[0] < each[1]):
        if result and start <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((start, end))
    return result


def zero_except(content: bytearray | memoryview, start: int, end: int, kept: list[Range]) -> bool:
    """Overwrite what lies in a range but not in the kept ones (merged); whether anything was there."""
    at, had_content = start, False
    for first, last in [*(each for each in kept if each[1] > start and each[0] < end), (end, end)]:
        if first > at:
            had_content = had_content or any(bytes(content[at:first]).strip(b"\0"))
            zero(content, at, first)
        at = max(at, last)
    return had_content
