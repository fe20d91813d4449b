"""The photo jobs as the sandbox calls them: one argument, one result, paths as text."""

from pathlib import Path

import msgspec

from tintype.media.looks import Edit
from tintype.media.photos.convert import convert
from tintype.media.photos.models import LazyKind, MadePhoto, PhotoFile
from tintype.media.photos.pipeline import make_photo


class MakePhoto(msgspec.Struct, frozen=True):
    """Make all sizes of the photo in a file; the edit is decoded by the looks that know it."""

    source: str
    out: str
    edit: msgspec.Raw = msgspec.Raw(b"\xc0")


class Convert(msgspec.Struct, frozen=True):
    """Write a JPEG of ours as another format."""

    source: str
    out: str
    kind: LazyKind


def make_photo_job(arguments: MakePhoto) -> MadePhoto:
    """Make a photo, edited if an edit was given."""
    edit = msgspec.msgpack.decode(arguments.edit, type=Edit | None)
    return make_photo(Path(arguments.source), Path(arguments.out), edit)


def convert_job(arguments: Convert) -> PhotoFile:
    """Convert one file."""
    return convert(Path(arguments.source), Path(arguments.out), arguments.kind)
