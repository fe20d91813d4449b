"""The media room's facade: upload, attach, serve and delete photos and videos."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from pathlib import Path

import msgspec
from redis.asyncio import Redis

from shardwright.routing import Shards, Transaction
from tintype.accounts import Accounts
from tintype.base.ids import AccountId, MediaId
from tintype.base.jobs import Handler, Schedule
from tintype.base.listeners import Listeners
from tintype.base.outbox import Outbox
from tintype.base.personal_data import PersonalDataHolder
from tintype.base.settings import Settings
from tintype.media import attachments
from tintype.media.avatars import Avatars
from tintype.media.deletion import Deletion
from tintype.media.dependencies import build_dependencies
from tintype.media.errors import MediaPosted
from tintype.media.jobs import MediaJobs, PublishProgress
from tintype.media.models import Audience, Media, MediaKind, MediaType
from tintype.media.personal_data import MediaPersonalData
from tintype.media.serving.files import MediaFile, MediaFiles
from tintype.media.serving.signed_urls import MediaUrls
from tintype.media.serving.variants import Variants
from tintype.media.storage.object_storage import EXIF, ORIGINAL, PRIVATE, ObjectStorage, ObjectStream
from tintype.media.storage.sweep import OnAccount, Sweeper, SweepReport
from tintype.media.storage.tiers import OnProgress, TierMoves, Tiers
from tintype.media.store import QUERIES
from tintype.media.stored_originals import StoredOriginals
from tintype.media.unsized_photos import UnsizedPhotos
from tintype.media.uploads.ingest import Ingest
from tintype.media.uploads.options import UploadOptions
from tintype.media.uploads.resumable import ResumableUploads
from tintype.media.uploads.spool import Spool
from tintype.redis.leased_cache import LeasedCache


class MediaLibrary:
    """Every photo and video of every account, from the upload to its deletion."""

    def __init__(
        self,
        shards: Shards,
        outbox: Outbox,
        redis: Redis,
        cache: LeasedCache,
        accounts: Accounts,
        *,
        settings: Settings,
        publish_progress: PublishProgress,
    ) -> None:
        parts = build_dependencies(
            settings, shards, redis=redis, cache=cache, outbox=outbox, accounts=accounts
        )
        self._rows, self._temporary, self._visibility = parts.rows, parts.temporary, parts.visibility
        self._storage, self._urls, self._changed = parts.storage, parts.urls, parts.changed
        self._deletion = Deletion(parts)
        self._ingest = Ingest(parts, self._deletion)
        self.uploads = ResumableUploads(parts, self._ingest)
        """Uploads in progress, in parts or straight into S3."""
        self._avatars = Avatars(parts, self._deletion)
        self.usage = parts.usage
        """What accounts store, and how much they may."""
        self._files = MediaFiles(parts)
        self._variants = Variants(parts, self._files)
        self._tiers = Tiers(parts)
        self._sweeper = Sweeper(parts, self._deletion)
        self.personal_data: PersonalDataHolder = MediaPersonalData(parts, self._deletion, self.uploads)
        self._originals, self._unsized = StoredOriginals(parts), UnsizedPhotos(parts)
        self._jobs = MediaJobs(
            parts, deletion=self._deletion, uploads=self.uploads, publish_progress=publish_progress
        )

    @property
    def urls(self) -> MediaUrls:
        """Makes the URLs under which files are served."""
        return self._urls

    @property
    def storage(self) -> ObjectStorage:
        """The object stores, for rooms that store files of another kind (exports)."""
        return self._storage

    @property
    def changed(self) -> Listeners[Sequence[MediaId]]:
        """Called after media changed that somebody may show already, such as a video that is ready now."""
        return self._changed

    # Uploads

    @property
    def max_upload_bytes(self) -> int:
        """The size of the largest file that is accepted at all."""
        return self._ingest.max_bytes

    def spool(self) -> AbstractContextManager[Spool]:
        """A temporary file to receive an upload in; it refuses a file that is too large for its type."""
        return self._ingest.spool()

    def temporary_folder(self) -> AbstractContextManager[Path]:
        """A temporary folder for the length of the block."""
        return self._temporary.folder()

    async def upload(
        self,
        account_id: AccountId,
        source: Path,
        options: UploadOptions | None = None,
        *,
        declared_type: str | None = None,
        is_imported: bool = False,
    ) -> Media:
        """Make media of a file: photos are ready at once, videos after their conversion. Unposted ones expire.

        Refused when the file's content is not of the declared type, if one is given (`image` or `video`). Limits on how
        many videos may wait and how long a day's may be do not apply to an import.
        """
        return await self._ingest.ingest(
            account_id,
            source,
            options or UploadOptions(),
            declared_type=declared_type,
            is_imported=is_imported,
        )

    def detect_type(self, head: bytes) -> MediaType:
        """Whether a file that begins with these bytes is a photo or a video; other formats are refused."""
        return self._ingest.detect_type(head)

    async def edit(self, media_id: MediaId, edit: msgspec.Raw, *, owner: AccountId) -> Media:
        """Make another upload from a photo's original with this edit; the first one stays as it is."""
        return await self._ingest.edit(await self.get(media_id, owner=owner), edit)

    # Media of an account

    async def get(self, media_id: MediaId, *, owner: AccountId) -> Media:
        """Media of this account that are not deleted, neither by themselves nor with their post, and have not ended."""
        media = await self._rows.get(media_id, owner=owner)
        await self._files.choose_audience(media)
        return media

    async def find(self, media_id: MediaId) -> Media | None:
        """Media of anybody, in whatever state."""
        return await self._rows.find(media_id)

    async def open_original(self, media_id: MediaId, *, owner: AccountId) -> ObjectStream:
        """The file as it was uploaded, for its owner."""
        return await self._open_private(media_id, ORIGINAL, owner)

    async def read_exif(self, media_id: MediaId, *, owner: AccountId) -> msgspec.Raw:
        """What the camera wrote, for its owner."""
        opened = await self._open_private(media_id, EXIF, owner)
        return msgspec.Raw(b"".join([chunk async for chunk in opened.chunks]))

    async def _open_private(self, media_id: MediaId, name: str, owner: AccountId) -> ObjectStream:
        media = await self.get(media_id, owner=owner)
        return await self._storage.open_anywhere(f"{PRIVATE}/{media.folder}/{name}", media.tier)

    async def choose_audience(self, media: Media) -> Audience:
        """For whom to sign the URLs of media that are shown to their owner."""
        return await self._files.choose_audience(media)

    async def set_avatar(self, account_id: AccountId, media_id: MediaId) -> None:
        """Show an uploaded photo as the account's avatar, and delete the previous one."""
        await self._avatars.set(account_id, media_id)

    async def remove_avatar(self, account_id: AccountId) -> None:
        """Show no avatar, and delete the one that was shown."""
        await self._avatars.remove(account_id)

    # Media of posts and stories

    async def attach(
        self,
        tx: Transaction,
        account_id: AccountId,
        media_ids: Sequence[MediaId],
        *,
        to: int,
        kind: MediaKind | None = None,
        max_duration_ms: int | None = None,
        lifetime: timedelta | None = None,
        with_voice: bool = False,
    ) -> list[Media]:
        """Attach an account's uploads to the post, story or message with the id `to`, in the transaction that adds it.

        Returns the attached media in the order given; what is somebody else's, expired, failed, in use already, of
        another kind or too long is missing, and a voice message unless `with_voice`. With a lifetime the media end that
        long after `to` was made.
        """
        attached = await attachments.attach(
            tx,
            account_id,
            media_ids,
            to=to,
            kind=kind,
            max_duration_ms=max_duration_ms,
            lifetime=lifetime,
            with_voice=with_voice,
        )
        self._visibility.invalidate_after_commit(tx, [each.id for each in attached])
        return attached

    async def keep_unposted(
        self, tx: Transaction, account_id: AccountId, media_ids: Sequence[MediaId], until: datetime
    ) -> int:
        """Keep uploads that are to be posted later at least until this time; returns how many could be posted now."""
        rows = await tx.fetch(QUERIES.keep_unposted, ids=list(media_ids), account_id=account_id, until=until)
        self._visibility.invalidate_after_commit(tx, [MediaId(row["id"]) for row in rows])
        return len(rows)

    async def forget_access(self, media_ids: Sequence[MediaId]) -> None:
        """Drop the cached access records of media that a statement has attached to a post."""
        await self._visibility.invalidate(media_ids)

    async def change_visibility(self, tx: Transaction, media_ids: Sequence[MediaId]) -> None:
        """Call this in a transaction that changes who may see the post or story that shows these media.

        Once it has committed, their files open or do not open accordingly, and edge caches drop their copies.
        """
        await self._visibility.announce(tx, media_ids)

    async def set_lifetime(
        self, tx: Transaction, media_ids: Sequence[MediaId], lifetime: timedelta | None
    ) -> None:
        """Attached media end this long after their story was made; with None they never end (a highlight)."""
        await tx.execute(QUERIES.set_lifetime, ids=list(media_ids), lifetime=lifetime)

    # Deletion

    async def discard(self, media_id: MediaId, *, owner: AccountId) -> None:
        """Delete an upload that was not posted; posted media are deleted with their post."""
        await self.get(media_id, owner=owner)
        if not await self.delete([media_id], only_unposted=True):
            raise MediaPosted

    async def delete(self, media_ids: Sequence[MediaId], *, only_unposted: bool = False) -> int:
        """Delete media for everybody at once, and their files soon after; returns how many there were."""
        return await self._deletion.delete(media_ids, only_unposted=only_unposted)

    async def delete_in(
        self, tx: Transaction, media_ids: Sequence[MediaId], *, only_unposted: bool = False
    ) -> int:
        """Delete media in a transaction on their shard, such as the one that deletes their post."""
        return await self._deletion.delete_in(tx, media_ids, only_unposted=only_unposted)

    async def delete_all_of(self, account_id: AccountId) -> int:
        """Delete everything an account uploaded; returns how many media that were. Safe to repeat."""
        return await self._deletion.delete_all_of(account_id)

    # Serving

    async def find_file(self, path: str, accept: str, *, reader: AccountId | None = None) -> MediaFile:
        """The file at a path below /media/, in the smallest format that an Accept header allows.

        `reader` is the account that the request authenticated as, if it is to open files of its own.
        """
        return await self._variants.choose(await self._files.find(path, reader=reader), accept)

    async def close(self) -> None:
        """Wait for files that are being made in the background."""
        await self._variants.close()

    async def locate_file(self, file: MediaFile) -> tuple[MediaFile, int]:
        """The file in the store it was found in, and its size."""
        return await self._files.locate(file)

    async def open_file(self, file: MediaFile, part: tuple[int, int] | None = None) -> ObjectStream:
        """The bytes of a file, or those from the first to before the second offset."""
        return await self._files.open(file, part)

    async def invalidate(self, media_ids: Sequence[MediaId]) -> None:
        """Drop what is cached of these media, here and with those who listen."""
        await self._changed.notify(media_ids)

    # Upkeep

    async def sweep(
        self, *, fix: bool = False, on_account: OnAccount = lambda _done, _all: None
    ) -> SweepReport:
        """Compare rows with files; with `fix`, delete orphaned files and mark media without files as lost."""
        return await self._sweeper.sweep(fix=fix, on_account=on_account)

    async def move_tiers(self, on_progress: OnProgress = lambda _moves: None) -> TierMoves:
        """Move media to the store that their age and use call for."""
        return await self._tiers.run(on_progress)

    def handlers(self) -> list[Handler]:
        """What the room does when something has happened."""
        return [*self._jobs.handlers(), *self._visibility.handlers(), *self._tiers.handlers()]

    def schedules(self) -> list[Schedule]:
        """What the room does by the clock."""
        return [
            *self._jobs.schedules(),
            *self._tiers.schedules(),
            *self._sweeper.schedules(),
            *self._originals.schedules(),
            *self._unsized.schedules(),
        ]
