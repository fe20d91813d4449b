"""Cursors of the feed: opaque, versioned and self-contained, so that the server stores nothing for a scroll.

*Following* continues below an id. *Ranked* goes through windows of ids, newest window first: the cursor holds the
bounds of the window and exactly which of its ids were served. What arrives later lies above the window or was not
served, so no order that changes between two pages can repeat or skip a post.
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
MAX_CURSOR_LENGTH = 4_096
MAX_SERVED = 500
MODES: tuple[Mode, ...] = ("ranked", "following")
CHECKSUM_BYTES = 4
ID_BYTES = 8
HEADER_BYTES = 3 + 2 * ID_BYTES
"""Version, mode, the width of a gap, and the bounds."""


class FeedCursor(msgspec.Struct, frozen=True):
    """Where a page begins: in the window of ids from `lowest` to `highest`, without those that were served.

    If `lowest` is 0 the window has still to be chosen.
    """

    highest: int = LARGEST_ID
    lowest: int = 0
    served: frozenset[int] = frozenset()


START = FeedCursor()


def encode(viewer: AccountId, mode: Mode, position: FeedCursor) -> str:
    """The text of a cursor, valid for this viewer and mode."""
    ordered = sorted(position.served, reverse=True)
    gaps = list(map(sub, [position.highest, *ordered], ordered))
    width = (max(gaps, default=0).bit_length() + 7) // 8 or 1
    header = bytes((VERSION, MODES.index(mode), width))
    bounds = position.highest.to_bytes(ID_BYTES) + position.lowest.to_bytes(ID_BYTES)
    body = header + bounds + b"".join([gap.to_bytes(width) for gap in gaps])
    return base64.urlsafe_b64encode(_checksum(viewer, body) + body).decode().rstrip("=")


def decode(viewer: AccountId, mode: Mode, text: str | None) -> FeedCursor:
    """The cursor from its text; one that is damaged, of another mode or another viewer raises `CursorInvalid`."""
    if not text:
        return START
    if len(text) > MAX_CURSOR_LENGTH:
        raise CursorInvalid
    try:
        raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (binascii.Error, ValueError) as error:
        raise CursorInvalid from error
    body = raw[CHECKSUM_BYTES:]
    is_ours = raw[:CHECKSUM_BYTES] == _checksum(viewer, body) and body[:2] == bytes(
        (VERSION, MODES.index(mode))
    )
    if not is_ours or len(body) < HEADER_BYTES:
        raise CursorInvalid
    return _parse(body)


def _parse(body: bytes) -> FeedCursor:
    """Refuses well-formed nonsense as well: the checksum is not a signature."""
    width, packed = body[2], body[HEADER_BYTES:]
    highest, lowest = (
        int.from_bytes(body[start : start + ID_BYTES])
        for start in (HEADER_BYTES - 2 * ID_BYTES, HEADER_BYTES - ID_BYTES)
    )
    if not 1 <= width <= ID_BYTES or len(packed) % width or len(packed) // width > MAX_SERVED:
        raise CursorInvalid
    gaps = [int.from_bytes(packed[start : start + width]) for start in range(0, len(packed), width)]
    last, served = highest, set[int]()
    for gap in gaps:
        last -= gap
        served.add(last)
    is_consistent = 0 <= lowest <= highest <= LARGEST_ID and len(served) == len(gaps) and lowest <= last
    if not is_consistent:
        raise CursorInvalid
    return FeedCursor(highest, lowest, frozenset(served))


def _checksum(viewer: AccountId, body: bytes) -> bytes:
    return zlib.crc32(body, viewer & 0xFFFFFFFF).to_bytes(CHECKSUM_BYTES)
