"""Moves media between stores by age and by how often they are looked at.

A move copies, reads the copy back, changes the row and only then deletes: killed anywhere, the row names a store that
has every file, and what lies twice is found by the sweeper.
"""

import hashlib
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import msgspec

from shardwright.running import Shards
from tintype.base.ids import MediaId
from tintype.base.jobs import Handler, Schedule, on
from tintype.base.log import get_log
from tintype.media.cards import Cards
from tintype.media.errors import MediaNotFound
from tintype.media.events import ColdMediaRead
from tintype.media.failures import MediaStoreUnavailable
from tintype.media.models import TIERS, Tier
from tintype.media.sql import QUERIES
from tintype.media.storage import PRIVATE, Storage

BITE = 500
DAY_S = 86_400
WEEK = 7
log = get_log("tiers")


@dataclass(frozen=True)
class Policy:
    """When media change their tier."""

    warm_after_days: int
    cold_after_days: int
    cold_idle_days: int
    hot_reads_per_day: int


class Moves(msgspec.Struct):
    """What a run of the tiers has done."""

    looked_at: int = 0
    to_hot: int = 0
    to_warm: int = 0
    to_cold: int = 0
    failed: int = 0


OnLook = Callable[[Moves], None]


class Tiers:
    """The job that moves media, and the reads that bring them back."""

    def __init__(self, shards: Shards, storage: Storage, cards: Cards, policy: Policy) -> None:
        self._shards, self._storage, self._cards, self._policy = shards, storage, cards, policy

    def handlers(self) -> list[Handler]:
        """A look at something cold warms it."""
        return [on(ColdMediaRead, self.warm, name="media-warm", concurrency=4)]

    def schedules(self) -> list[Schedule]:
        """Once a day, where tiers have stores of their own."""
        return [Schedule("media-tiers", DAY_S, self._run_quietly)] if len(self._storage.tiers) > 1 else []

    async def run(self, on_look: OnLook = lambda _moves: None) -> Moves:
        """Every media that belongs elsewhere has been moved, as far as the stores answer."""
        moves = Moves()
        for number in sorted(self._shards.map.owners):
            for tier in reversed(TIERS):  # what cools down now is not looked at twice
                await self._run_tier(number, tier, moves, on_look)
        log.info("tiers.moved", **msgspec.to_builtins(moves))
        return moves

    async def warm(self, event: ColdMediaRead) -> None:
        """Bring media back from the cold store."""
        media_id = event.media_id
        row = await self._shards.owner(media_id).fetch_one(QUERIES.find_media, id=media_id)
        if row is not None and row["tier"] == "cold" and row["state"] == "ready":
            await self.move(media_id, row["folder"], "cold", "warm")

    async def move(self, media_id: MediaId, folder: str, before: Tier, after: Tier) -> bool:
        """The files lie in another store; False when the row has changed meanwhile."""
        paths = [
            stored.path
            for prefix in (folder, f"{PRIVATE}/{folder}")
            async for stored in self._storage.walk(prefix, tier=before)
        ]
        if not self._storage.same_store(before, after):
            for path in paths:
                await self._copy(path, before, after)
        row = await self._shards.owner(media_id).fetch_one(
            QUERIES.set_tier, id=media_id, before=before, tier=after
        )
        await self._cards.forget([media_id])
        if row is not None and not self._storage.same_store(before, after):
            await self._storage.delete(paths, tier=before)
        return row is not None

    async def _run_tier(self, number: int, tier: Tier, moves: Moves, on_look: OnLook) -> None:
        shard = self._shards.shard(number)
        after = 0
        while True:
            rows = await shard.fetch(
                QUERIES.page_of_tier, tier=tier, after=after, older_than=self._id_at(tier), limit=BITE
            )
            wanted = await self._wanted(tier, [MediaId(row["id"]) for row in rows])
            for row, target in zip(rows, wanted, strict=True):
                moves.looked_at += 1
                if target != tier:
                    await self._try_move(MediaId(row["id"]), row["folder"], tier, target, moves)
                on_look(moves)
            if len(rows) < BITE:
                return
            after = rows[-1]["id"]

    async def _try_move(self, media_id: MediaId, folder: str, tier: Tier, target: Tier, moves: Moves) -> None:
        try:
            is_moved = await self.move(media_id, folder, tier, target)
        except (MediaStoreUnavailable, MediaNotFound) as error:
            log.warning("tiers.move_failed", media_id=media_id, tier=target, **error.facts)
            moves.failed += 1
        else:
            name = f"to_{target}"
            setattr(moves, name, getattr(moves, name) + is_moved)

    async def _wanted(self, tier: Tier, ids: Sequence[MediaId]) -> list[Tier]:
        """Where each belongs: young or busy media hot, old and unread ones cold, the rest warm."""
        policy, tiers = self._policy, self._storage.tiers
        week = await self._cards.reads_of(ids, days=WEEK)
        long = await self._cards.reads_of(ids, days=policy.cold_idle_days) if "cold" in tiers else week
        old_id = self._id_before(policy.cold_after_days)
        young_id = self._id_before(policy.warm_after_days)
        wanted: list[Tier] = []
        for media_id, often, ever in zip(ids, week, long, strict=True):
            is_busy = often >= policy.hot_reads_per_day * WEEK
            if is_busy or media_id >= young_id:
                best: Tier = "hot"
            elif "cold" in tiers and media_id < old_id and not ever:
                best = "cold"
            else:
                best = tier if tier == "cold" else "warm"
            wanted.append(best)
        return wanted

    def _id_at(self, tier: Tier) -> int:
        """Among the hot only what is no longer young is worth a look; of the others all."""
        return self._id_before(self._policy.warm_after_days if tier == "hot" else 0)

    def _id_before(self, days: int) -> int:
        """What was made this many days ago has this id or a higher one."""
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
