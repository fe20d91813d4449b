"""What the parts of the moderation room share: connections, other rooms, where cases are stored, what is reportable."""

from dataclasses import dataclass
from functools import cached_property

from shardwright.routing import Shards
from tintype.accounts import Accounts
from tintype.base.outbox import Outbox
from tintype.comments import Comments
from tintype.direct import Direct
from tintype.graph import Visibility
from tintype.moderation.held_evidence import HeldEvidence
from tintype.moderation.queue_partitions import QueuePartitions
from tintype.moderation.reportable_objects import (
    ReportableAccounts,
    ReportableComments,
    ReportableMessages,
    ReportableObjects,
    ReportablePosts,
    ReportableStories,
    ReportableThreads,
)
from tintype.notifications import Notifications
from tintype.posts import Posts
from tintype.redis.rate_limits import RateLimiter
from tintype.stories import Stories


@dataclass(frozen=True)
class ModerationDependencies:
    """Built once and handed to every part of the room."""

    shards: Shards
    outbox: Outbox
    visibility: Visibility
    accounts: Accounts
    posts: Posts
    comments: Comments
    stories: Stories
    direct: Direct
    notifications: Notifications
    limiter: RateLimiter

    @cached_property
    def partitions(self) -> QueuePartitions:
        """The shards that store cases."""
        return QueuePartitions(self.shards)

    @cached_property
    def held_evidence(self) -> HeldEvidence:
        """What is kept while a case is open."""
        return HeldEvidence(self.direct, self.partitions)

    @cached_property
    def objects(self) -> ReportableObjects:
        """What can be reported, by kind."""
        return ReportableObjects(
            {
                "account": ReportableAccounts(self.visibility, self.accounts),
                "post": ReportablePosts(self.posts),
                "comment": ReportableComments(self.comments),
                "story": ReportableStories(self.stories),
                "message": ReportableMessages(self.direct),
                "thread": ReportableThreads(self.direct),
            }
        )
