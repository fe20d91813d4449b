"""Photos: what they are (`sniff`, `read_header`) and what is made of them (`make_photo_apart`, `convert_apart`).

Pure: a file on disk in, files on disk out. The work itself (`pipeline`, `convert`) runs in the sandbox and is not
imported here, so that nobody loads a decoder by asking what a file is.
"""

from tintype.media.photos.apart import convert_apart, make_photo_apart
from tintype.media.photos.models import SIZES, Header, Kind, LazyKind, MadePhoto, PhotoFile
from tintype.media.photos.sniff import kind_of, read_header, sniff

__all__ = [
    "SIZES",
    "Header",
    "Kind",
    "LazyKind",
    "MadePhoto",
    "PhotoFile",
    "convert_apart",
    "kind_of",
    "make_photo_apart",
    "read_header",
    "sniff",
]
