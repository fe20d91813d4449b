"""What an uploader chooses besides the file: what it is for, whether its location is kept, and how it is edited."""

from collections.abc import Mapping
from typing import Self

import msgspec

from tintype.base.json_depth import check_json_depth
from tintype.media.errors import EditInvalid
from tintype.media.looks import Edit
from tintype.media.models import MediaKind

TRUE = frozenset({"1", "true", "yes", "on"})


class UploadOptions(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The choices of an uploader, stored as JSON with an upload in progress (column `wish`)."""

    kind: MediaKind = "post"
    keep_location: bool = False
    edit: msgspec.Raw = msgspec.Raw(b"null")
    """An edit as JSON, parsed by the pipeline that applies it."""

    @classmethod
    def from_fields(cls, fields: Mapping[str, str]) -> Self:
        """Read the text fields of a form, or the metadata of a tus upload; ValueError where they make no sense.

        `filter_id` is short for an edit with that look and nothing else.
        """
        edit = fields.get("edit") or "null"
        if edit == "null" and fields.get("filter_id"):
            edit = msgspec.json.encode({"look": fields["filter_id"]}).decode()
        check_json_depth(edit.encode())
        try:
            msgspec.json.decode(edit)
            kind = msgspec.convert(fields.get("kind") or "post", MediaKind)
        except (msgspec.DecodeError, msgspec.ValidationError) as error:
            raise ValueError("`edit` is JSON, and `kind` is post, avatar, story or voice.") from error
        keep_location = fields.get("keep_location", "").lower() in TRUE
        return cls(kind=kind, keep_location=keep_location, edit=msgspec.Raw(edit.encode()))


def normalise_edit(edit: bytes) -> str | None:
    """The edit as it is stored with the media; None where it changes nothing."""
    parsed = parse_edit(edit)
    return None if parsed is None or parsed == Edit() else msgspec.json.encode(parsed).decode()


def parse_edit(edit: bytes) -> Edit | None:
    """The edit that some JSON describes, or None for no edit; refused before any work is done on the file."""
    if edit in {b"", b"null"}:
        return None
    check_json_depth(edit)
    try:
        return msgspec.json.decode(edit, type=Edit)
    except msgspec.DecodeError as error:
        raise EditInvalid(f"That edit cannot be read: {error}") from error
