"""The types that the search room shows to other rooms."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import msgspec

from tintype.accounts import Account
from tintype.base.ids import AccountId, PostId
from tintype.graph import VisibleAccount

RecentKind = Literal["words", "account", "tag", "place"]
TopicOrder = Literal["newest", "top"]


@dataclass(frozen=True)
class PersonFound:
    """An account as the viewer sees it, and how many of the viewer's followees follow it."""

    person: VisibleAccount
    mutual_count: int


class TagFound(msgspec.Struct, frozen=True):
    """A hashtag and how many public posts carry it."""

    tag: str
    post_count: int


class NamedPlace(msgspec.Struct, frozen=True):
    """A named point on the map."""

    id: str
    name: str
    latitude: float
    longitude: float


class SuggestedPlace(msgspec.Struct, frozen=True):
    """A place to choose for a post: one that posts name already, or one of the gazetteer."""

    name: str
    latitude: float
    longitude: float
    id: str | None = None
    """None for one of the gazetteer, which becomes a place when it is named."""
    region: str = ""
    country_code: str = ""


@dataclass(frozen=True)
class NearbyPlace:
    """A place and how far away it is."""

    place: NamedPlace
    distance_m: float


class TopicPost(msgspec.Struct, frozen=True):
    """A post of a hashtag or place, before it is known whether the viewer may see it."""

    post_id: PostId
    author_id: AccountId
    score: int
    posted_at: datetime | None = None
    """Its own time, where that is not the time in its id."""


class TopicCursor(msgspec.Struct, frozen=True):
    """A position in the posts of a topic: after the post with this score, id and own time (None: the id's)."""

    score: int
    post_id: int
    posted_at: datetime | None = None


class RecentSearch(msgspec.Struct, frozen=True):
    """Something that was searched for; `subject` is the words, an account id, a hashtag or a place id."""

    id: int
    kind: RecentKind
    subject: str
    title: str = ""
    """What to show for it: the words or the hashtag themselves, the username, the place's name."""
    account: Account | None = None
