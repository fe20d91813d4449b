"""Turns an uploaded file into JPEGs of our sizes. Runs in a thread; touches no network and no store."""

import asyncio
import io
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from PIL import Image, ImageOps, UnidentifiedImageError

from tintype.media.errors import MediaRefused, MediaUnsupported
from tintype.media.models import SIZES, MediaType
from tintype.media.processing import LazyFormat, MadePhoto, MadeVideo, OnProgress

FORMATS = ("JPEG", "PNG", "WEBP")
LARGEST_SIDE = 16_384
MOST_PIXELS = 64_000_000
WIDEST_RATIO = 10
QUALITY = 82


@dataclass(frozen=True)
class Pictures:
    """The sizes of one photo, smallest metadata possible: none."""

    width: int
    height: int
    files: dict[int, bytes]


def make_pictures(file: BinaryIO) -> Pictures:
    """Decode once, by content and never by name, and scale down from size to size."""
    image = _open(file)
    files: dict[int, bytes] = {}
    first = image
    for size in SIZES:
        image = _fit_width(image, size)
        if size == SIZES[0]:
            first = image
        buffer = io.BytesIO()
        image.save(buffer, "JPEG", quality=QUALITY, progressive=True)
        files[size] = buffer.getvalue()
    return Pictures(first.width, first.height, files)


def _open(file: BinaryIO) -> Image.Image:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # our own caps below are stricter than Pillow's warning
            source = Image.open(file, formats=FORMATS)
            _check_size(source.width, source.height)
            source.draft("RGB", (2 * SIZES[0], 2 * SIZES[0]))
            return ImageOps.exif_transpose(source).convert("RGB")
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise MediaRefused(error=str(error)) from error


def _check_size(width: int, height: int) -> None:
    is_small_enough = max(width, height) <= LARGEST_SIDE and width * height <= MOST_PIXELS
    if not is_small_enough or max(width, height) > WIDEST_RATIO * min(width, height):
        raise MediaRefused(width=width, height=height)


def _fit_width(image: Image.Image, width: int) -> Image.Image:
    if image.width <= width:
        return image
    height = max(1, round(image.height * width / image.width))
    return image.resize((width, height), Image.Resampling.LANCZOS, reducing_gap=3.0)


class PlainProcessing:
    """Pictures made in a thread of this process."""

    def type_of(self, head: bytes) -> MediaType:
        """By the first bytes."""
        if head.startswith((b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n")) or head[8:12] == b"WEBP":
            return "image"
        if head[4:8] == b"ftyp":
            return "video"
        raise MediaUnsupported

    async def photo(self, source: Path, out: Path, edit: bytes) -> MadePhoto:
        """Every size."""
        return await asyncio.to_thread(self._photo, source, out)

    def _photo(self, source: Path, out: Path) -> MadePhoto:
        with source.open("rb") as file:
            pictures = make_pictures(file)
        for size, content in pictures.files.items():
            (out / f"{size}.jpg").write_bytes(content)
            (out / f"{size}s.jpg").write_bytes(content)
        return MadePhoto(pictures.width, pictures.height, None, {}, {})

    async def poster(self, source: Path, out: Path) -> tuple[MadePhoto, int]:
        """Not here."""
        raise MediaUnsupported

    async def video(self, source: Path, out: Path, on_progress: OnProgress) -> MadeVideo:
        """Not here."""
        raise MediaUnsupported

    async def convert(self, jpeg: Path, out: Path, kind: LazyFormat) -> None:
        """WebP or AVIF."""
        await asyncio.to_thread(lambda: Image.open(jpeg).save(out, kind))
