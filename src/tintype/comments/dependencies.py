"""What the parts of the comments room share."""

from dataclasses import dataclass

from shardwright.routing import Shards
from tintype.base.outbox import Outbox
from tintype.graph import Mentions, Visibility
from tintype.posts import Posts
from tintype.redis.rate_limits import RateLimiter


@dataclass(frozen=True)
class CommentsDependencies:
    """The rooms and engines that comments are built on."""

    shards: Shards
    outbox: Outbox
    visibility: Visibility
    posts: Posts
    mentions: Mentions
    limiter: RateLimiter
