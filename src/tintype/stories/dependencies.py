"""What the parts of the stories room share: connections, the rooms they call, and settings."""

from dataclasses import dataclass
from functools import cached_property, partial

from shardwright.routing import Shards
from tintype.base.outbox import Outbox
from tintype.graph import Graph, Visibility
from tintype.media import MediaLibrary
from tintype.posts import Posts
from tintype.ranking import Ranking
from tintype.redis.client import RedisClient
from tintype.redis.rate_limits import RateLimiter
from tintype.stories.author_stories_cache import AuthorStoriesCache
from tintype.stories.store import load_author_stories


@dataclass(frozen=True)
class StoriesDependencies:
    """Built once and handed to every part of the room."""

    shards: Shards
    outbox: Outbox
    visibility: Visibility
    graph: Graph
    media: MediaLibrary
    posts: Posts
    ranking: Ranking
    limiter: RateLimiter
    redis_client: RedisClient
    namespace: str
    stories_per_day: int

    @cached_property
    def author_stories(self) -> AuthorStoriesCache:
        """The live stories of each author, cached in Redis and in this process."""
        return AuthorStoriesCache(
            self.redis_client, self.namespace, partial(load_author_stories, self.shards)
        )
