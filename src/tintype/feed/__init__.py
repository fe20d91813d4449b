"""The home feed: posts of the people and hashtags somebody follows, ranked or newest first, and their own new ones.

Owns the timelines in Redis, which can be rebuilt from the shards at any time; on the author's shard who is a celebrity
(`feed_stars`); and on the reader's shard which hashtags they follow (`followed_tags`). Reads the newest posts of many
authors and hashtags, their followers, and the follows, mutes, blocks, likes and saves of a viewer straight from the
shards that store them.
"""

from tintype.feed.cursors import MAX_CURSOR_LENGTH, MODES, Mode
from tintype.feed.errors import TagInvalid, TooManyTags
from tintype.feed.events import FanOutDue, StarRisen, TagFollowChanged
from tintype.feed.fan_out import TimelinesReached
from tintype.feed.followed_tags import FollowedTags
from tintype.feed.hydrate import Hydrator
from tintype.feed.hydrated import FeedEntry
from tintype.feed.pages import FeedPage
from tintype.feed.service import Feed
from tintype.feed.store import QUERIES
from tintype.feed.viewer_state import ViewerStates

__all__ = [
    "MAX_CURSOR_LENGTH",
    "MODES",
    "QUERIES",
    "FanOutDue",
    "Feed",
    "FeedEntry",
    "FeedPage",
    "FollowedTags",
    "Hydrator",
    "Mode",
    "StarRisen",
    "TagFollowChanged",
    "TagInvalid",
    "TimelinesReached",
    "TooManyTags",
    "ViewerStates",
]
