"""What the parts of the posts room share."""

from dataclasses import dataclass

from shardwright.routing import Shards
from tintype.accounts import Accounts
from tintype.base.outbox import Outbox
from tintype.graph import Graph, Visibility
from tintype.media import MediaLibrary
from tintype.redis.client import RedisClient
from tintype.redis.hot_counters import HotCounters
from tintype.redis.leased_cache import LeasedCache
from tintype.redis.viewer_invalidation import ViewerInvalidation


@dataclass(frozen=True)
class PostsSettings:
    """Limits that an operator chooses."""

    posts_per_day: int = 25
    keep_deleted_days: int = 30


@dataclass(frozen=True)
class PostsDependencies:
    """The rooms and engines that posts are built on."""

    shards: Shards
    outbox: Outbox
    accounts: Accounts
    graph: Graph
    visibility: Visibility
    cache: LeasedCache
    viewer_invalidation: ViewerInvalidation
    like_counters: HotCounters
    media: MediaLibrary
    redis_client: RedisClient
    namespace: str
    settings: PostsSettings = PostsSettings()
