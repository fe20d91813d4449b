"""Finds out which photos of earlier releases may be shown larger: those that were not edited (`large_width` is NULL).

Their edits were not stored. Where the original makes the very same 1080.jpg without any, there was none, and larger
sizes may be made of it; where it does not, 1080 px it stays. Safe to repeat and to interrupt.
"""

from tintype.base.errors import Invalid
from tintype.base.ids import MediaId
from tintype.base.jobs import Schedule
from tintype.base.log import get_log
from tintype.media.dependencies import MediaDependencies
from tintype.media.errors import MediaNotFound
from tintype.media.models import SIZES, Media
from tintype.media.storage.object_storage import ORIGINAL, PRIVATE
from tintype.media.store import QUERIES

MAX_PER_RUN = 1_000
"""About two minutes of a processor core each hour, until all are examined."""
HOUR_S = 3_600.0
NO_LARGER = 0
log = get_log("media")


class UnsizedPhotos:
    """Gives photos of earlier releases the width of their largest rendition."""

    def __init__(self, dependencies: MediaDependencies) -> None:
        self._shards, self._rows, self._storage = dependencies.shards, dependencies.rows, dependencies.storage
        self._pipeline, self._temporary = dependencies.pipeline, dependencies.temporary
        self._changed = dependencies.changed

    def schedules(self) -> list[Schedule]:
        """Once an hour; when all are examined, that is one read of an empty index."""
        return [Schedule("media-size-photos", HOUR_S, self.examine_some)]

    async def examine_some(self) -> None:
        """Examine photos that have not been yet, the newest of each shard first."""
        rows = (await self._shards.everywhere().fetch(QUERIES.list_unsized, limit=MAX_PER_RUN)).rows
        for row in rows[:MAX_PER_RUN]:
            media = await self._rows.find(MediaId(row["id"]))
            if media is not None:
                await self._examine(media)
        if rows:
            log.info("media.photos_sized", media=min(MAX_PER_RUN, len(rows)))

    async def _examine(self, media: Media) -> None:
        try:
            large_width = await self._find_large_width(media)
        except (Invalid, MediaNotFound):
            large_width = NO_LARGER
        shard = self._shards.owner(media.id)
        await shard.execute(QUERIES.set_large_width, id=media.id, large_width=large_width)
        if large_width > SIZES[0]:
            await self._changed.notify([media.id])

    async def _find_large_width(self, media: Media) -> int:
        name = f"{SIZES[0]}.jpg"
        shown = await self._storage.open_anywhere(f"{media.folder}/{name}", media.tier)
        with self._temporary.folder() as folder:
            original, out = folder / "original", folder / "out"
            out.mkdir()
            await self._storage.fetch_anywhere(f"{PRIVATE}/{media.folder}/{ORIGINAL}", original, media.tier)
            made = await self._pipeline.process_photo(original, out, b"null", original=None)
            is_same = (out / name).read_bytes() == b"".join([chunk async for chunk in shown.chunks])
        return (made.large_width or NO_LARGER) if is_same else NO_LARGER
