"""What the parts of the direct room share."""

from dataclasses import dataclass

from shardwright.routing import Shards
from tintype.accounts import Accounts
from tintype.base.outbox import Outbox
from tintype.graph import Graph, Visibility
from tintype.media import MediaLibrary
from tintype.posts import Posts
from tintype.redis.rate_limits import RateLimiter
from tintype.stories import Stories
from tintype.sync import Sync


@dataclass(frozen=True)
class DirectDependencies:
    """The rooms and engines that direct messages are built on."""

    shards: Shards
    outbox: Outbox
    accounts: Accounts
    graph: Graph
    visibility: Visibility
    media: MediaLibrary
    posts: Posts
    stories: Stories
    limiter: RateLimiter
    sync: Sync
