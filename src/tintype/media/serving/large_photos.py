"""Photos at 1440 and 2048 px: made of the original when they are first asked for, with the edit of the author.

Photos of which the edit is not known (`unsized_photos`), or whose original was not kept, have none: what the author
cropped away must not come back in a larger size.
"""

from dataclasses import replace
from pathlib import Path

from tintype.media.dependencies import MediaDependencies
from tintype.media.errors import MediaNotFound
from tintype.media.models import Media
from tintype.media.photos import LARGE_SIZES, SIZES, large_renditions
from tintype.media.serving.files import MediaFile
from tintype.media.serving.renditions import Renditions
from tintype.media.storage.object_storage import ORIGINAL, PRIVATE

LARGE_NAMES = {f"{size}.jpg": size for size in LARGE_SIZES}
ALL_SIZES = (*LARGE_SIZES, *SIZES)


class LargePhotos:
    """Finds large renditions, or makes them."""

    def __init__(self, dependencies: MediaDependencies, renditions: Renditions) -> None:
        self._rows, self._storage = dependencies.rows, dependencies.storage
        self._pipeline, self._renditions = dependencies.pipeline, renditions

    async def find_or_make(self, file: MediaFile) -> MediaFile:
        """The file; while a large one cannot be made, the next smaller. `MediaNotFound` where there is no such size."""
        size = LARGE_NAMES.get(_name(file))
        if size is None:
            return file
        if found := await self._renditions.find(file):
            return found
        media = await self._rows.find(file.media_id)
        if media is None or size not in large_renditions(media.large_width):
            raise MediaNotFound
        if await self._renditions.make(file, lambda folder: self._make(media, size, folder)):
            return file
        return await self.largest(file, below=size)

    async def largest(self, file: MediaFile, *, below: int) -> MediaFile:
        """The widest rendition below a size that exists already."""
        for size in ALL_SIZES:
            smaller = replace(file, path=f"{file.path.rpartition('/')[0]}/{size}.jpg")
            if size < below and (found := await self._renditions.find(smaller)):
                return found
        raise MediaNotFound

    async def _make(self, media: Media, size: int, folder: Path) -> Path:
        original, out = folder / "original", folder / "out" / f"{size}.jpg"
        out.parent.mkdir()
        await self._storage.fetch_anywhere(f"{PRIVATE}/{media.folder}/{ORIGINAL}", original, media.tier)
        width = large_renditions(media.large_width)[size]
        await self._pipeline.make_large_photo(original, out, width, (media.edit or "null").encode())
        return out


def _name(file: MediaFile) -> str:
    return file.path.rpartition("/")[2]
