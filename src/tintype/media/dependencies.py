"""What the parts of the media room share, built once from settings."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from redis.asyncio import Redis

from shardwright.routing import Shards
from tintype.accounts import Accounts
from tintype.base.ids import MediaId
from tintype.base.listeners import Listeners
from tintype.base.outbox import Outbox
from tintype.base.secret_key import secret_key
from tintype.base.settings import Settings
from tintype.media.sandbox import SandboxOptions, configure_sandbox
from tintype.media.serving.access_records import AccessRecords
from tintype.media.serving.edge_purge import EdgePurge
from tintype.media.serving.read_counts import ReadCounts
from tintype.media.serving.signed_urls import MediaUrls
from tintype.media.serving.visibility_changes import VisibilityChanges
from tintype.media.storage.connect import open_stores
from tintype.media.storage.object_storage import ObjectStorage
from tintype.media.store import MediaRows
from tintype.media.temporary_files import TemporaryFolders
from tintype.media.uploads.pipeline import MediaPipeline
from tintype.media.usage import StorageUsage
from tintype.redis.leased_cache import LeasedCache


@dataclass(frozen=True)
class MediaDependencies:
    """Connections, stores and caches that the room's parts have in common."""

    settings: Settings
    shards: Shards
    outbox: Outbox
    accounts: Accounts
    storage: ObjectStorage
    rows: MediaRows
    access: AccessRecords
    edge: EdgePurge
    visibility: VisibilityChanges
    reads: ReadCounts
    changed: Listeners[Sequence[MediaId]]
    """Notified after media changed that somebody may show already; drops their access records first."""
    urls: MediaUrls
    pipeline: MediaPipeline
    temporary: TemporaryFolders
    usage: StorageUsage


def build_dependencies(
    settings: Settings,
    shards: Shards,
    *,
    redis: Redis,
    cache: LeasedCache,
    outbox: Outbox,
    accounts: Accounts,
) -> MediaDependencies:
    """Open the object stores that the settings name, and build what stands on them."""
    access, edge = AccessRecords(shards, cache, accounts, settings.namespace), EdgePurge(settings)
    work = Path(settings.media_work or settings.home / "work").expanduser()
    configure_sandbox(
        SandboxOptions(
            folder=work, helpers=settings.media_sandbox_helpers, required_walls=settings.media_sandbox_walls
        )
    )
    changed = Listeners[Sequence[MediaId]]()
    changed.add(access.invalidate)
    storage = ObjectStorage(open_stores(settings))
    return MediaDependencies(
        settings=settings,
        shards=shards,
        outbox=outbox,
        accounts=accounts,
        storage=storage,
        rows=MediaRows(shards),
        access=access,
        edge=edge,
        visibility=VisibilityChanges(outbox, access, edge),
        reads=ReadCounts(redis, settings.namespace, cache.redis_client),
        changed=changed,
        urls=MediaUrls(secret_key(settings), life_s=settings.media_url_life_s),
        pipeline=MediaPipeline(),
        temporary=TemporaryFolders(work),
        usage=StorageUsage(shards, storage, settings),
    )
