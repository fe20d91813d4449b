"""The photo jobs that the sandbox runs: one argument, one result, paths as text.

A job can open no file but its own. So what the libraries would load when they first need it is loaded with this module.
"""

from pathlib import Path

import msgspec
from PIL import Image

from tintype.media.looks import Edit, load_strips
from tintype.media.metadata.clean_photo import clean_photo
from tintype.media.metadata.models import CleanPhotoRequest, Removed
from tintype.media.photos.convert import convert
from tintype.media.photos.models import MadePhoto, PhotoFile, VariantFormat
from tintype.media.photos.pipeline import make_large_photo, make_photo
from tintype.media.photos.sniff import read_header
from tintype.media.photos.vips import pyvips
from tintype.media.sandbox import TEMPORARY, load_encodings, load_modules

WARM_UP_SIDE = 400

load_strips()
load_encodings()
Image.preinit()
load_modules("PIL.AvifImagePlugin", "PIL.WebPImagePlugin")


class MakePhoto(msgspec.Struct, frozen=True):
    """The argument of `make_photo_job`: make all sizes of the photo in a file, with an optional edit."""

    source: str
    out: str
    edit: msgspec.Raw = msgspec.Raw(b"\xc0")
    original: str | None = None
    """Where to write a copy of the original without its location, if one is wanted."""


class MakeLargePhoto(msgspec.Struct, frozen=True):
    """The argument of `make_large_photo_job`: make one rendition of the photo in a file, with an optional edit."""

    source: str
    out: str
    width: int
    edit: msgspec.Raw = msgspec.Raw(b"\xc0")


class Convert(msgspec.Struct, frozen=True):
    """The argument of `convert_job`: write one of our JPEGs in another format."""

    source: str
    out: str
    kind: VariantFormat


def make_photo_job(arguments: MakePhoto) -> MadePhoto:
    """Make all sizes of a photo, edited if there is an edit."""
    edit = msgspec.msgpack.decode(arguments.edit, type=Edit | None)
    made = make_photo(Path(arguments.source), Path(arguments.out), edit)
    if arguments.original is None:
        return made
    cleaned = clean_photo(Path(arguments.source).read_bytes(), made.kind)
    if cleaned.copy is not None:
        Path(arguments.original).write_bytes(cleaned.copy)
    return msgspec.structs.replace(made, removed=cleaned.removed, not_kept_because=cleaned.reason)


def make_large_photo_job(arguments: MakeLargePhoto) -> PhotoFile:
    """Make one rendition of a photo, edited if there is an edit."""
    edit = msgspec.msgpack.decode(arguments.edit, type=Edit | None)
    return make_large_photo(Path(arguments.source), Path(arguments.out), arguments.width, edit)


def clean_photo_job(request: CleanPhotoRequest) -> list[Removed]:
    """Write the clean copy of a photo, if one can be made; returns what was removed."""
    content = Path(request.source).read_bytes()
    cleaned = clean_photo(content, read_header(content).kind)
    if cleaned.copy is not None:
        Path(request.copy).write_bytes(cleaned.copy)
    return cleaned.removed


def convert_job(arguments: Convert) -> PhotoFile:
    """Write one of our JPEGs in another format."""
    return convert(Path(arguments.source), Path(arguments.out), arguments.kind)


def warm_up() -> None:
    """Make a photo of nothing, so that the libraries are ready when a real one comes."""
    source = Path(TEMPORARY, "warm_up")
    source.write_bytes(pyvips.Image.black(WARM_UP_SIDE, WARM_UP_SIDE, bands=3).jpegsave_buffer())
    make_photo(source, Path(TEMPORARY))
    for left in Path(TEMPORARY).iterdir():
        left.unlink()
