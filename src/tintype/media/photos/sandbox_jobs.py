"""The photo jobs that the sandbox runs: one argument, one result, paths as text."""

from pathlib import Path

import msgspec

from tintype.media.looks import Edit
from tintype.media.photos.convert import convert
from tintype.media.photos.models import MadePhoto, PhotoFile, VariantFormat
from tintype.media.photos.pipeline import make_photo


class MakePhoto(msgspec.Struct, frozen=True):
    """The argument of `make_photo_job`: make all sizes of the photo in a file, with an optional edit."""

    source: str
    out: str
    edit: msgspec.Raw = msgspec.Raw(b"\xc0")


class Convert(msgspec.Struct, frozen=True):
    """The argument of `convert_job`: write one of our JPEGs in another format."""

    source: str
    out: str
    kind: VariantFormat


def make_photo_job(arguments: MakePhoto) -> MadePhoto:
    """Make all sizes of a photo, edited if there is an edit."""
    edit = msgspec.msgpack.decode(arguments.edit, type=Edit | None)
    return make_photo(Path(arguments.source), Path(arguments.out), edit)


def convert_job(arguments: Convert) -> PhotoFile:
    """Write one of our JPEGs in another format."""
    return convert(Path(arguments.source), Path(arguments.out), arguments.kind)
