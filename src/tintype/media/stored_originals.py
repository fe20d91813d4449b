"""Cleans originals that earlier releases stored, and which may still have a location (`removed` is NULL).

A photo's original is replaced by a clean copy, or deleted where none can be made; that of a video, which was kept for
its conversion alone, is deleted. Originals of owners who keep their location stay. Safe to repeat and to interrupt.
"""

from collections.abc import Sequence
from pathlib import Path

from tintype.base.errors import Invalid
from tintype.base.ids import MediaId
from tintype.base.jobs import Schedule
from tintype.base.log import get_log
from tintype.media.dependencies import MediaDependencies
from tintype.media.errors import MediaNotFound
from tintype.media.metadata.models import Removed
from tintype.media.models import Media, Tier
from tintype.media.storage.object_storage import ORIGINAL, PRIVATE
from tintype.media.store import QUERIES

BATCH = 200
HOUR_S = 3_600.0
log = get_log("media")


class StoredOriginals:
    """Brings the originals of earlier releases to what uploads store today."""

    def __init__(self, dependencies: MediaDependencies) -> None:
        self._shards, self._rows, self._storage = dependencies.shards, dependencies.rows, dependencies.storage
        self._pipeline, self._temporary = dependencies.pipeline, dependencies.temporary
        self._usage = dependencies.usage

    def schedules(self) -> list[Schedule]:
        """Once an hour; when all are examined, that is one read of an empty index."""
        return [Schedule("media-clean-originals", HOUR_S, self.clean_all)]

    async def clean_all(self) -> None:
        """Examine every original that has not been yet."""
        count = 0
        while rows := (await self._shards.everywhere().fetch(QUERIES.list_unexamined, limit=BATCH)).rows:
            for row in rows:
                media = await self._rows.find(MediaId(row["id"]))
                if media is not None:
                    await self._examine(media)
            count += len(rows)
        if count:
            log.info("media.originals_examined", media=count)

    async def _examine(self, media: Media) -> None:
        removed: Sequence[Removed] = () if media.keeps_location else await self._clean(media)
        await self._shards.owner(media.id).execute(QUERIES.set_removed, id=media.id, removed=list(removed))

    async def _clean(self, media: Media) -> Sequence[Removed]:
        path = f"{PRIVATE}/{media.folder}/{ORIGINAL}"
        if media.type == "video":
            await self._delete(path)
            return []
        with self._temporary.folder() as folder, self._temporary.folder() as private:
            source, copy = folder / "source", private / ORIGINAL
            tier = await self._fetch(path, media.tier, source)
            if tier is None:
                return ["original"]
            removed: Sequence[Removed] = ["original"]
            try:
                removed = await self._pipeline.clean_photo(source, copy)
            except Invalid as error:
                log.info("media.original_dropped", media_id=media.id, reason=error.code)
            if "original" in removed:
                await self._delete(path)
            elif removed:
                await self._storage.put(path, copy, tier=tier)
        await self._usage.measure(media.id)
        return removed

    async def _fetch(self, path: str, first: Tier, to: Path) -> Tier | None:
        """Download an original; returns the tier that had it."""
        for tier in self._storage.search_order(first):
            try:
                await self._storage.fetch([path], to, tier=tier)
            except MediaNotFound:
                continue  # the next tier may have it
            return tier
        return None

    async def _delete(self, path: str) -> None:
        for tier in self._storage.tiers:
            await self._storage.delete([path], tier=tier)
