"""Finds the file behind an address: whether it may be seen, where it lies, and in which formats there is one."""

import asyncio
import contextlib
import hashlib
import re
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from shardwright.running import Shards
from tintype.base.errors import Unavailable
from tintype.base.ids import LARGEST_ID, AccountId, MediaId
from tintype.base.log import get_log
from tintype.base.outbox import Outbox
from tintype.media.addresses import Addresses
from tintype.media.cards import Cards
from tintype.media.errors import MediaNotFound, MediaRefused
from tintype.media.events import ColdMediaRead
from tintype.media.models import TIERS, Card, Tier
from tintype.media.photos import LazyKind
from tintype.media.processing import Processing
from tintype.media.storage import Opened, Storage
from tintype.media.workshop import Workshop

ADDRESS = re.compile(
    r"(?:~(?P<ends>[0-9]{1,12})\.(?P<signature>[A-Za-z0-9_-]{24})/)?"
    r"(?P<folder>(?P<account>[1-9][0-9]{0,18})/(?P<media>[1-9][0-9]{0,18})-[A-Za-z0-9_-]{16})"
    r"/(?P<name>[a-z0-9_]{1,40}\.(?P<ending>jpg|webp|avif|mp4|m3u8|m4s|ts))",
    re.ASCII,
)
TYPES = {
    "jpg": "image/jpeg",
    "webp": "image/webp",
    "avif": "image/avif",
    "mp4": "video/mp4",
    "m3u8": "application/vnd.apple.mpegurl",
    "m4s": "video/iso.segment",
    "ts": "video/mp2t",
}
FOR_EVER, AVATAR_S, BUSY_S = 31_536_000, 3_600, 60
LAZY: tuple[LazyKind, ...] = ("avif", "webp")
"""The smaller one first."""
CONVERSIONS_AT_ONCE = 2
NO_WEIGHT = re.compile(r"q=0(\.0*)?")
WARM_ONCE_IN_S = 3_600
log = get_log("media")


@dataclass(frozen=True)
class MediaFile:
    """A file that may be seen, and what others may do with their copy."""

    path: str
    tier: Tier
    media_id: MediaId
    media_type: str
    cache_control: str
    modified_at: datetime
    is_negotiated: bool

    @property
    def etag(self) -> str:
        """A name never comes to mean other bytes, so the name tells them apart, whichever store they lie in."""
        return f'"{hashlib.sha256(self.path.encode()).hexdigest()[:24]}"'


class MediaFiles:
    """Files as they are served. What may not be seen answers as what does not exist."""

    def __init__(
        self,
        shards: Shards,
        outbox: Outbox,
        storage: Storage,
        cards: Cards,
        *,
        addresses: Addresses,
        workshop: Workshop,
        processing: Processing,
    ) -> None:
        self._shards, self._outbox, self._storage, self._cards = shards, outbox, storage, cards
        self._addresses, self._workshop, self._processing = addresses, workshop, processing
        self._converting: dict[str, asyncio.Task[None]] = {}

    async def find(self, address: str) -> MediaFile:
        """The file at an address below /media/."""
        named = ADDRESS.fullmatch(address)
        if named is None or max(int(named["account"]), int(named["media"])) > LARGEST_ID:
            raise MediaNotFound
        media_id, folder = MediaId(int(named["media"])), named["folder"]
        card = await self._cards.find(media_id, AccountId(int(named["account"])))
        if card is None or card.folder != folder or card.state not in {"ready", "processing"}:
            raise MediaNotFound
        ends = int(named["ends"] or 0)
        is_shut = (
            card.is_private and card.kind != "avatar"
        )  # a face stands beside a name, which everybody may see
        if is_shut and not self._addresses.is_valid(folder, ends, named["signature"] or ""):
            raise MediaNotFound
        return MediaFile(
            path=f"{folder}/{named['name']}",
            tier=card.tier,
            media_id=media_id,
            media_type=TYPES[named["ending"]],
            cache_control=_cache_control(card, ends),
            modified_at=self._shards.map.layout.id_time(media_id).replace(microsecond=0),
            is_negotiated=named["ending"] == "jpg",
        )

    async def choose(self, file: MediaFile, accept: str) -> MediaFile:
        """The same picture in the smallest format that the asker takes, made now if it never was."""
        if not file.is_negotiated:
            return file
        for kind in LAZY:
            if _accepts(accept, kind):
                return await self._in_format(file, kind)
        return file

    async def size_of(self, file: MediaFile) -> tuple[MediaFile, int]:
        """How large a file is, and where it was found."""
        for tier in self._storage.places(file.tier):
            with contextlib.suppress(MediaNotFound):
                return replace(file, tier=tier), await self._storage.size_of(file.path, tier=tier)
        raise MediaNotFound

    async def open(self, file: MediaFile, part: tuple[int, int] | None = None) -> Opened:
        """The bytes, wherever they lie; what is read from the cold store is soon warm."""
        for tier in self._storage.places(file.tier):
            try:
                opened = await self._storage.open(file.path, tier=tier, part=part)
            except MediaNotFound:
                continue  # it is on its way to another store: look there
            await self._note_read(file.media_id, tier)
            return opened
        raise MediaNotFound

    async def _note_read(self, media_id: MediaId, tier: Tier) -> None:
        is_cold = tier == TIERS[-1] and tier in self._storage.tiers
        await self._cards.count_read(media_id, surely=is_cold)
        if is_cold and await self._cards.is_first_within("warming", media_id, seconds=WARM_ONCE_IN_S):
            async with self._shards.owner(media_id).begin() as tx:
                await self._outbox.add(tx, ColdMediaRead(media_id))

    async def _in_format(self, file: MediaFile, kind: LazyKind) -> MediaFile:
        chosen = replace(file, path=f"{file.path.removesuffix('.jpg')}.{kind}", media_type=TYPES[kind])
        with contextlib.suppress(MediaNotFound):
            found, _ = await self.size_of(chosen)
            return found
        if chosen.path not in self._converting and len(self._converting) >= CONVERSIONS_AT_ONCE:
            return _for_a_moment(file)
        task = self._converting.get(chosen.path)
        if task is None:
            task = self._converting[chosen.path] = asyncio.create_task(self._convert(file, chosen, kind))
            task.add_done_callback(lambda _done: self._converting.pop(chosen.path, None))
        try:
            await asyncio.shield(task)
        except (MediaRefused, Unavailable) as error:
            log.warning("media.not_converted", path=chosen.path, error=str(error))
            return _for_a_moment(file)
        return chosen

    async def _convert(self, file: MediaFile, chosen: MediaFile, kind: LazyKind) -> None:
        with self._workshop.folder() as folder:
            source, out = folder / "source.jpg", folder / f"out.{kind}"
            found, _ = await self.size_of(file)
            await self._storage.fetch([file.path], source, tier=found.tier)
            await self._processing.convert(source, out, kind)
            await self._storage.put(chosen.path, out, tier=file.tier)
        log.debug("media.converted_lazily", path=chosen.path)


def _cache_control(card: Card, ends: int) -> str:
    """A year, unless the picture is replaced (an avatar), ends (a story) or is opened by a signature that does."""
    seconds = AVATAR_S if card.kind == "avatar" else FOR_EVER
    if card.ends_at is not None:
        seconds = min(seconds, max(0, int((card.ends_at - datetime.now(UTC)).total_seconds())))
    if ends:
        seconds = min(seconds, max(0, ends - int(time.time())))
        return f"private, max-age={seconds}"
    return f"public, max-age={seconds}" + (", immutable" if seconds == FOR_EVER else "")


def _for_a_moment(file: MediaFile) -> MediaFile:
    """The JPEG, which nobody shall keep for long: the next one who asks gets less to load."""
    who = file.cache_control.split(",", 1)[0]
    return replace(file, cache_control=f"{who}, max-age={BUSY_S}")


def _accepts(accept: str, kind: LazyKind) -> bool:
    """Whether a format is named, and not with a weight of nothing."""
    for part in accept.lower().split(","):
        name, _, weight = part.replace(" ", "").partition(";")
        if name == f"image/{kind}":
            return not NO_WEIGHT.fullmatch(weight)
    return False
