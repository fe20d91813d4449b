"""Search: people, hashtags and places by what somebody types, and the posts of a tag or place.

Owns `search_entries` (by hash of the head of a word), `topics`, `topic_posts` and `places` (by hash of the tag or
place), `place_squares` (by hash of the square), `search_filings` (with what is filed) and `recent_searches` (with the
person). Fed by events, and rebuildable from the other rooms: `tintype search rebuild`.
"""

from tintype.search.errors import (
    PlaceInvalid,
    PlaceNotFound,
    RecentSearchInvalid,
    RecentSearchNotFound,
    TagNotFound,
)
from tintype.search.filing import QUERIES
from tintype.search.models import (
    NearbyPlace,
    Order,
    PersonFound,
    Place,
    RecentKind,
    RecentSearch,
    Spot,
    TagFound,
)
from tintype.search.service import Search
from tintype.search.topics import START, place_topic, tag_topic

__all__ = [
    "QUERIES",
    "START",
    "NearbyPlace",
    "Order",
    "PersonFound",
    "Place",
    "PlaceInvalid",
    "PlaceNotFound",
    "RecentKind",
    "RecentSearch",
    "RecentSearchInvalid",
    "RecentSearchNotFound",
    "Search",
    "Spot",
    "TagFound",
    "TagNotFound",
    "place_topic",
    "tag_topic",
]
