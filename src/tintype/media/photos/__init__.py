"""Photos: detecting their format and size (`sniff`, `read_header`), and converting them in the sandbox.

Pure: a file on disk in, files on disk out. The work itself (`pipeline`, `convert`) runs in the sandbox and is not
imported here, so that no process loads a decoder just to detect a format.
"""

from tintype.media.photos.models import (
    LARGE_SIZES,
    PREVIEW_SIDE,
    SIZES,
    FileFormat,
    Header,
    MadePhoto,
    PhotoFile,
    VariantFormat,
    large_renditions,
)
from tintype.media.photos.sandbox_client import (
    convert_in_sandbox,
    make_large_photo_in_sandbox,
    make_photo_in_sandbox,
)
from tintype.media.photos.sniff import detect_format, read_header, sniff

__all__ = [
    "LARGE_SIZES",
    "PREVIEW_SIDE",
    "SIZES",
    "FileFormat",
    "Header",
    "MadePhoto",
    "PhotoFile",
    "VariantFormat",
    "convert_in_sandbox",
    "detect_format",
    "large_renditions",
    "make_large_photo_in_sandbox",
    "make_photo_in_sandbox",
    "read_header",
    "sniff",
]
