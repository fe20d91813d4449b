"""Cursors of the feed: opaque, versioned, and whole in themselves, so that nothing has to be remembered for a scroll.

*Following* goes on below an id. *Ranked* goes through windows of ids, newest window first: the cursor holds the bounds
of the window and exactly which of its ids were served. What arrives later lies above the window or was not served, so
no order that changes between two pages can repeat or skip a post.
"""

import base64
import binascii
import zlib
from operator import sub
from typing import Literal

import msgspec

from tintype.base.errors import CursorInvalid
from tintype.base.ids import LARGEST_ID, AccountId

Mode = Literal["ranked", "following"]
VERSION = 2
LONGEST_CURSOR = 4_096
MOST_SERVED = 500
MODES: tuple[Mode, ...] = ("ranked", "following")
CHECK_BYTES = 4
ID_BYTES = 8
HEAD_BYTES = 3 + 2 * ID_BYTES
"""Version, mode, the width of a gap, and the bounds."""


class Place(msgspec.Struct, frozen=True):
    """Where a page begins: in the window from `lowest` to `highest`, less what was served of it.

    A window whose `lowest` is 0 has still to be chosen.
    """

    highest: int = LARGEST_ID
    lowest: int = 0
    served: frozenset[int] = frozenset()


START = Place()


def encode(viewer: AccountId, mode: Mode, place: Place) -> str:
    """A cursor that means this place to this viewer."""
    ordered = sorted(place.served, reverse=True)
    gaps = list(map(sub, [place.highest, *ordered], ordered))
    width = (max(gaps, default=0).bit_length() + 7) // 8 or 1
    head = bytes((VERSION, MODES.index(mode), width))
    bounds = place.highest.to_bytes(ID_BYTES) + place.lowest.to_bytes(ID_BYTES)
    body = head + bounds + b"".join([gap.to_bytes(width) for gap in gaps])
    return base64.urlsafe_b64encode(_check(viewer, body) + body).decode().rstrip("=")


def decode(viewer: AccountId, mode: Mode, cursor: str | None) -> Place:
    """The place that a cursor means; one that is damaged, of another mode or somebody else's is refused."""
    if not cursor:
        return START
    if len(cursor) > LONGEST_CURSOR:
        raise CursorInvalid
    try:
        raw = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
    except (binascii.Error, ValueError) as error:
        raise CursorInvalid from error
    body = raw[CHECK_BYTES:]
    is_ours = raw[:CHECK_BYTES] == _check(viewer, body) and body[:2] == bytes((VERSION, MODES.index(mode)))
    if not is_ours or len(body) < HEAD_BYTES:
        raise CursorInvalid
    return _place(body)


def _place(body: bytes) -> Place:
    """What is well formed and yet makes no sense is refused as well: the checksum is not a signature."""
    width, packed = body[2], body[HEAD_BYTES:]
    highest, lowest = (
        int.from_bytes(body[start : start + ID_BYTES])
        for start in (HEAD_BYTES - 2 * ID_BYTES, HEAD_BYTES - ID_BYTES)
    )
    if not 1 <= width <= ID_BYTES or len(packed) % width or len(packed) // width > MOST_SERVED:
        raise CursorInvalid
    gaps = [int.from_bytes(packed[start : start + width]) for start in range(0, len(packed), width)]
    last, served = highest, set[int]()
    for gap in gaps:
        last -= gap
        served.add(last)
    is_sound = 0 <= lowest <= highest <= LARGEST_ID and len(served) == len(gaps) and lowest <= last
    if not is_sound:
        raise CursorInvalid
    return Place(highest, lowest, frozenset(served))


def _check(viewer: AccountId, body: bytes) -> bytes:
    return zlib.crc32(body, viewer & 0xFFFFFFFF).to_bytes(CHECK_BYTES)
