"""Makes media of a file that has arrived: its sizes or its poster, the stored objects, the row."""

import asyncio
import contextlib
import secrets
from collections.abc import Generator, Mapping
from dataclasses import replace
from pathlib import Path

import msgspec

from shardwright.routing import Transaction
from tintype.base.errors import RateLimited
from tintype.base.ids import AccountId, MediaId
from tintype.base.log import get_log
from tintype.media import voices
from tintype.media.camera import describe_camera
from tintype.media.conversion_turns import lane_of
from tintype.media.deletion import Deletion
from tintype.media.dependencies import MediaDependencies
from tintype.media.errors import (
    MediaNotFound,
    MediaRefused,
    MediaStoreUnavailable,
    MediaTooLarge,
    MediaUnsupported,
    StorageFull,
)
from tintype.media.events import FurtherVideoReceived, VideoReceived
from tintype.media.models import Media, MediaType
from tintype.media.storage.object_storage import EXIF, ORIGINAL, PRIVATE
from tintype.media.store import QUERIES
from tintype.media.uploads.account_slots import AccountSlots
from tintype.media.uploads.options import UploadOptions, normalise_edit
from tintype.media.uploads.pipeline import ProcessedPhoto
from tintype.media.uploads.spool import Spool

COLUMNS = [name for name in QUERIES.add_media.parameters if name != "size_bytes"]
HEAD_BYTES = 16
log = get_log("media")


class Ingest:
    """Turns files into media. Files are stored before the row: an upload that fails half-way is visible to nobody."""

    def __init__(self, dependencies: MediaDependencies, deletion: Deletion) -> None:
        self._shards, self._outbox, self._rows = dependencies.shards, dependencies.outbox, dependencies.rows
        self._storage, self._pipeline = dependencies.storage, dependencies.pipeline
        self._temporary, self._deletion = dependencies.temporary, deletion
        self._usage, self._slots = dependencies.usage, AccountSlots()
        settings = dependencies.settings
        self._max_bytes: dict[MediaType, int] = {
            "image": settings.media_photo_bytes,
            "video": settings.media_video_bytes,
            "audio": voices.MAX_BYTES,
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

    def detect_type(self, head: bytes) -> MediaType:
        """Whether a file that begins with these bytes is a photo, a video or sound; other formats are refused."""
        return self._pipeline.detect_type(head)

    def _limit_for(self, head: bytes) -> int:
        return self._max_bytes[self.detect_type(head)]

    async def ingest(
        self,
        account_id: AccountId,
        source: Path,
        options: UploadOptions,
        *,
        media_id: MediaId | None = None,
        declared_type: str | None = None,
        is_imported: bool = False,
    ) -> Media:
        """Make every size of a photo, the poster of a video or the sound of a voice message, and store them.

        They are stored under a name nobody can guess.

        With the id of an upload that was finished before, the media it made then are returned. An import is exempt from
        the limits on videos.
        """
        media_type = await self._sniff(source, options)
        if declared_type is not None and declared_type != media_type:
            raise MediaRefused("The file is not of the type that was said.")
        size_bytes = await asyncio.to_thread(_size_of, source)
        limited_type = "image" if is_imported else media_type
        await self._usage.check(account_id, limited_type, size_bytes, upload_id=media_id)
        if media_id is None:
            media_id = await self._rows.draw_id(account_id)
        with self._temporary.folder() as out, self._temporary.folder() as private:
            original = source if _keeps_location(options) else private / ORIGINAL
            async with self._slots.slot(account_id):
                if media_type == "image":
                    processed = await self._process_photo(source, out, original, options)
                elif media_type == "video":
                    processed = await self._process_video(source, out, original)
                else:
                    processed = await self._pipeline.process_voice(source, out)
            media = _new_media(account_id, media_id, media_type, processed, options)
            try:
                size_bytes = await self._store_files(media, original, out, processed)
            except BaseException:
                with contextlib.suppress(MediaStoreUnavailable):  # the sweep finds what stays behind
                    await self._deletion.delete_files(media.folder)
                raise
        # From here on only the sweep deletes files: a commit whose outcome is unknown may have happened.
        try:
            stored = await self._add_row(media, size_bytes, is_imported=is_imported)
        except (StorageFull, RateLimited):
            await self._deletion.delete_files(media.folder)
            raise
        if stored.folder != media.folder:
            await self._deletion.delete_files(media.folder)
        log.info("media.uploaded", media_id=media_id, account_id=account_id, type=media.type)
        return stored

    async def _sniff(self, source: Path, options: UploadOptions) -> MediaType:
        """The type of a file by its content; sound only as a voice message, and nothing else as one."""
        head, size_bytes = await asyncio.to_thread(_read_head, source)
        if options.kind == "voice":
            if voices.detect_container(head) is None:
                raise voices.VoiceUnsupported
            if size_bytes > voices.MAX_BYTES:
                raise MediaTooLarge(size_bytes=size_bytes)
            return "audio"
        if voices.is_sound_alone(head):
            raise MediaUnsupported(begins=head[:16].hex())
        return self._pipeline.sniff(source)

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

    async def _process_photo(
        self, source: Path, out: Path, original: Path, options: UploadOptions
    ) -> ProcessedPhoto:
        """Make the sizes, and unless the location is kept a copy of the original without it."""
        copy = None if options.keep_location else original
        processed = await self._pipeline.process_photo(source, out, bytes(options.edit), original=copy)
        if processed.not_kept_because:
            log.info("media.original_dropped", reason=processed.not_kept_because)
        return processed

    async def _process_video(self, source: Path, out: Path, original: Path) -> ProcessedPhoto:
        """Make the poster, and unless the location is kept a copy of the video without it."""
        processed = await self._pipeline.process_poster(source, out)
        if original == source:
            return processed
        return replace(processed, removed=await self._pipeline.clean_video(source, original))

    async def _store_files(self, media: Media, original: Path, out: Path, processed: ProcessedPhoto) -> int:
        """Store every file, if there is room for all of them; returns how many bytes that are."""
        exif = {**processed.exif, **({"location": processed.location} if media.keeps_location else {})}
        exif_json = msgspec.json.encode(exif)
        private = [] if "original" in processed.removed else [original]
        size_bytes = await asyncio.to_thread(_size_of, out, *private) + len(exif_json)
        await self._usage.check(media.account_id, "image", size_bytes, upload_id=media.id)
        await self._storage.put_all(media.folder, out)
        await self._storage.put(f"{PRIVATE}/{media.folder}/{EXIF}", exif_json)
        for path in private:
            await self._storage.put(f"{PRIVATE}/{media.folder}/{ORIGINAL}", path)
        return size_bytes

    async def _add_row(self, media: Media, size_bytes: int, *, is_imported: bool) -> Media:
        """Add the row, and for a video ask for its conversion; the earlier row if this upload was finished before."""
        columns = {name: getattr(media, name) for name in COLUMNS}
        async with self._shards.owner(media.account_id).begin() as tx:
            row = await tx.fetch_one(QUERIES.add_media, **columns, size_bytes=size_bytes)
            if row is None:
                row = await tx.fetch_one(QUERIES.find_media, id=media.id)
            else:
                await self._count(tx, media, size_bytes, is_imported=is_imported)
        if row is None:
            raise MediaNotFound
        return Media(**row)

    async def _count(self, tx: Transaction, media: Media, size_bytes: int, *, is_imported: bool) -> None:
        """Count new media for their owner, and ask for the conversion of a video, behind those of others."""
        waiting = await self._usage.add(tx, media, size_bytes, has_video_limits=not is_imported)
        if media.type == "video":
            is_first = lane_of(waiting) == "first"
            event = VideoReceived if is_first else FurtherVideoReceived
            await self._outbox.add(tx, event(media.id, media.account_id))


def _new_media(
    account_id: AccountId,
    media_id: MediaId,
    media_type: MediaType,
    processed: ProcessedPhoto,
    options: UploadOptions,
) -> Media:
    """The row of an upload: a photo or voice message is ready at once, a video waits for its conversion."""
    return Media(
        id=media_id,
        account_id=account_id,
        folder=f"{account_id}/{media_id}-{secrets.token_urlsafe(12)}",
        type=media_type,
        state="processing" if media_type == "video" else "ready",
        kind=options.kind,
        width=processed.width,
        height=processed.height,
        placeholder=processed.placeholder,
        duration_ms=processed.duration_ms,
        progress=0 if media_type == "video" else 100,
        keeps_location=_keeps_location(options),
        removed=list(processed.removed),
        edit=normalise_edit(bytes(options.edit)) if media_type == "image" else None,
        camera=_camera(processed.exif),
        waveform=processed.waveform,
        large_width=0 if "original" in processed.removed else processed.large_width,
    )


def _keeps_location(options: UploadOptions) -> bool:
    """Of a voice message nothing is kept but its sound."""
    return options.keep_location and options.kind != "voice"


def _camera(exif: Mapping[str, object]) -> str | None:
    found = describe_camera(exif)
    return None if found is None else msgspec.json.encode(found).decode()


def _read_head(source: Path) -> tuple[bytes, int]:
    """The first bytes of a file, and how many it has."""
    with source.open("rb") as file:
        return file.read(HEAD_BYTES), source.stat().st_size


def _size_of(*paths: Path) -> int:
    """How many bytes these files, and the files in these folders, have together."""
    files = (file for path in paths for file in (path, *path.rglob("*")) if file.is_file())
    return sum(file.stat().st_size for file in files)
