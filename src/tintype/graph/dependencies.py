"""What the parts of this room share."""

from dataclasses import dataclass

from shardwright.routing import Shards
from tintype.accounts import Accounts
from tintype.base.outbox import Outbox
from tintype.graph.follow_rows import FollowRows
from tintype.redis.rate_limits import RateLimiter
from tintype.redis.viewer_invalidation import ViewerInvalidation


@dataclass(frozen=True)
class GraphDependencies:
    """Built once by `Graph` and handed to each of its parts."""

    shards: Shards
    outbox: Outbox
    accounts: Accounts
    follow_rows: FollowRows
    limiter: RateLimiter
    viewer_invalidation: ViewerInvalidation
