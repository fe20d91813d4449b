"""Finds the file behind a path below /media/: whether it may be opened, how long it may be cached, where it lies."""

import contextlib
import hashlib
import re
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from tintype.base.ids import LARGEST_ID, AccountId, MediaId
from tintype.graph import visibility_rules
from tintype.media.dependencies import MediaDependencies
from tintype.media.errors import MediaNotFound
from tintype.media.events import ColdMediaRead
from tintype.media.models import TIERS, AccessRecord, Tier
from tintype.media.storage.object_storage import ObjectStream

PATH = re.compile(
    r"(?:~(?P<ends>[0-9]{1,12})\.(?P<signature>[A-Za-z0-9_-]{24})/)?"
    r"(?P<folder>(?P<account>[1-9][0-9]{0,18})/(?P<media>[1-9][0-9]{0,18})-[A-Za-z0-9_-]{16})"
    r"/(?P<name>[a-z0-9_]{1,40}\.(?P<ending>jpg|webp|avif|mp4|m3u8|m4s|ts))",
    re.ASCII,
)
CONTENT_TYPES = {
    "jpg": "image/jpeg",
    "webp": "image/webp",
    "avif": "image/avif",
    "mp4": "video/mp4",
    "m3u8": "application/vnd.apple.mpegurl",
    "m4s": "video/iso.segment",
    "ts": "video/mp2t",
}
YEAR_S, AVATAR_S = 31_536_000, 3_600
WARM_ONCE_IN_S = 3_600


@dataclass(frozen=True)
class MediaFile:
    """A file that may be opened, and how others may cache it."""

    path: str
    tier: Tier
    media_id: MediaId
    media_type: str
    cache_control: str
    modified_at: datetime
    is_negotiated: bool

    @property
    def etag(self) -> str:
        """A digest of the path: a path never comes to mean other bytes, whichever store they lie in."""
        return f'"{hashlib.sha256(self.path.encode()).hexdigest()[:24]}"'


class MediaFiles:
    """Files as they are served. A file that may not be opened is reported as not found."""

    def __init__(self, dependencies: MediaDependencies) -> None:
        self._shards, self._outbox, self._storage = (
            dependencies.shards,
            dependencies.outbox,
            dependencies.storage,
        )
        self._access, self._reads, self._urls = dependencies.access, dependencies.reads, dependencies.urls

    async def find(self, path: str) -> MediaFile:
        """The file at a path below /media/, if it exists and its signature, where one is needed, is valid."""
        named = PATH.fullmatch(path)
        if named is None or max(int(named["account"]), int(named["media"])) > LARGEST_ID:
            raise MediaNotFound
        media_id, folder = MediaId(int(named["media"])), named["folder"]
        record = await self._access.find(media_id, AccountId(int(named["account"])))
        if record is None or record.folder != folder:
            raise MediaNotFound
        ends = int(named["ends"] or 0)
        if not visibility_rules.may_open_file(
            is_available=record.state in {"ready", "processing"},
            is_private=record.is_private,
            is_avatar=record.kind == "avatar",
            has_signature=self._urls.is_signature_valid(folder, ends, named["signature"] or ""),
        ):
            raise MediaNotFound
        return MediaFile(
            path=f"{folder}/{named['name']}",
            tier=record.tier,
            media_id=media_id,
            media_type=CONTENT_TYPES[named["ending"]],
            cache_control=_cache_control(record, ends),
            modified_at=self._shards.map.layout.id_time(media_id).replace(microsecond=0),
            is_negotiated=named["ending"] == "jpg",
        )

    async def locate(self, file: MediaFile) -> tuple[MediaFile, int]:
        """The file with the tier it was found in, and its size; it may be on its way to another store."""
        for tier in self._storage.search_order(file.tier):
            with contextlib.suppress(MediaNotFound):
                return replace(file, tier=tier), await self._storage.size_of(file.path, tier=tier)
        raise MediaNotFound

    async def open(self, file: MediaFile, part: tuple[int, int] | None = None) -> ObjectStream:
        """The bytes, from whichever store has them; a read from the cold store asks for the move to the warm one."""
        for tier in self._storage.search_order(file.tier):
            try:
                opened = await self._storage.open(file.path, tier=tier, part=part)
            except MediaNotFound:
                continue  # it is on its way to another store: look there
            await self._record_read(file.media_id, tier)
            return opened
        raise MediaNotFound

    async def _record_read(self, media_id: MediaId, tier: Tier) -> None:
        is_cold = tier == TIERS[-1] and tier in self._storage.tiers
        await self._reads.count(media_id, always=is_cold)
        if is_cold and await self._reads.is_first_within("warming", media_id, seconds=WARM_ONCE_IN_S):
            async with self._shards.owner(media_id).begin() as tx:
                await self._outbox.add(tx, ColdMediaRead(media_id))


def _cache_control(record: AccessRecord, ends: int) -> str:
    """A year, unless the photo is replaced (an avatar), ends (a story) or is opened by a signature that expires."""
    seconds = AVATAR_S if record.kind == "avatar" else YEAR_S
    if record.ends_at is not None:
        seconds = min(seconds, max(0, int((record.ends_at - datetime.now(UTC)).total_seconds())))
    if ends:
        seconds = min(seconds, max(0, ends - int(time.time())))
        return f"private, max-age={seconds}"
    return f"public, max-age={seconds}" + (", immutable" if seconds == YEAR_S else "")
