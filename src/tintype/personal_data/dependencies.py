"""What the parts of this room share: connections, the rooms it calls, and settings."""

from dataclasses import dataclass
from pathlib import Path

from shardwright.routing import Shards
from tintype.accounts import Accounts, Credentials
from tintype.base.outbox import Outbox
from tintype.media import ObjectStorage
from tintype.redis.rate_limits import RateLimiter


@dataclass(frozen=True)
class PersonalDataDependencies:
    """Built once and handed to each part of the room."""

    shards: Shards
    outbox: Outbox
    accounts: Accounts
    credentials: Credentials
    storage: ObjectStorage
    limiter: RateLimiter
    work_folder: Path
    """Where archives are written before they are stored."""
    grace_days: int
    """How long a requested deletion can be revoked by signing in."""
