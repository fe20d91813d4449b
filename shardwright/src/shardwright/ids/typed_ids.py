"""Ids with a type, and ids as text: JavaScript's numbers end at 2^53, so JSON carries ids as strings.

PostId = NewType("PostId", int)
read_post_id = id_reader(PostId)

read_post_id("181241941811299329")   # a PostId, checked by pyright and at run time
"""

import re
from collections.abc import Callable
from typing import TypeVar

from shardwright.errors import InvalidId
from shardwright.ids.layout import check_id

Id = TypeVar("Id", bound=int)
_DECIMAL = re.compile(r"0|[1-9][0-9]{0,18}")


def id_to_text(id: int) -> str:  # noqa: A002 - an id is called an id
    """Return an id as text, for JSON and URLs."""
    return str(check_id(id))


def id_from_text(text: str) -> int:
    """Parse an id in its canonical text form: no sign, no spaces, no leading zeros."""
    if _DECIMAL.fullmatch(text) is None:
        raise InvalidId(f"{text!r} is not an id.")
    return check_id(int(text))


def id_reader(kind: Callable[[int], Id]) -> Callable[[str | int], Id]:
    """Return a function that parses a client's value into an id of that type, or raises `InvalidId`."""

    def read(value: str | int) -> Id:
        return kind(id_from_text(value) if isinstance(value, str) else check_id(value))

    return read
