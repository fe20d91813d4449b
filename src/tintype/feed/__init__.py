"""The home feed: posts of the people somebody follows and their own, ranked or newest first.

Owns the timelines in Redis, which can be rebuilt from the shards at any time, and on the author's shard who is a
celebrity (`feed_stars`). Reads the newest posts of many authors, their followers, and the follows, mutes, blocks,
likes and saves of a viewer straight from the shards that store them.
"""

from tintype.feed.cursors import MAX_CURSOR_LENGTH, MODES, Mode
from tintype.feed.events import FanOutDue, StarRisen
from tintype.feed.hydrate import FeedEntry, Hydrator
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
    "Hydrator",
    "Mode",
    "StarRisen",
    "ViewerStates",
]
