"""Cursors: opaque, versioned, and stable while rows arrive, because they name a place and not a distance."""

import base64
import binascii

from tintype.base.errors import Invalid
from tintype.base.ids import LARGEST_ID

VERSION = b"1:"
PLACE_VERSION = b"2:"
START = LARGEST_ID


class CursorInvalid(Invalid):
    """That cursor is not one of ours; begin again without one."""

    code = "cursor_invalid"


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
    """The cursor of a place that more than one number names, such as a score and an id."""
    text = ",".join(str(number) for number in numbers)
    return base64.urlsafe_b64encode(PLACE_VERSION + text.encode()).decode().rstrip("=")


def decode_place(cursor: str, count: int) -> tuple[int, ...]:
    """The numbers that such a cursor names."""
    try:
        raw = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        numbers = tuple(int(part) for part in raw.removeprefix(PLACE_VERSION).split(b","))
    except (binascii.Error, ValueError) as error:
        raise CursorInvalid from error
    if not raw.startswith(PLACE_VERSION) or len(numbers) != count:
        raise CursorInvalid
    if any(not -START <= number <= START for number in numbers):
        raise CursorInvalid
    return numbers
