"""What the parts of the moderation room share: connections, the rooms they call, and where cases are stored."""

from dataclasses import dataclass

from shardwright.routing import Shards
from tintype.accounts import Accounts
from tintype.base.outbox import Outbox
from tintype.moderation.queue_partitions import QueuePartitions
from tintype.moderation.reportable_objects import ReportableObjects
from tintype.notifications import Notifications
from tintype.redis.rate_limits import RateLimiter


@dataclass(frozen=True)
class ModerationDependencies:
    """Built once by the facade, and handed to every part of the room."""

    shards: Shards
    outbox: Outbox
    accounts: Accounts
    notifications: Notifications
    limiter: RateLimiter
    partitions: QueuePartitions
    objects: ReportableObjects
