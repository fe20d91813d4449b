"""What the parts of the stories room share: connections, the rooms they call, and one setting."""

from dataclasses import dataclass

from shardwright.routing import Shards
from tintype.base.outbox import Outbox
from tintype.graph import Graph, Visibility
from tintype.media import MediaLibrary
from tintype.ranking import Ranking
from tintype.redis.rate_limits import RateLimiter
from tintype.stories.author_stories_cache import AuthorStoriesCache


@dataclass(frozen=True)
class StoriesDependencies:
    """Built once by the facade, and handed to every part of the room."""

    shards: Shards
    outbox: Outbox
    visibility: Visibility
    graph: Graph
    media: MediaLibrary
    ranking: Ranking
    limiter: RateLimiter
    author_stories: AuthorStoriesCache
    stories_per_day: int
