"""WebP and AVIF variants of our JPEGs, made when a browser first asks for one (content negotiation by `Accept`)."""

import asyncio
import contextlib
import re
from dataclasses import replace

from tintype.base.errors import Unavailable
from tintype.base.log import get_log
from tintype.media.dependencies import MediaDependencies
from tintype.media.errors import MediaNotFound, MediaRefused
from tintype.media.photos import VariantFormat
from tintype.media.serving.files import CONTENT_TYPES, MediaFile, MediaFiles

FORMATS: tuple[VariantFormat, ...] = ("avif", "webp")
"""The smaller one first."""
MAX_CONVERSIONS = 2
BUSY_S = 60
AGE = re.compile(r"(?P<name>max-age|s-maxage)=(?P<seconds>[0-9]+)")
ZERO_WEIGHT = re.compile(r"q=0(\.0*)?")
log = get_log("media")


class Variants:
    """Chooses the smallest format a browser accepts; a few conversions run at once, others get the JPEG for now."""

    def __init__(self, dependencies: MediaDependencies, files: MediaFiles) -> None:
        self._storage, self._pipeline = dependencies.storage, dependencies.pipeline
        self._temporary, self._files, self._usage = dependencies.temporary, files, dependencies.usage
        self._converting: dict[str, asyncio.Task[None]] = {}

    async def choose(self, file: MediaFile, accept: str) -> MediaFile:
        """The same photo in the smallest accepted format, converted now if it never was."""
        if not file.is_negotiated:
            return file
        for format_ in FORMATS:
            if _accepts(accept, format_):
                return await self._in_format(file, format_)
        return file

    async def _in_format(self, file: MediaFile, format_: VariantFormat) -> MediaFile:
        path = f"{file.path.removesuffix('.jpg')}.{format_}"
        variant = replace(file, path=path, media_type=CONTENT_TYPES[format_])
        with contextlib.suppress(MediaNotFound):
            found, _ = await self._files.locate(variant)
            return found
        if path not in self._converting and len(self._converting) >= MAX_CONVERSIONS:
            return _briefly_cached(file)
        task = self._converting.get(path)
        if task is None:
            task = self._converting[path] = asyncio.create_task(self._convert(file, variant, format_))
            task.add_done_callback(lambda _done: self._converting.pop(path, None))
        try:
            await asyncio.shield(task)
        except (MediaRefused, Unavailable) as error:
            log.warning("media.variant_failed", path=path, error=str(error))
            return _briefly_cached(file)
        return variant

    async def _convert(self, file: MediaFile, variant: MediaFile, format_: VariantFormat) -> None:
        with self._temporary.folder() as folder:
            source, out = folder / "source.jpg", folder / f"out.{format_}"
            found, _ = await self._files.locate(file)
            await self._storage.fetch([file.path], source, tier=found.tier)
            await self._pipeline.make_variant(source, out, format_)
            await self._storage.put(variant.path, out, tier=file.tier)
        await self._usage.measure(file.media_id)
        log.debug("media.variant_made", path=variant.path)


def _briefly_cached(file: MediaFile) -> MediaFile:
    """The JPEG, cached for a minute at most: the next request may get a smaller variant."""
    return replace(file, cache_control=AGE.sub(_at_most_busy, file.cache_control))


def _at_most_busy(age: re.Match[str]) -> str:
    return f"{age['name']}={min(BUSY_S, int(age['seconds']))}"


def _accepts(accept: str, format_: VariantFormat) -> bool:
    """Whether an Accept header names a format, with a weight above zero."""
    for part in accept.lower().split(","):
        name, _, weight = part.replace(" ", "").partition(";")
        if name == f"image/{format_}":
            return not ZERO_WEIGHT.fullmatch(weight)
    return False
