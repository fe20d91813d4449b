"""Moves media between stores (tiers) by age and by how often they are read.

A move copies, reads the copy back, changes the row and only then deletes: wherever it is killed, the row names a store
that has every file, and second copies are found by the sweep.
"""

import hashlib
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import msgspec

from tintype.base.ids import MediaId
from tintype.base.jobs import Handler, Schedule, on
from tintype.base.log import get_log
from tintype.media.dependencies import MediaDependencies
from tintype.media.errors import MediaNotFound, MediaStoreUnavailable
from tintype.media.events import ColdMediaRead
from tintype.media.models import TIERS, Tier
from tintype.media.storage.object_storage import PRIVATE
from tintype.media.store import QUERIES

BATCH = 500
DAY_S = 86_400
WEEK = 7
log = get_log("tiers")


@dataclass(frozen=True)
class TierPolicy:
    """At which age, and with how many reads, media change their tier."""

    warm_after_days: int
    cold_after_days: int
    cold_idle_days: int
    hot_reads_per_day: int


class TierMoves(msgspec.Struct):
    """How many media a run has inspected and moved."""

    looked_at: int = 0
    to_hot: int = 0
    to_warm: int = 0
    to_cold: int = 0
    failed: int = 0


OnProgress = Callable[[TierMoves], None]
"""Called after each media that was inspected, with the counts so far."""


class Tiers:
    """Moves media that belong in another tier, and brings back those that are read in the cold one."""

    def __init__(self, dependencies: MediaDependencies) -> None:
        self._shards, self._storage = dependencies.shards, dependencies.storage
        self._access, self._reads = dependencies.access, dependencies.reads
        settings = dependencies.settings
        self._policy = TierPolicy(
            warm_after_days=settings.media_warm_after_days,
            cold_after_days=settings.media_cold_after_days,
            cold_idle_days=settings.media_cold_idle_days,
            hot_reads_per_day=settings.media_hot_reads_per_day,
        )

    def handlers(self) -> list[Handler]:
        """A read from the cold store moves the media to the warm one."""
        return [on(ColdMediaRead, self.warm, name="media-warm", concurrency=4)]

    def schedules(self) -> list[Schedule]:
        """The daily run, where there is more than one store."""
        return [Schedule("media-tiers", DAY_S, self._run_quietly)] if len(self._storage.tiers) > 1 else []

    async def run(self, on_progress: OnProgress = lambda _moves: None) -> TierMoves:
        """Move all media that belong in another tier; those whose store does not answer are counted as failed."""
        moves = TierMoves()
        for number in sorted(self._shards.map.owners):
            for tier in reversed(TIERS):  # what is moved to a colder tier now is not inspected twice
                await self._run_tier(number, tier, moves, on_progress)
        log.info("tiers.moved", **msgspec.to_builtins(moves))
        return moves

    async def warm(self, event: ColdMediaRead) -> None:
        """Move media from the cold store to the warm one."""
        media_id = event.media_id
        row = await self._shards.owner(media_id).fetch_one(QUERIES.find_media, id=media_id)
        if row is not None and row["tier"] == "cold" and row["state"] == "ready":
            await self.move(media_id, row["folder"], "cold", "warm")

    async def move(self, media_id: MediaId, folder: str, before: Tier, after: Tier) -> bool:
        """Move the files of media to another tier; False when the row has changed meanwhile."""
        paths = [
            stored.path
            for prefix in (folder, f"{PRIVATE}/{folder}")
            async for stored in self._storage.list_objects(prefix, tier=before)
        ]
        if not self._storage.same_store(before, after):
            for path in paths:
                await self._copy(path, before, after)
        row = await self._shards.owner(media_id).fetch_one(
            QUERIES.set_tier, id=media_id, before=before, tier=after
        )
        await self._access.invalidate([media_id])
        if row is not None and not self._storage.same_store(before, after):
            await self._storage.delete(paths, tier=before)
        return row is not None

    async def _run_tier(self, number: int, tier: Tier, moves: TierMoves, on_progress: OnProgress) -> None:
        shard = self._shards.shard(number)
        after = 0
        while True:
            rows = await shard.fetch(
                QUERIES.page_of_tier, tier=tier, after=after, older_than=self._max_id(tier), limit=BATCH
            )
            wanted = await self._wanted(tier, [MediaId(row["id"]) for row in rows])
            for row, target in zip(rows, wanted, strict=True):
                moves.looked_at += 1
                if target != tier:
                    await self._try_move(MediaId(row["id"]), row["folder"], tier, target, moves)
                on_progress(moves)
            if len(rows) < BATCH:
                return
            after = rows[-1]["id"]

    async def _try_move(
        self, media_id: MediaId, folder: str, tier: Tier, target: Tier, moves: TierMoves
    ) -> None:
        try:
            is_moved = await self.move(media_id, folder, tier, target)
        except (MediaStoreUnavailable, MediaNotFound) as error:
            log.warning("tiers.move_failed", media_id=media_id, tier=target, **error.facts)
            moves.failed += 1
        else:
            name = f"to_{target}"
            setattr(moves, name, getattr(moves, name) + is_moved)

    async def _wanted(self, tier: Tier, ids: Sequence[MediaId]) -> list[Tier]:
        """The tier each belongs in: hot when young or often read, cold when old and unread, else warm."""
        policy, tiers = self._policy, self._storage.tiers
        week = await self._reads.totals(ids, days=WEEK)
        long = await self._reads.totals(ids, days=policy.cold_idle_days) if "cold" in tiers else week
        old_id = self._id_before(policy.cold_after_days)
        young_id = self._id_before(policy.warm_after_days)
        wanted: list[Tier] = []
        for media_id, recent, ever in zip(ids, week, long, strict=True):
            is_busy = recent >= policy.hot_reads_per_day * WEEK
            if is_busy or media_id >= young_id:
                best: Tier = "hot"
            elif "cold" in tiers and media_id < old_id and not ever:
                best = "cold"
            else:
                best = tier if tier == "cold" else "warm"
            wanted.append(best)
        return wanted

    def _max_id(self, tier: Tier) -> int:
        """The id below which media of a tier are inspected: hot ones once they are no longer young, others always."""
        return self._id_before(self._policy.warm_after_days if tier == "hot" else 0)

    def _id_before(self, days: int) -> int:
        """The lowest id that media made this many days ago can have."""
        return self._shards.map.layout.min_id_at(datetime.now(UTC) - timedelta(days=days))

    async def _copy(self, path: str, before: Tier, after: Tier) -> None:
        opened = await self._storage.open(path, tier=before)
        sent = hashlib.sha256()
        await self._storage.put(path, _through(opened.chunks, sent.update), tier=after)
        back = hashlib.sha256()
        async for chunk in (await self._storage.open(path, tier=after)).chunks:
            back.update(chunk)
        if back.digest() != sent.digest():
            await self._storage.delete([path], tier=after)
            raise MediaStoreUnavailable("A copied file differs from its source.", path=path)

    async def _run_quietly(self) -> None:
        await self.run()


async def _through(chunks: AsyncIterator[bytes], see: Callable[[bytes], None]) -> AsyncIterator[bytes]:
    async for chunk in chunks:
        see(chunk)
        yield chunk
