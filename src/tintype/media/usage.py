"""What each account stores and may store, and how much of its video is converted.

`storage_usage.used_bytes` is the sum of `media.size_bytes` of an account, without deleted media, and changes in the
transaction that changes those. An upload in progress reserves the bytes it announced. The row of an account is the lock
under which both are compared with the quota. Counters are compared with their rows by the reconciler, rows with their
files by `measure`.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from shardwright.routing import Shards, Transaction
from tintype.base.counter_reconciler import ReconciledCounter
from tintype.base.ids import AccountId, MediaId
from tintype.base.settings import Settings
from tintype.media.errors import StorageFull, TooManyVideos, VideoTimeUsedUp
from tintype.media.models import Media, MediaType
from tintype.media.storage.object_storage import PRIVATE, ObjectStorage
from tintype.media.store import QUERIES

MEBIBYTE = 1024 * 1024
MINUTE_MS = 60_000
RETRY_VIDEOS_S = 60
BATCH = 200


class Usage(msgspec.Struct, frozen=True):
    """What an account stores, and how much it may."""

    used_bytes: int
    reserved_bytes: int
    """Announced by uploads in progress."""
    quota_bytes: int | None
    """None: no quota."""

    def check(self, more_bytes: int = 0) -> None:
        """Raise `StorageFull` unless there is room for so much more."""
        if (
            self.quota_bytes is not None
            and self.used_bytes + self.reserved_bytes + more_bytes > self.quota_bytes
        ):
            raise StorageFull(used_bytes=self.used_bytes, more_bytes=more_bytes, quota_bytes=self.quota_bytes)


class StorageUsage:
    """Counts stored bytes per account, and refuses what exceeds a quota."""

    def __init__(self, shards: Shards, storage: ObjectStorage, settings: Settings) -> None:
        self._shards, self._storage = shards, storage
        self._default_bytes = settings.storage_quota_mb * MEBIBYTE
        self._max_waiting, self._max_ms = settings.videos_waiting, settings.video_minutes_per_day * MINUTE_MS

    async def get(self, account_id: AccountId) -> Usage:
        """What an account stores now, and how much it may."""
        row = await self._shards.owner(account_id).fetch_one(
            QUERIES.find_usage, account_id=account_id, upload_id=0
        )
        return self._usage(row)

    async def list_of(self, account_ids: Sequence[AccountId]) -> dict[AccountId, Usage]:
        """What each of these accounts stores, and how much it may; without what is reserved."""
        found = dict.fromkeys(account_ids, self._usage(None))
        by_shard: dict[int, list[AccountId]] = {}
        for each in account_ids:
            by_shard.setdefault(self._shards.owner(each).number, []).append(each)
        for number, ids in by_shard.items():
            for row in await self._shards.shard(number).fetch(QUERIES.list_usage, ids=ids):
                found[AccountId(row["account_id"])] = self._usage(row)
        return found

    async def set_quota(self, account_id: AccountId, quota_bytes: int | None) -> Usage:
        """Give an account a quota of its own, zero for none; None gives it that of the settings again."""
        await self._shards.owner(account_id).execute(
            QUERIES.set_quota, account_id=account_id, quota_bytes=quota_bytes
        )
        return await self.get(account_id)

    async def reserve(self, tx: Transaction, account_id: AccountId, size_bytes: int) -> None:
        """Refuse to start an upload of this size without room for it. The caller adds its row in this transaction."""
        (await self._locked(tx, account_id, 0)).check(size_bytes)

    async def check(
        self,
        account_id: AccountId,
        media_type: MediaType,
        size_bytes: int,
        *,
        upload_id: MediaId | None = None,
    ) -> None:
        """Refuse a file before any work is done for it, if there is no room for it; `add` has the last word."""
        shard = self._shards.owner(account_id)
        row = await shard.fetch_one(QUERIES.find_usage, account_id=account_id, upload_id=upload_id or 0)
        self._usage(row).check(size_bytes)
        if media_type == "video":
            self._check_waiting(await shard.fetch_value(QUERIES.count_converting, account_id=account_id))

    async def add(
        self, tx: Transaction, media: Media, size_bytes: int, *, has_video_limits: bool = True
    ) -> int:
        """Count media whose row this transaction has added; returns how many earlier videos of their owner wait.

        Raises `StorageFull` if that exceeds the quota, `TooManyVideos` or `VideoTimeUsedUp` for too much video.
        """
        (await self._locked(tx, media.account_id, size_bytes, upload_id=media.id)).check()
        if media.type != "video":
            return 0
        waiting = await tx.fetch_value(QUERIES.count_converting, account_id=media.account_id) - 1
        if not has_video_limits:
            return waiting
        self._check_waiting(waiting)
        used_ms = await tx.fetch_value(
            QUERIES.add_video_time, account_id=media.account_id, duration_ms=media.duration_ms or 0
        )
        if self._max_ms and used_ms > self._max_ms:
            raise VideoTimeUsedUp(retry_after_s=_until_midnight_s(datetime.now(UTC)), used_ms=used_ms)
        return waiting

    async def remove(self, tx: Transaction, rows: Iterable[Any]) -> None:
        """Stop counting media that this transaction marks as deleted."""
        sizes: dict[int, int] = {}
        for row in rows:
            sizes[row["account_id"]] = sizes.get(row["account_id"], 0) + (row["size_bytes"] or 0)
        for account_id, size_bytes in sorted(sizes.items()):
            await tx.execute(QUERIES.change_usage, account_id=account_id, by=-size_bytes)

    async def measure(self, media_id: MediaId) -> bool:
        """Count media by the files that lie in the stores now; returns whether the media still exist.

        Under the lock of the row: of two who have added a file, the second to come sees both.
        """
        async with self._shards.owner(media_id).begin() as tx:
            row = await tx.fetch_one(QUERIES.lock_size, id=media_id)
            if row is None:
                return False
            size_bytes = await self._measure_folder(row["folder"])
            if size_bytes != row["size_bytes"]:
                await tx.execute(QUERIES.set_size, id=media_id, size_bytes=size_bytes)
                change = size_bytes - (row["size_bytes"] or 0)
                await tx.execute(QUERIES.change_usage, account_id=row["account_id"], by=change)
        return True

    async def measure_unmeasured(self) -> int:
        """Measure media that an earlier release has stored without their size; returns how many."""
        count = 0
        while rows := (await self._shards.everywhere().fetch(QUERIES.list_unmeasured, limit=BATCH)).rows:
            for row in rows:
                await self.measure(MediaId(row["id"]))
            count += len(rows)
        return count

    def reconciled_counters(self) -> list[ReconciledCounter]:
        """The stored bytes of accounts, compared with those of their media."""
        return [
            ReconciledCounter(
                "storage", QUERIES.scan_usage, QUERIES.lock_usage, QUERIES.recount_usage, QUERIES.set_usage
            )
        ]

    async def _locked(
        self, tx: Transaction, account_id: AccountId, more_bytes: int, upload_id: MediaId | None = None
    ) -> Usage:
        """Add stored bytes and lock the account's row; an upload that is being finished reserves nothing any more."""
        await tx.execute(QUERIES.change_usage, account_id=account_id, by=more_bytes)
        row = await tx.fetch_one(QUERIES.find_usage, account_id=account_id, upload_id=upload_id or 0)
        return self._usage(row)

    async def _measure_folder(self, folder: str) -> int:
        size_bytes = 0
        for tier in self._storage.tiers:
            for prefix in (folder, f"{PRIVATE}/{folder}"):
                async for stored in self._storage.list_objects(prefix, tier=tier):
                    size_bytes += stored.size_bytes
        return size_bytes

    def _check_waiting(self, waiting: int) -> None:
        if waiting >= self._max_waiting:
            raise TooManyVideos(retry_after_s=RETRY_VIDEOS_S, waiting=waiting)

    def _usage(self, row: Any | None) -> Usage:  # any: a row of `find_usage` or `list_usage`
        own: int | None = row["quota_bytes"] if row else None
        quota_bytes = self._default_bytes if own is None else own
        used, reserved = (row["used_bytes"], row["reserved_bytes"]) if row else (0, 0)
        return Usage(used or 0, reserved or 0, quota_bytes or None)


def _until_midnight_s(now: datetime) -> int:
    midnight = (now + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
    return max(1, int((midnight - now).total_seconds()) + 1)
