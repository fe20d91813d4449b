"""Reads the edit that came with an upload, before any work is done on the file."""

import msgspec

from tintype.media.errors import MediaRefused
from tintype.media.looks import Edit


class EditInvalid(MediaRefused):
    """That edit cannot be read, or asks for a look there is not."""

    code = "edit_invalid"


def read_edit(edit: bytes) -> Edit | None:
    """The edit that some JSON means; None when it asks for nothing."""
    if edit in {b"", b"null"}:
        return None
    try:
        return msgspec.json.decode(edit, type=Edit)
    except (msgspec.DecodeError, RecursionError) as error:
        raise EditInvalid(f"That edit cannot be read: {error}") from error
