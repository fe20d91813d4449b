"""The home feed: posts of the people one follows, newest first.

Owns the timelines in Redis, which can be rebuilt from the shards at any time.
"""

from tintype.feed.service import Feed, FeedPage
from tintype.feed.timelines import Timelines
from tintype.feed.visible import QUERIES as VISIBLE_QUERIES
from tintype.feed.visible import Entry, Visible

__all__ = ["VISIBLE_QUERIES", "Entry", "Feed", "FeedPage", "Timelines", "Visible"]
