"""What the parts of this room share: connections, the rooms it calls, and settings."""

from dataclasses import dataclass
from pathlib import Path

from shardwright.routing import Shards
from tintype.accounts import Accounts
from tintype.base.outbox import Outbox
from tintype.graph import Visibility
from tintype.media import PRIVATE, MediaLibrary, ObjectStorage
from tintype.posts import Posts
from tintype.redis.rate_limits import RateLimiter

FOLDER = f"{PRIVATE}/imports"
"""Of uploaded archives, in the object store."""


@dataclass(frozen=True)
class ImportsDependencies:
    """Built once and handed to each part of the room."""

    shards: Shards
    outbox: Outbox
    accounts: Accounts
    visibility: Visibility
    media: MediaLibrary
    posts: Posts
    limiter: RateLimiter
    work_folder: Path
    """Where a worker keeps the archives that it reads."""
    max_bytes: int
    """Of all archives of an import together; zero: imports are switched off."""

    @property
    def storage(self) -> ObjectStorage:
        """Where archives wait for their import."""
        return self.media.storage
