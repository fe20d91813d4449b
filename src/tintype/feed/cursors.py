"""Cursors of the feed: opaque, versioned, and whole in themselves, so that nothing has to be remembered for a scroll.

*Following* goes on below an id. *Ranked* goes through windows of ids, newest window first: the cursor holds the bounds
of the window and exactly which of its ids were served. What arrives later lies above the window or was not served, so
no order that changes between two pages can repeat or skip a post.
"""

import base64
import binascii
import zlib
from collections.abc import Iterable
from typing import Literal

import msgspec

from tintype.base.errors import CursorInvalid
from tintype.base.ids import LARGEST_ID, AccountId

Mode = Literal["ranked", "following"]
VERSION = 1
LONGEST_CURSOR = 4_096
MOST_SERVED = 500
MODES: tuple[Mode, ...] = ("ranked", "following")
CHECK_BYTES = 4
BOUNDS = 2
SEVEN = 0x7F
MORE = 0x80
MOST_SHIFT = 63


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
    numbers = [place.highest, place.highest - place.lowest]
    last = place.highest
    for each in sorted(place.served, reverse=True):
        numbers.append(last - each)
        last = each
    body = bytes((VERSION, MODES.index(mode))) + _pack(numbers)
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
    if not is_ours:
        raise CursorInvalid
    return _place(_unpack(body[2:]))


def _place(numbers: list[int]) -> Place:
    """What is well formed and yet makes no sense is refused as well: the checksum is not a signature."""
    if not BOUNDS <= len(numbers) <= BOUNDS + MOST_SERVED:
        raise CursorInvalid
    highest, height, *gaps = numbers
    lowest, last = highest - height, highest
    served: set[int] = set()
    for gap in gaps:
        last -= gap
        served.add(last)
    is_sound = 0 <= lowest <= highest <= LARGEST_ID and len(served) == len(gaps) and lowest <= last
    if not is_sound:
        raise CursorInvalid
    return Place(highest, lowest, frozenset(served))


def _check(viewer: AccountId, body: bytes) -> bytes:
    return zlib.crc32(body, viewer & 0xFFFFFFFF).to_bytes(CHECK_BYTES)


def _pack(numbers: Iterable[int]) -> bytes:
    """Seven bits a byte, the last of a number without the eighth."""
    packed = bytearray()
    for number in numbers:
        left = number
        while left > SEVEN:
            packed.append(left & SEVEN | MORE)
            left >>= 7
        packed.append(left)
    return bytes(packed)


def _unpack(packed: bytes) -> list[int]:
    numbers: list[int] = []
    number = shift = 0
    for byte in packed:
        number |= (byte & SEVEN) << shift
        if byte & MORE:
            shift += 7
            if shift > MOST_SHIFT:
                raise CursorInvalid
        else:
            numbers.append(number)
            number = shift = 0
    if shift:
        raise CursorInvalid
    return numbers
