"""What the library does later: convert clips, take files away, and let go of what nobody wanted."""

import asyncio
from collections.abc import Awaitable, Callable

import asyncpg
import msgspec

from shardwright.running import Shards
from tintype.accounts import PrivacyChanged
from tintype.base.errors import Invalid
from tintype.base.ids import AccountId, MediaId
from tintype.base.jobs import Handler, Schedule, on
from tintype.base.log import get_log
from tintype.base.outbox import Outbox
from tintype.media.errors import MediaNotFound, MediaTooSlow
from tintype.media.events import MediaDeleted, MediaReady, VideoReceived
from tintype.media.models import Media
from tintype.media.processing import Processing
from tintype.media.service import ORIGINAL, MediaLibrary
from tintype.media.sql import QUERIES
from tintype.media.storage import PRIVATE, Storage
from tintype.media.uploads import Uploads

BITE = 200
HOUR_S = 3_600.0
log = get_log("media")


class Progress(msgspec.Struct, frozen=True):
    """How far the conversion of a clip is, as told on the bus; best effort, the row is the truth."""

    media_id: str
    account_id: str
    state: str
    progress: int


Tell = Callable[[Progress], Awaitable[None]]


class MediaLater:
    """Handlers and schedules of the library."""

    def __init__(
        self,
        shards: Shards,
        outbox: Outbox,
        storage: Storage,
        *,
        library: MediaLibrary,
        uploads: Uploads,
        processing: Processing,
        tell: Tell,
    ) -> None:
        self._shards, self._outbox, self._storage = shards, outbox, storage
        self._library, self._uploads, self._processing, self._tell = library, uploads, processing, tell

    def handlers(self) -> list[Handler]:
        """What the library does when something has happened."""
        return [
            on(VideoReceived, self.convert, name="media-convert", concurrency=1),
            on(MediaReady, self.forget_original, name="media-forget-original", concurrency=4),
            on(MediaDeleted, self.remove, name="media-remove", concurrency=4),
            on(PrivacyChanged, self._library.forget_privacy, name="media-privacy"),
        ]

    def schedules(self) -> list[Schedule]:
        """What it does by the clock."""
        return [Schedule("media-purge", HOUR_S, self.purge)]

    async def convert(self, event: VideoReceived) -> None:
        """Make a clip playable; one that cannot be is marked with the reason."""
        media = await self._library.find(event.media_id)
        if media is None or media.state != "processing":
            return
        try:
            with self._library.workshop.folder() as folder:
                source, out = folder / "source", folder / "out"
                out.mkdir()
                await self._storage.fetch([f"{PRIVATE}/{media.folder}/{ORIGINAL}"], source, tier=media.tier)
                made = await self._processing.video(source, out, lambda part: self._note(media, part))
                await self._storage.put_all(media.folder, out, tier=media.tier)
        except (Invalid, MediaNotFound) as error:
            await self._fail(media, error.code)
            return
        await self._finish(media, duration_ms=made.duration_ms, has_hls=made.has_hls)

    async def forget_original(self, event: MediaReady) -> None:
        """A camera writes into its clips where it was: once the clip is made, only who asked for it keeps that."""
        media = await self._library.find(event.media_id)
        if media is not None and not media.keeps_location:
            for tier in self._storage.tiers:
                await self._storage.delete([f"{PRIVATE}/{media.folder}/{ORIGINAL}"], tier=tier)

    async def remove(self, event: MediaDeleted) -> None:
        """Files first, then the row: a repeat finds less to do, and nothing is forgotten before it is gone."""
        for number in {self._shards.shard_of(each) for each in event.media_ids}:
            shard = self._shards.shard(number)
            for row in await shard.fetch(QUERIES.list_deleted, ids=event.media_ids):
                await self._library.remove_files(row["folder"])
                try:
                    await shard.execute(QUERIES.forget_media, id=row["id"])
                except asyncpg.ForeignKeyViolationError:
                    log.info("media.still_referenced", media_id=row["id"])  # the purge tries again later

    async def purge(self) -> None:
        """Unposted media, unfinished uploads, half-removed files and stuck conversions come to their end."""
        everywhere = self._shards.everywhere()
        expired = 0
        while rows := (await everywhere.fetch(QUERIES.list_expired, limit=BITE)).rows:
            ids = [MediaId(row["id"]) for row in rows]
            expired += await self._library.delete(ids, only_unposted=True)
        uploads = await self._uploads.end_expired()
        for row in await everywhere.fetch(QUERIES.list_unsettled, limit=BITE):
            if row["state"] == "deleted":
                await self.remove(MediaDeleted([MediaId(row["id"])]))
            elif media := await self._library.find(MediaId(row["id"])):
                await self._fail(media, MediaTooSlow.code)
        left_behind = await asyncio.to_thread(self._library.workshop.tidy)
        log.info("media.purged", media=expired, uploads=uploads, left_behind=left_behind)

    async def _finish(self, media: Media, *, duration_ms: int, has_hls: bool) -> None:
        async with self._shards.owner(media.id).begin() as tx:
            row = await tx.fetch_one(
                QUERIES.finish_video, id=media.id, duration_ms=duration_ms, has_hls=has_hls
            )
            if row is None:
                return
            await self._outbox.add(tx, MediaReady(media.id, media.account_id))
        await self._library.forget_cards([media.id])
        await self._tell(_progress(media, "ready", 100))
        log.info("media.converted", media_id=media.id)

    async def _fail(self, media: Media, code: str) -> None:
        if await self._shards.owner(media.id).fetch_one(QUERIES.fail_media, id=media.id, error=code):
            await self._library.forget_cards([media.id])
            await self._tell(_progress(media, "failed", media.progress))
            log.info("media.failed", media_id=media.id, code=code)

    async def _note(self, media: Media, part: int) -> None:
        await self._shards.owner(media.id).execute(QUERIES.set_progress, id=media.id, progress=part)
        await self._tell(_progress(media, "processing", part))


def _progress(media: Media, state: str, part: int) -> Progress:
    account_id: AccountId = media.account_id
    return Progress(str(media.id), str(account_id), state, part)
