"""Converts one of our JPEGs to a smaller format, or for link previews, when somebody first asks for it.

At 1080 px a WebP or an AVIF takes ten times the work of a JPEG or more, for half of the bytes: worth it for a photo
that is viewed, not for every upload.
"""

from pathlib import Path

from PIL import Image

from tintype.media.errors import MediaUnsupported
from tintype.media.photos.models import PREVIEW_SIDE, FileFormat, PhotoFile, VariantFormat
from tintype.media.photos.sniff import read_header

WEBP_QUALITY, WEBP_EFFORT = 78, 4
AVIF_QUALITY, AVIF_SPEED = 60, 9
PREVIEW_QUALITY = 80
"""Some messengers show no picture of more than 300 KB."""


def convert(source_jpeg: Path, out: Path, kind: VariantFormat) -> PhotoFile:
    """Write one of our JPEGs in another format, without metadata."""
    content = source_jpeg.read_bytes()
    header = read_header(content)
    if header.kind is not FileFormat.JPEG:
        raise MediaUnsupported(kind=str(header.kind))
    with Image.open(source_jpeg, formats=["JPEG"]) as image:
        picture = image.convert("RGB")
    if kind == "webp":
        picture.save(out, "WEBP", quality=WEBP_QUALITY, method=WEBP_EFFORT)
    elif kind == "preview":
        picture.thumbnail((PREVIEW_SIDE, PREVIEW_SIDE), Image.Resampling.LANCZOS)
        picture.save(out, "JPEG", quality=PREVIEW_QUALITY, progressive=True, optimize=True)
    else:
        picture.save(out, "AVIF", quality=AVIF_QUALITY, speed=AVIF_SPEED, max_threads=1)
    return PhotoFile(out.name, picture.width, picture.height, out.stat().st_size)
