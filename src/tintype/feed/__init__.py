"""The home feed: posts of the people one follows and one's own, ranked or newest first.

Owns the timelines in Redis, which can be built from the shards at any time, and on the author's shard who is a star
(`feed_stars`). Reads the newest posts and the relations of a viewer straight from the shards of those who keep them.
"""

from tintype.feed.building import QUERIES
from tintype.feed.cursors import LONGEST_CURSOR, MODES, Mode
from tintype.feed.events import FanOutDue, StarRisen
from tintype.feed.pages import FeedPage
from tintype.feed.service import Feed
from tintype.feed.stances import QUERIES as VISIBLE_QUERIES
from tintype.feed.stances import Stances
from tintype.feed.visible import Entry, Visible

__all__ = [
    "LONGEST_CURSOR",
    "MODES",
    "QUERIES",
    "VISIBLE_QUERIES",
    "Entry",
    "FanOutDue",
    "Feed",
    "FeedPage",
    "Mode",
    "Stances",
    "StarRisen",
    "Visible",
]
