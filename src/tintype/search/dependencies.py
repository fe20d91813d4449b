"""What the parts of the search room share: connections, and the rooms they call."""

from dataclasses import dataclass

from shardwright.routing import Shards
from tintype.graph import Graph, Visibility
from tintype.posts import Posts
from tintype.redis.rate_limits import RateLimiter


@dataclass(frozen=True)
class SearchDependencies:
    """Built once by the facade, and handed to every part of the room."""

    shards: Shards
    visibility: Visibility
    graph: Graph
    posts: Posts
    limiter: RateLimiter
