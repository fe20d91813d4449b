"""Cursors: opaque, versioned, and stable while rows arrive, because they name a place and not a distance."""

import base64
import binascii

import msgspec

from tintype.base.errors import CursorInvalid
from tintype.base.ids import LARGEST_ID

VERSION = b"1:"
PLACE_VERSION = b"2:"
START = LARGEST_ID


def encode_cursor(before: int | None) -> str | None:
    """The cursor of what lies before this id."""
    if before is None:
        return None
    return base64.urlsafe_b64encode(VERSION + str(before).encode()).decode().rstrip("=")


def decode_cursor(cursor: str | None) -> int:
    """The id a cursor names; the very start without one."""
    if not cursor:
        return START
    try:
        raw = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        before = int(raw.removeprefix(VERSION))
    except (binascii.Error, ValueError) as error:
        raise CursorInvalid from error
    if not raw.startswith(VERSION) or not 0 < before <= START:
        raise CursorInvalid
    return before


def encode_place(*numbers: int) -> str:
    """The cursor of a place that takes several numbers to name."""
    return base64.urlsafe_b64encode(PLACE_VERSION + msgspec.json.encode(numbers)).decode().rstrip("=")


def decode_place(cursor: str, count: int) -> tuple[int, ...]:
    """The numbers that such a cursor names."""
    try:
        raw = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        numbers = msgspec.json.decode(raw.removeprefix(PLACE_VERSION), type=tuple[int, ...])
    except (binascii.Error, ValueError, msgspec.MsgspecError) as error:
        raise CursorInvalid from error
    is_ours = raw.startswith(PLACE_VERSION) and len(numbers) == count
    if not is_ours or not all(0 <= number <= START for number in numbers):
        raise CursorInvalid
    return numbers
