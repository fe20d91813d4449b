"""Search: people, hashtags, places and captions by what somebody types, and the posts of a hashtag or place.

Owns `search_entries` (sharded by the prefix of a word), `topics`, `topic_posts` and `places` (by hash of the hashtag or
place), `place_squares` (by hash of the grid cell), `caption_words` (by hash of the word), `search_filings` (what is
indexed under which keys, with what is indexed) and `recent_searches` (with the account). Kept current by events, and
can be rebuilt from the other rooms: `tintype search rebuild`.
"""

from tintype.search.errors import (
    NewPlaceInvalid,
    PlaceNotFound,
    RecentSearchInvalid,
    RecentSearchNotFound,
    TagNotFound,
)
from tintype.search.models import (
    NamedPlace,
    NearbyPlace,
    PersonFound,
    RecentKind,
    RecentSearch,
    SuggestedPlace,
    TagFound,
    TopicCursor,
    TopicOrder,
)
from tintype.search.service import Search
from tintype.search.store import QUERIES
from tintype.search.topics import FIRST_PAGE, place_topic, tag_topic

__all__ = [
    "FIRST_PAGE",
    "QUERIES",
    "NamedPlace",
    "NearbyPlace",
    "NewPlaceInvalid",
    "PersonFound",
    "PlaceNotFound",
    "RecentKind",
    "RecentSearch",
    "RecentSearchInvalid",
    "RecentSearchNotFound",
    "Search",
    "SuggestedPlace",
    "TagFound",
    "TagNotFound",
    "TopicCursor",
    "TopicOrder",
    "place_topic",
    "tag_topic",
]
