"""Search: people, hashtags and places by what somebody types, and the posts of a tag or place.

Fed by events and rebuildable from the other rooms.
"""

from tintype.search.service import QUERIES, Search

__all__ = ["QUERIES", "Search"]
