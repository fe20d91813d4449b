"""What search finds."""

from dataclasses import dataclass
from typing import Literal

import msgspec

from tintype.accounts import Account
from tintype.base.ids import AccountId, PostId
from tintype.graph import Seen

RecentKind = Literal["words", "account", "tag", "place"]
Order = Literal["newest", "top"]


@dataclass(frozen=True)
class PersonFound:
    """Somebody, as the viewer sees them, and how many of those the viewer follows follow them too."""

    seen: Seen
    mutual_count: int


class TagFound(msgspec.Struct, frozen=True):
    """A hashtag and how many public posts carry it."""

    tag: str
    post_count: int


class Place(msgspec.Struct, frozen=True):
    """A named spot on the map."""

    id: str
    name: str
    latitude: float
    longitude: float


@dataclass(frozen=True)
class NearbyPlace:
    """A place and how far away it is."""

    place: Place
    distance_m: float


class Listed(msgspec.Struct, frozen=True):
    """A post on a tag's or place's page, before it is known whether the viewer may see it."""

    post_id: PostId
    author_id: AccountId
    score: int


class Spot(msgspec.Struct, frozen=True):
    """Where a page begins: after a post of this score and id."""

    score: int
    post_id: int


class RecentSearch(msgspec.Struct, frozen=True):
    """Something that was looked for; `subject` is the words, an account id, a tag or a place id."""

    id: int
    kind: RecentKind
    subject: str
    title: str = ""
    """What to show for it: the words or the tag themselves, the username, the place's name."""
    account: Account | None = None
