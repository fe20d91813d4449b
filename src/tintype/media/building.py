"""Puts the parts of the media room together."""

from dataclasses import dataclass
from pathlib import Path

from redis.asyncio import Redis

from shardwright.running import Shards
from tintype.base.jobs import Handler, Schedule
from tintype.base.outbox import Outbox
from tintype.base.secret import secret_key
from tintype.base.settings import Settings
from tintype.media.addresses import Addresses
from tintype.media.cards import Cards
from tintype.media.files import MediaFiles
from tintype.media.later import MediaLater, Tell
from tintype.media.presigning import presigner_of
from tintype.media.processing import Processing
from tintype.media.service import MediaLibrary
from tintype.media.storage import Storage
from tintype.media.stores import open_stores
from tintype.media.sweeping import Sweeper
from tintype.media.tiers import Policy, Tiers
from tintype.media.uploads import Uploads
from tintype.media.workshop import Workshop


@dataclass(frozen=True)
class MediaRoom:
    """The room, furnished: the library is its door for other rooms, the rest serves HTTP and the worker."""

    library: MediaLibrary
    storage: Storage
    uploads: Uploads
    files: MediaFiles
    later: MediaLater
    tiers: Tiers
    sweeper: Sweeper

    def handlers(self) -> list[Handler]:
        """Everything that reacts to events."""
        return [*self.later.handlers(), *self.tiers.handlers()]

    def schedules(self) -> list[Schedule]:
        """Everything that repeats by the clock."""
        return [*self.later.schedules(), *self.tiers.schedules(), *self.sweeper.schedules()]


def build_media(
    settings: Settings,
    shards: Shards,
    redis: Redis,
    outbox: Outbox,
    *,
    tell: Tell,
) -> MediaRoom:
    """The room, from settings."""
    storage = Storage(open_stores(settings))
    cards = Cards(shards, redis, settings.namespace)
    workshop = Workshop(Path(settings.media_work or settings.home / "work").expanduser())
    addresses = Addresses(secret_key(settings), life_s=settings.media_url_life_s)
    pipeline = Processing()
    library = MediaLibrary(
        shards,
        outbox,
        storage,
        cards=cards,
        workshop=workshop,
        processing=pipeline,
        addresses=addresses,
        limits={"image": settings.media_photo_bytes, "video": settings.media_video_bytes},
    )
    uploads = Uploads(shards, storage, library, presigner_of(settings))
    files = MediaFiles(
        shards, outbox, storage, cards, addresses=addresses, workshop=workshop, processing=pipeline
    )
    policy = Policy(
        warm_after_days=settings.media_warm_after_days,
        cold_after_days=settings.media_cold_after_days,
        cold_idle_days=settings.media_cold_idle_days,
        hot_reads_per_day=settings.media_hot_reads_per_day,
    )
    return MediaRoom(
        library=library,
        storage=storage,
        uploads=uploads,
        files=files,
        later=MediaLater(
            shards, outbox, storage, library=library, uploads=uploads, processing=pipeline, tell=tell
        ),
        tiers=Tiers(shards, storage, cards, policy),
        sweeper=Sweeper(shards, storage, library),
    )
