"""Takes pictures and clips in, keeps their files, and lets go of them."""

import asyncio
import contextlib
import secrets
import shutil
from collections.abc import Awaitable, Callable, Generator, Sequence
from datetime import datetime
from pathlib import Path

import msgspec

from shardwright.running import Shards, Transaction
from tintype.accounts import PrivacyChanged
from tintype.base.ids import AccountId, MediaId, has_shard
from tintype.base.log import get_log
from tintype.base.outbox import Outbox
from tintype.media.addresses import Addresses
from tintype.media.cards import Cards
from tintype.media.errors import MediaNotFound, MediaRefused
from tintype.media.events import MediaDeleted, VideoReceived
from tintype.media.failures import MediaPosted, MediaStoreUnavailable
from tintype.media.models import Media, MediaType, Wish
from tintype.media.places import forget_place
from tintype.media.processing import MadePhoto, Processing
from tintype.media.sql import QUERIES
from tintype.media.storage import PRIVATE, Opened, Storage
from tintype.media.workshop import Spool, Workshop, telling_full_disk

ORIGINAL, EXIF = "original", "exif.json"
BITE = 100
Listener = Callable[[Sequence[MediaId]], Awaitable[None]]
log = get_log("media")


class MediaLibrary:
    """Media of accounts: every picture and clip, from the upload to its end."""

    def __init__(
        self,
        shards: Shards,
        outbox: Outbox,
        storage: Storage,
        *,
        cards: Cards,
        workshop: Workshop,
        processing: Processing,
        addresses: Addresses,
        limits: dict[MediaType, int],
    ) -> None:
        self._shards, self._outbox, self._storage, self._cards = shards, outbox, storage, cards
        self._processing, self._limits = processing, limits
        self._listeners: list[Listener] = []
        self.workshop, self.addresses = workshop, addresses

    @property
    def most_bytes(self) -> int:
        """The size of the largest file that is taken at all."""
        return max(self._limits.values())

    @contextlib.contextmanager
    def spool(self) -> Generator[Spool]:
        """A place for a file that arrives; it refuses what is too large for what it is."""
        with (
            self.workshop.folder() as folder,
            contextlib.closing(Spool(folder / "upload", self._limit_of)) as spool,
        ):
            yield spool

    def _limit_of(self, head: bytes) -> int:
        return self._limits[self._processing.type_of(head)]

    def type_of(self, source: Path) -> MediaType:
        """What a file is, by its content."""
        return self._processing.sniff(source)

    async def upload(
        self,
        account_id: AccountId,
        source: Path,
        wish: Wish | None = None,
        *,
        media_id: MediaId | None = None,
    ) -> Media:
        """Make every size of a photo, or the poster of a clip, and keep them under a name nobody can guess.

        Files first, the row last: what fails half-way is seen by nobody, and taken away.
        """
        if media_id is None:
            media_id = MediaId(await self._shards.owner(account_id).fetch_value(QUERIES.draw_media_id))
        with self.workshop.folder() as out:
            media, made = await self._make(account_id, media_id, source, out, wish or Wish())
            try:
                await self._put_all(media, source, out, made)
            except BaseException:
                with contextlib.suppress(MediaStoreUnavailable):  # the sweeper finds what stays behind
                    await self.remove_files(media.folder)
                raise
        # From here on only the sweeper takes files away: a commit whose outcome is unknown may have happened.
        kept = await self._add(media)
        if kept.folder != media.folder:
            await self.remove_files(media.folder)
        log.info("media.uploaded", media_id=media_id, account_id=account_id, type=media.type)
        return kept

    async def get(self, media_id: MediaId, *, owner: AccountId) -> Media:
        """Media as their owner sees them."""
        media = await self.find(media_id)
        if media is None or media.account_id != owner or media.state == "deleted":
            raise MediaNotFound
        return media

    async def find(self, media_id: MediaId) -> Media | None:
        """Media in whatever state."""
        if not has_shard(self._shards, media_id):
            return None
        row = await self._shards.owner(media_id).fetch_one(QUERIES.find_media, id=media_id)
        return None if row is None else Media(**row)

    async def drop(self, media_id: MediaId, *, owner: AccountId) -> None:
        """An upload that was not posted is gone; posted media go with their post."""
        await self.get(media_id, owner=owner)
        if not await self.delete([media_id], only_unposted=True):
            raise MediaPosted

    async def open_original(self, media_id: MediaId, *, owner: AccountId) -> Opened:
        """The file as it was sent, for its owner alone."""
        media = await self.get(media_id, owner=owner)
        return await self._storage.open_anywhere(f"{PRIVATE}/{media.folder}/{ORIGINAL}", media.tier)

    async def edit(self, media_id: MediaId, edit: msgspec.Raw, *, owner: AccountId) -> Media:
        """Another upload of the same photo, edited like this; the one it was made of stays as it is."""
        media = await self.get(media_id, owner=owner)
        if media.type != "image":
            raise MediaRefused("Only photos can be edited.")
        opened = await self.open_original(media_id, owner=owner)
        with self.spool() as spool:
            async for chunk in opened.chunks:
                spool.write(chunk)
            spool.close()
            wish = Wish(kind=media.kind, keep_location=media.keeps_location, edit=edit)
            return await self.upload(owner, spool.path, wish)

    async def read_exif(self, media_id: MediaId, *, owner: AccountId) -> msgspec.Raw:
        """What the camera wrote, for the owner alone."""
        media = await self.get(media_id, owner=owner)
        opened = await self._storage.open_anywhere(f"{PRIVATE}/{media.folder}/{EXIF}", media.tier)
        return msgspec.Raw(b"".join([chunk async for chunk in opened.chunks]))

    async def set_end(self, media_ids: Sequence[MediaId], ends_at: datetime) -> None:
        """These belong to a story: nobody may keep a copy past its end."""
        for shard in {self._shards.owner(each).number for each in media_ids}:
            await self._shards.shard(shard).execute(QUERIES.set_end, ids=list(media_ids), ends_at=ends_at)
        await self._cards.forget(media_ids)

    async def is_private(self, account_id: AccountId) -> bool:
        """Whether an account's files open only with a signature."""
        return bool(
            await self._shards.owner(account_id).fetch_value(QUERIES.is_private, account_id=account_id)
        )

    async def forget_privacy(self, change: PrivacyChanged) -> None:
        """An account became private or public: its files are asked about anew."""
        await self._cards.forget_account(change.account_id)

    async def keep_as_avatar(self, account_id: AccountId, media_id: MediaId) -> str:
        """The folder of an uploaded picture of one's own, which expires no more and cannot be posted."""
        folder = await self._shards.owner(account_id).fetch_value(
            QUERIES.keep_as_avatar, account_id=account_id, media_id=media_id
        )
        if folder is None:
            raise MediaNotFound
        await self._cards.forget([media_id])
        return folder

    async def let_go(self, account_id: AccountId, folder: str) -> None:
        """A picture that is shown nowhere any more goes, with its files."""
        rows = await self._shards.owner(account_id).fetch(
            QUERIES.find_avatar, account_id=account_id, folder=folder
        )
        await self.delete([MediaId(row["id"]) for row in rows], only_unposted=True)

    async def forget_cards(self, media_ids: Sequence[MediaId]) -> None:
        """What is remembered of these, here and by those who listen, is no longer true."""
        await self._cards.forget(media_ids)
        for listener in self._listeners:
            await listener(media_ids)

    def listen(self, listener: Listener) -> None:
        """Call this, too, whenever media change that somebody may show already."""
        self._listeners.append(listener)

    async def delete(self, media_ids: Sequence[MediaId], *, only_unposted: bool = False) -> int:
        """These are gone for everybody at once, and their files soon after; returns how many there were."""
        by_shard: dict[int, list[MediaId]] = {}
        for each in media_ids:
            if has_shard(self._shards, each):
                by_shard.setdefault(self._shards.owner(each).number, []).append(each)
        count = 0
        for number, ids in by_shard.items():
            async with self._shards.shard(number).begin() as tx:
                count += await self.delete_in(tx, ids, only_unposted=only_unposted)
        return count

    async def delete_in(
        self, tx: Transaction, media_ids: Sequence[MediaId], *, only_unposted: bool = False
    ) -> int:
        """The same inside a transaction of the shard they live on, such as the one that deletes their post."""
        rows = await tx.fetch(QUERIES.mark_deleted, ids=list(media_ids), only_unposted=only_unposted)
        gone = [MediaId(row["id"]) for row in rows]
        if gone:
            await self._outbox.add(tx, MediaDeleted(gone))

            async def forget(_server: str) -> None:
                await self._cards.forget(gone)

            tx.after_commit(forget)
        return len(gone)

    async def delete_all_of(self, account_id: AccountId) -> int:
        """Everything an account ever uploaded goes; returns how many that were. Safe to repeat."""
        count = 0
        while True:
            shard = self._shards.owner(account_id)
            rows = await shard.fetch(QUERIES.list_of_account, account_id=account_id, limit=BITE)
            if not rows:
                return count
            await self.delete([MediaId(row["id"]) for row in rows])
            count += len(rows)

    async def remove_files(self, folder: str) -> None:
        """No file of this folder is left, in any store, public or private."""
        await self._storage.delete_below(folder)
        await self._storage.delete_below(f"{PRIVATE}/{folder}")

    async def _make(
        self, account_id: AccountId, media_id: MediaId, source: Path, out: Path, wish: Wish
    ) -> tuple[Media, MadePhoto]:
        media_type = self.type_of(source)
        if media_type == "image":
            made, duration_ms = await self._processing.photo(source, out, bytes(wish.edit)), None
        else:
            made, duration_ms = await self._processing.poster(source, out)
        media = Media(
            id=media_id,
            account_id=account_id,
            folder=f"{account_id}/{media_id}-{secrets.token_urlsafe(12)}",
            type=media_type,
            state="ready" if media_type == "image" else "processing",
            kind=wish.kind,
            width=made.width,
            height=made.height,
            placeholder=made.placeholder,
            duration_ms=duration_ms,
            progress=100 if media_type == "image" else 0,
            keeps_location=wish.keep_location,
        )
        return media, made

    async def _put_all(self, media: Media, source: Path, out: Path, made: MadePhoto) -> None:
        await self._storage.put_all(media.folder, out)
        exif = {**made.exif, **({"location": made.location} if media.keeps_location else {})}
        await self._storage.put(f"{PRIVATE}/{media.folder}/{EXIF}", msgspec.json.encode(exif))
        original = f"{PRIVATE}/{media.folder}/{ORIGINAL}"
        if media.type == "video" or media.keeps_location:
            await self._storage.put(original, source)
            return
        with self.workshop.folder() as folder, telling_full_disk():
            copy = folder / "original"
            await asyncio.to_thread(shutil.copyfile, source, copy)
            if await asyncio.to_thread(forget_place, copy):
                await self._storage.put(original, copy)

    async def _add(self, media: Media) -> Media:
        """The row, and for a clip the wish to convert it; the earlier row when this upload was finished before."""
        columns = {name: getattr(media, name) for name in _ADDED}
        async with self._shards.owner(media.account_id).begin() as tx:
            row = await tx.fetch_one(QUERIES.add_media, **columns)
            if row is None:
                row = await tx.fetch_one(QUERIES.find_media, id=media.id)
            elif media.type == "video":
                await self._outbox.add(tx, VideoReceived(media.id, media.account_id))
        if row is None:
            raise MediaNotFound
        return Media(**row)


_ADDED = QUERIES.add_media.parameters
