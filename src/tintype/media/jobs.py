"""The room's background work: video conversion, deletion of files, and the hourly purge of what expired."""

import asyncio
from collections.abc import Awaitable, Callable

import msgspec

from tintype.base.errors import Invalid
from tintype.base.ids import MediaId
from tintype.base.jobs import Handler, Schedule, on
from tintype.base.log import get_log
from tintype.media.conversion_turns import ConversionTurns, Lane
from tintype.media.deletion import Deletion
from tintype.media.dependencies import MediaDependencies
from tintype.media.errors import MediaNotFound, MediaTooSlow
from tintype.media.events import FurtherVideoReceived, MediaDeleted, MediaReady, VideoReceived
from tintype.media.models import Media
from tintype.media.storage.object_storage import ORIGINAL, PRIVATE
from tintype.media.store import QUERIES
from tintype.media.uploads.resumable import ResumableUploads

BATCH = 200
HOUR_S = 3_600.0
HELD_AT_ONCE = 2
"""One is converted, the next waits for its turn: so it is seen before a further video of somebody gets one."""
log = get_log("media")


class ConversionProgress(msgspec.Struct, frozen=True):
    """How far the conversion of a video is, as published over NATS; best effort, the row is the truth."""

    media_id: str
    account_id: str
    state: str
    progress: int


PublishProgress = Callable[[ConversionProgress], Awaitable[None]]


class MediaJobs:
    """Handlers of the room's events, and its purge."""

    def __init__(
        self,
        dependencies: MediaDependencies,
        *,
        deletion: Deletion,
        uploads: ResumableUploads,
        publish_progress: PublishProgress,
    ) -> None:
        self._shards, self._outbox, self._rows = dependencies.shards, dependencies.outbox, dependencies.rows
        self._storage, self._pipeline = dependencies.storage, dependencies.pipeline
        self._changed = dependencies.changed
        self._temporary = dependencies.temporary
        self._usage, self._turns = dependencies.usage, ConversionTurns()
        self._deletion, self._uploads, self._publish_progress = deletion, uploads, publish_progress

    def handlers(self) -> list[Handler]:
        """What the room does when something has happened."""
        return [
            on(VideoReceived, self.convert_video, name="media-convert", concurrency=HELD_AT_ONCE),
            on(FurtherVideoReceived, self.convert_further_video, name="media-convert-further", concurrency=1),
            on(MediaReady, self.delete_original, name="media-forget-original", concurrency=4),
            on(MediaDeleted, self._deletion.purge_deleted, name="media-remove", concurrency=4),
        ]

    def schedules(self) -> list[Schedule]:
        """What the room does by the clock."""
        return [
            Schedule("media-purge", HOUR_S, self.purge),
            Schedule("media-measure", HOUR_S, self.measure),
        ]

    async def convert_video(self, event: VideoReceived) -> None:
        """Make a video playable; one that cannot be converted is marked as failed, with the reason."""
        await self._convert_in_turn(event.media_id, "first")

    async def convert_further_video(self, event: FurtherVideoReceived) -> None:
        """The same for a video of somebody who has others waiting: after those of other people."""
        await self._convert_in_turn(event.media_id, "further")

    async def _convert_in_turn(self, media_id: MediaId, lane: Lane) -> None:
        async with self._turns.turn(lane):
            await self._convert(media_id)

    async def _convert(self, media_id: MediaId) -> None:
        media = await self._rows.find(media_id)
        if media is None or media.state != "processing":
            return
        try:
            with self._temporary.folder() as folder:
                source, out = folder / "source", folder / "out"
                out.mkdir()
                await self._storage.fetch([f"{PRIVATE}/{media.folder}/{ORIGINAL}"], source, tier=media.tier)
                made = await self._pipeline.convert_video(
                    source, out, lambda percent: self._record_progress(media, percent)
                )
                await self._storage.put_all(media.folder, out, tier=media.tier)
        except (Invalid, MediaNotFound) as error:
            await self._fail(media, error.code)
            return
        await self._usage.measure(media.id)
        await self._finish(media, duration_ms=made.duration_ms, has_hls=made.has_hls)

    async def delete_original(self, event: MediaReady) -> None:
        """Delete the original of a converted video, which says where it was recorded, unless its owner keeps that."""
        media = await self._rows.find(event.media_id)
        if media is not None and not media.keeps_location:
            for tier in self._storage.tiers:
                await self._storage.delete([f"{PRIVATE}/{media.folder}/{ORIGINAL}"], tier=tier)
            await self._usage.measure(media.id)

    async def purge(self) -> None:
        """Delete expired uploads and half-deleted media, and fail conversions that no worker finished."""
        everywhere = self._shards.everywhere()
        expired = 0
        while rows := (await everywhere.fetch(QUERIES.list_expired, limit=BATCH)).rows:
            ids = [MediaId(row["id"]) for row in rows]
            expired += await self._deletion.delete(ids, only_unposted=True)
        uploads = await self._uploads.delete_expired()
        for row in await everywhere.fetch(QUERIES.list_unsettled, limit=BATCH):
            if row["state"] == "deleted":
                await self._deletion.purge_deleted(MediaDeleted([MediaId(row["id"])]))
            elif media := await self._rows.find(MediaId(row["id"])):
                await self._fail(media, MediaTooSlow.code)
        leftovers = await asyncio.to_thread(self._temporary.delete_leftovers)
        log.info("media.purged", media=expired, uploads=uploads, left_behind=leftovers)

    async def measure(self) -> None:
        """Measure media that an earlier release has stored without their size."""
        measured = await self._usage.measure_unmeasured()
        if measured:
            log.info("media.measured", media=measured)

    async def _finish(self, media: Media, *, duration_ms: int, has_hls: bool) -> None:
        async with self._shards.owner(media.id).begin() as tx:
            row = await tx.fetch_one(
                QUERIES.finish_video, id=media.id, duration_ms=duration_ms, has_hls=has_hls
            )
            if row is None:
                return
            await self._outbox.add(tx, MediaReady(media.id, media.account_id))
        await self._changed.notify([media.id])
        await self._publish_progress(_progress(media, "ready", 100))
        log.info("media.converted", media_id=media.id)

    async def _fail(self, media: Media, code: str) -> None:
        if await self._shards.owner(media.id).fetch_one(QUERIES.fail_media, id=media.id, error=code):
            await self._changed.notify([media.id])
            await self._publish_progress(_progress(media, "failed", media.progress))
            log.info("media.failed", media_id=media.id, code=code)

    async def _record_progress(self, media: Media, percent: int) -> None:
        await self._shards.owner(media.id).execute(QUERIES.set_progress, id=media.id, progress=percent)
        await self._publish_progress(_progress(media, "processing", percent))


def _progress(media: Media, state: str, percent: int) -> ConversionProgress:
    return ConversionProgress(str(media.id), str(media.account_id), state, percent)
