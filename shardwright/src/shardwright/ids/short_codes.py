"""Short codes for links: 11 letters and digits that sort like their ids.

62^11 is more than 2^63, so plain letters and digits are enough: nothing to escape in a URL, and a double
click selects the whole of it. The alphabet is in the order of ASCII, so codes sort (bytewise) as ids do.
"""

from typing import Final

from shardwright.errors import InvalidId
from shardwright.ids.layout import MAX_ID, check_id

SHORT_LENGTH: Final = 11
_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_BASE = len(_ALPHABET)
_VALUES = {letter: value for value, letter in enumerate(_ALPHABET)}


def encode_short(id: int) -> str:  # noqa: A002 - an id is called an id
    """Return the short code of an id."""
    rest = check_id(id)
    letters = [""] * SHORT_LENGTH
    for position in range(SHORT_LENGTH - 1, -1, -1):
        rest, value = divmod(rest, _BASE)
        letters[position] = _ALPHABET[value]
    return "".join(letters)


def decode_short(text: str) -> int:
    """Return the id of a short code; each id has exactly one code."""
    if len(text) != SHORT_LENGTH:
        raise InvalidId(f"{text!r} is not a short code: it has {len(text)} characters, not {SHORT_LENGTH}.")
    id_ = 0
    for letter in text:
        value = _VALUES.get(letter)
        if value is None:
            raise InvalidId(
                f"{text!r} is not a short code: {letter!r} is neither an ASCII letter nor a digit."
            )
        id_ = id_ * _BASE + value
    if id_ > MAX_ID:
        raise InvalidId(f"{text!r} is not a short code: its number is too large for an id.")
    return id_
