"""Edits and looks for those who do not draw: reading an edit, listing the looks.

The looks load a picture library that most processes never need, so it is loaded when somebody first asks.
"""

import importlib
from typing import TYPE_CHECKING, Any

import msgspec

from tintype.media.errors import MediaRefused

if TYPE_CHECKING:
    from tintype.media.looks import Edit, Look


class EditInvalid(MediaRefused):
    """That edit cannot be read, or asks for a look there is not."""

    code = "edit_invalid"


def read_edit(edit: bytes) -> "Edit | None":
    """The edit that some JSON means; None when it asks for nothing."""
    if edit in {b"", b"null"}:
        return None
    try:
        return msgspec.json.decode(edit, type=_looks().Edit)
    except (msgspec.DecodeError, RecursionError) as error:
        raise EditInvalid(f"That edit cannot be read: {error}") from error


def list_looks() -> "tuple[Look, ...]":
    """All looks, in the order in which people see them."""
    return _looks().list_looks()


def find_strip(name: str) -> bytes | None:
    """The colour table that goes by this public name."""
    return _looks().find_strip(name)


def _looks() -> Any:  # a module that is loaded late has no type of its own
    return importlib.import_module("tintype.media.looks")
