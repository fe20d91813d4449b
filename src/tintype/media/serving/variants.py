"""Chooses what is sent for a path: a smaller format (by `Accept`), a large size, a link preview's picture, a download.

WebP and AVIF are made in the background once a file was read often enough to be worth it (ADR 54); until then its
JPEG is sent, and nobody waits for an encoder.
"""

import re
from dataclasses import replace
from pathlib import Path

from tintype.media.dependencies import MediaDependencies
from tintype.media.errors import MediaNotFound
from tintype.media.photos import PREVIEW_SIDE, SIZES, VariantFormat, large_renditions
from tintype.media.serving.downloads import Downloads
from tintype.media.serving.files import CONTENT_TYPES, PREVIEW, MediaFile, MediaFiles
from tintype.media.serving.large_photos import LargePhotos
from tintype.media.serving.renditions import Renditions

FORMATS: tuple[VariantFormat, ...] = ("avif", "webp")
"""The one that is closer to the JPEG first (ADR 54)."""
BRIEFLY_S = 60
AGE = re.compile(r"(?P<name>max-age|s-maxage)=(?P<seconds>[0-9]+)")
ZERO_WEIGHT = re.compile(r"q=0(\.0*)?")


class Variants:
    """Sends the best format that exists and a browser accepts, and has it made for what is read often."""

    def __init__(self, dependencies: MediaDependencies, files: MediaFiles) -> None:
        self._storage, self._pipeline = dependencies.storage, dependencies.pipeline
        self._rows, self._reads, self._files = dependencies.rows, dependencies.reads, files
        self._renditions = Renditions(dependencies, files)
        self._large = LargePhotos(dependencies, self._renditions)
        self._downloads = Downloads(dependencies, files, self._large)
        self._reads_needed = dependencies.settings.media_convert_after_reads

    async def close(self) -> None:
        """Wait for what is being made."""
        await self._renditions.close()

    async def choose(self, file: MediaFile, accept: str) -> MediaFile:
        """What to send for a file that may be opened."""
        if file.download_name is not None:
            return await self._downloads.choose(file)
        if file.path.endswith(f"/{PREVIEW}"):
            return await self._as_preview(file)
        return await self._in_best_format(file, accept) if file.is_negotiated else file

    async def _in_best_format(self, file: MediaFile, accept: str) -> MediaFile:
        accepted = [_in_format(file, format_) for format_ in FORMATS if _accepts(accept, format_)]
        for variant in accepted:
            if found := await self._renditions.find(variant):
                return found
        jpeg = await self._large.find_or_make(file)
        if jpeg.path != file.path:
            return _briefly_cached(jpeg)
        if accepted:
            await self._count(jpeg, accepted[0])
            return _briefly_cached(jpeg, ages=("s-maxage",))
        return jpeg

    async def _count(self, jpeg: MediaFile, variant: MediaFile) -> None:
        """Count a read that a smaller format would have served, and have that made when there were enough."""
        if not self._reads_needed or await self._reads.count_for_format(variant.path) < self._reads_needed:
            return
        format_: VariantFormat = "avif" if variant.path.endswith(".avif") else "webp"
        self._renditions.make_soon(variant, lambda folder: self._convert(jpeg, format_, folder))

    async def _as_preview(self, preview: MediaFile) -> MediaFile:
        """The picture of a link preview, made from the next larger size; while it cannot be made, what there is."""
        if found := await self._renditions.find(preview):
            return found
        media = await self._rows.find(preview.media_id)
        if media is None:
            raise MediaNotFound
        sizes = [*SIZES, *large_renditions(media.large_width)]
        size = min((size for size in sizes if size >= PREVIEW_SIDE), default=SIZES[0])
        wanted = replace(preview, path=f"{preview.path.removesuffix(PREVIEW)}{size}.jpg")
        source = await self._large.find_or_make(wanted)
        if source.path == wanted.path and await self._renditions.make(
            preview, lambda folder: self._convert(source, "preview", folder)
        ):
            return preview
        return _briefly_cached(source)

    async def _convert(self, jpeg: MediaFile, format_: VariantFormat, folder: Path) -> Path:
        source, out = folder / "source.jpg", folder / f"out.{format_}"
        found, _ = await self._files.locate(jpeg)
        await self._storage.fetch([jpeg.path], source, tier=found.tier)
        await self._pipeline.make_variant(source, out, format_)
        return out


def _in_format(file: MediaFile, format_: VariantFormat) -> MediaFile:
    return replace(
        file, path=f"{file.path.removesuffix('.jpg')}.{format_}", media_type=CONTENT_TYPES[format_]
    )


def _briefly_cached(file: MediaFile, ages: tuple[str, ...] = ("max-age", "s-maxage")) -> MediaFile:
    """What is sent in place of something better, cached for a minute at most: the next request may get that.

    A browser that has the JPEG has no use for the same picture in fewer bytes: then only caches that serve others ask
    again.
    """

    def shorten(age: re.Match[str]) -> str:
        seconds = int(age["seconds"])
        return f"{age['name']}={min(BRIEFLY_S, seconds) if age['name'] in ages else seconds}"

    return replace(file, cache_control=AGE.sub(shorten, file.cache_control))


def _accepts(accept: str, format_: VariantFormat) -> bool:
    """Whether an Accept header names a format, with a weight above zero."""
    for part in accept.lower().split(","):
        name, _, weight = part.replace(" ", "").partition(";")
        if name == f"image/{format_}":
            return not ZERO_WEIGHT.fullmatch(weight)
    return False
