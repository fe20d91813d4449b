"""Cursors of pages: opaque, versioned, and stable while rows are added, because they name an id and not an offset."""

import base64
import binascii

import msgspec

from tintype.base.errors import CursorInvalid
from tintype.base.ids import LARGEST_ID

VERSION = b"1:"
COMPOUND_VERSION = b"2:"
START = LARGEST_ID


def encode_cursor(before: int | None) -> str | None:
    """The cursor of the page that continues before this id; None where no page follows."""
    return None if before is None else _encode(VERSION + str(before).encode())


def decode_cursor(cursor: str | None) -> int:
    """The id that a page continues before; without a cursor the largest id, for the first page."""
    if not cursor:
        return START
    try:
        raw = _decode(cursor)
        before = int(raw.removeprefix(VERSION))
    except (binascii.Error, ValueError) as error:
        raise CursorInvalid from error
    if not raw.startswith(VERSION) or not 0 < before <= START:
        raise CursorInvalid
    return before


def next_page(before: int | None) -> tuple[str | None, bool]:
    """`next_cursor` and `has_more` of a page that continues before this id, or that is the last."""
    return encode_cursor(before), before is not None


def encode_compound_cursor(*numbers: int) -> str:
    """The cursor of a position that takes several numbers, such as a score and an id."""
    return _encode(COMPOUND_VERSION + msgspec.json.encode(numbers))


def decode_compound_cursor(cursor: str, *counts: int) -> tuple[int, ...]:
    """The numbers in a compound cursor; refused unless there are as many of them as one of `counts` says."""
    try:
        raw = _decode(cursor)
        numbers = msgspec.json.decode(raw.removeprefix(COMPOUND_VERSION), type=tuple[int, ...])
    except (binascii.Error, ValueError, msgspec.MsgspecError) as error:
        raise CursorInvalid from error
    is_valid = raw.startswith(COMPOUND_VERSION) and len(numbers) in counts
    if not is_valid or not all(0 <= number <= START for number in numbers):
        raise CursorInvalid
    return numbers


def _encode(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _decode(cursor: str) -> bytes:
    return base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
