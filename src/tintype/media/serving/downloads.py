"""What others download of a photo whose author allows it: the original, or the photo as its author edited it.

The original is given where it tells no more than the post does: it was not edited, and has no location any more. In
every other case it is the largest rendition.
"""

from dataclasses import replace

from tintype.media.dependencies import MediaDependencies
from tintype.media.errors import MediaNotFound
from tintype.media.models import Media
from tintype.media.photos import SIZES, detect_format, large_renditions
from tintype.media.serving.files import CONTENT_TYPES, MediaFile, MediaFiles
from tintype.media.serving.large_photos import LargePhotos
from tintype.media.storage.object_storage import ORIGINAL, PRIVATE

HEAD_BYTES = 4096


class Downloads:
    """Finds the file behind `/media/…/original`."""

    def __init__(self, dependencies: MediaDependencies, files: MediaFiles, large: LargePhotos) -> None:
        self._rows, self._storage = dependencies.rows, dependencies.storage
        self._files, self._large = files, large

    async def choose(self, file: MediaFile) -> MediaFile:
        """The file to send, with the name and type of its content."""
        media = await self._rows.find(file.media_id)
        if media is None or media.type != "image":
            raise MediaNotFound
        if may_give_original(media):
            return await self._original(replace(file, path=f"{PRIVATE}/{media.folder}/{ORIGINAL}"))
        size = max([SIZES[0], *large_renditions(media.large_width)])
        found = await self._large.find_or_make(replace(file, path=f"{media.folder}/{size}.jpg"))
        return replace(found, media_type=CONTENT_TYPES["jpg"], download_name=f"{file.download_name}.jpg")

    async def _original(self, file: MediaFile) -> MediaFile:
        found, size_bytes = await self._files.locate(file)
        opened = await self._storage.open(found.path, tier=found.tier, part=(0, min(HEAD_BYTES, size_bytes)))
        format_ = detect_format(b"".join([chunk async for chunk in opened.chunks]))
        name = f"{file.download_name}.{format_.extension}"
        return replace(found, media_type=f"image/{format_.value}", download_name=name)


def may_give_original(media: Media) -> bool:
    """Whether a photo's original may be given to others: known to be unedited, kept, and without its location.

    What its owner keeps with the location stays the owner's own.
    """
    return bool(media.large_width) and media.edit is None and not media.keeps_location
