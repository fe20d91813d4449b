"""Makes media of a file that has arrived: its sizes or its poster, the stored objects, the row."""

import asyncio
import contextlib
import secrets
import shutil
from collections.abc import Generator
from pathlib import Path

import msgspec

from tintype.base.ids import AccountId, MediaId
from tintype.base.log import get_log
from tintype.media.deletion import Deletion
from tintype.media.dependencies import MediaDependencies
from tintype.media.errors import MediaNotFound, MediaRefused, MediaStoreUnavailable
from tintype.media.events import VideoReceived
from tintype.media.models import Media, MediaType
from tintype.media.storage.object_storage import EXIF, ORIGINAL, PRIVATE
from tintype.media.store import QUERIES
from tintype.media.temporary_files import disk_errors_as_unavailable
from tintype.media.uploads.gps_stripping import strip_gps
from tintype.media.uploads.options import UploadOptions
from tintype.media.uploads.pipeline import ProcessedPhoto
from tintype.media.uploads.spool import Spool

COLUMNS = QUERIES.add_media.parameters
log = get_log("media")


class Ingest:
    """Turns files into media. Files are stored before the row: an upload that fails half-way is visible to nobody."""

    def __init__(self, dependencies: MediaDependencies, deletion: Deletion) -> None:
        self._shards, self._outbox, self._rows = dependencies.shards, dependencies.outbox, dependencies.rows
        self._storage, self._pipeline = dependencies.storage, dependencies.pipeline
        self._temporary, self._deletion = dependencies.temporary, deletion
        settings = dependencies.settings
        self._max_bytes: dict[MediaType, int] = {
            "image": settings.media_photo_bytes,
            "video": settings.media_video_bytes,
        }

    @property
    def max_bytes(self) -> int:
        """The size of the largest file that is accepted at all."""
        return max(self._max_bytes.values())

    @contextlib.contextmanager
    def spool(self) -> Generator[Spool]:
        """A temporary file to receive an upload in; it refuses a file that is too large for its type."""
        with (
            self._temporary.folder() as folder,
            contextlib.closing(Spool(folder / "upload", self._limit_for)) as spool,
        ):
            yield spool

    def _limit_for(self, head: bytes) -> int:
        return self._max_bytes[self._pipeline.detect_type(head)]

    async def ingest(
        self,
        account_id: AccountId,
        source: Path,
        options: UploadOptions,
        *,
        media_id: MediaId | None = None,
        declared_type: str | None = None,
    ) -> Media:
        """Make every size of a photo, or the poster of a video, and store them under a name nobody can guess.

        With the id of an upload that was finished before, the media it made then are returned.
        """
        media_type = self._pipeline.sniff(source)
        if declared_type is not None and declared_type != media_type:
            raise MediaRefused("The file is not of the type that was said.")
        if media_id is None:
            media_id = await self._rows.draw_id(account_id)
        with self._temporary.folder() as out:
            if media_type == "image":
                processed = await self._pipeline.process_photo(source, out, bytes(options.edit))
            else:
                processed = await self._pipeline.process_poster(source, out)
            media = _new_media(account_id, media_id, media_type, processed, options)
            try:
                await self._store_files(media, source, out, processed)
            except BaseException:
                with contextlib.suppress(MediaStoreUnavailable):  # the sweep finds what stays behind
                    await self._deletion.delete_files(media.folder)
                raise
        # From here on only the sweep deletes files: a commit whose outcome is unknown may have happened.
        stored = await self._add_row(media)
        if stored.folder != media.folder:
            await self._deletion.delete_files(media.folder)
        log.info("media.uploaded", media_id=media_id, account_id=account_id, type=media.type)
        return stored

    async def edit(self, media: Media, edit: msgspec.Raw) -> Media:
        """Another upload of the same photo, made from its original with this edit; the first stays as it is."""
        if media.type != "image":
            raise MediaRefused("Only photos can be edited.")
        original = await self._storage.open_anywhere(f"{PRIVATE}/{media.folder}/{ORIGINAL}", media.tier)
        with self.spool() as spool:
            async for chunk in original.chunks:
                spool.write(chunk)
            spool.close()
            options = UploadOptions(kind=media.kind, keep_location=media.keeps_location, edit=edit)
            return await self.ingest(media.account_id, spool.path, options)

    async def _store_files(self, media: Media, source: Path, out: Path, processed: ProcessedPhoto) -> None:
        await self._storage.put_all(media.folder, out)
        exif = {**processed.exif, **({"location": processed.location} if media.keeps_location else {})}
        await self._storage.put(f"{PRIVATE}/{media.folder}/{EXIF}", msgspec.json.encode(exif))
        original = f"{PRIVATE}/{media.folder}/{ORIGINAL}"
        if media.type == "video" or media.keeps_location:
            await self._storage.put(original, source)
            return
        with self._temporary.folder() as folder, disk_errors_as_unavailable():
            copy = folder / "original"
            await asyncio.to_thread(shutil.copyfile, source, copy)
            if await asyncio.to_thread(strip_gps, copy):
                await self._storage.put(original, copy)

    async def _add_row(self, media: Media) -> Media:
        """Add the row, and for a video ask for its conversion; the earlier row if this upload was finished before."""
        columns = {name: getattr(media, name) for name in COLUMNS}
        async with self._shards.owner(media.account_id).begin() as tx:
            row = await tx.fetch_one(QUERIES.add_media, **columns)
            if row is None:
                row = await tx.fetch_one(QUERIES.find_media, id=media.id)
            elif media.type == "video":
                await self._outbox.add(tx, VideoReceived(media.id, media.account_id))
        if row is None:
            raise MediaNotFound
        return Media(**row)


def _new_media(
    account_id: AccountId,
    media_id: MediaId,
    media_type: MediaType,
    processed: ProcessedPhoto,
    options: UploadOptions,
) -> Media:
    """The row of an upload: a photo is ready at once, a video waits for its conversion."""
    return Media(
        id=media_id,
        account_id=account_id,
        folder=f"{account_id}/{media_id}-{secrets.token_urlsafe(12)}",
        type=media_type,
        state="ready" if media_type == "image" else "processing",
        kind=options.kind,
        width=processed.width,
        height=processed.height,
        placeholder=processed.placeholder,
        duration_ms=processed.duration_ms,
        progress=100 if media_type == "image" else 0,
        keeps_location=options.keep_location,
    )
