"""Search results: people, hashtags, places, and recent searches."""

from typing import Literal

import msgspec
from msgspec.structs import astuple

from tintype.api.views.people import PersonView, avatar_url, show_person
from tintype.search import NamedPlace, PersonFound, RecentSearch, SuggestedPlace, TagFound


class FoundPersonView(PersonView, frozen=True):
    """Somebody who was found, with numbers that help to recognise them."""

    follower_count: int
    mutual_count: int
    """How many of those whom the viewer follows follow them."""


class TagView(msgspec.Struct, frozen=True):
    """A hashtag, without its #."""

    tag: str
    post_count: int


class TagPageView(TagView, frozen=True):
    """A hashtag, and whether the viewer follows it."""

    viewer_follows: bool


class FollowedTagsView(msgspec.Struct, frozen=True):
    """The hashtags that the viewer follows, without their #, the latest first."""

    tags: list[str]


class PlaceView(msgspec.Struct, frozen=True):
    """A place."""

    place_id: str
    name: str
    latitude: float
    longitude: float


class SuggestedPlaceView(msgspec.Struct, frozen=True):
    """A place to choose for a post. Without a `place_id` it is one of the gazetteer: name it (`POST /places`) first."""

    place_id: str | None
    name: str
    region: str
    """A state of the USA, or empty."""
    country_code: str
    """ISO 3166-1 alpha-2; empty for a place that only people have named."""
    latitude: float
    longitude: float


class SuggestedPlacesView(msgspec.Struct, frozen=True):
    """Places to choose from: those that posts name already first, then towns and cities of the gazetteer (GeoNames)."""

    places: list[SuggestedPlaceView]


class FoundPeopleView(msgspec.Struct, frozen=True):
    """People, the best match first."""

    people: list[FoundPersonView]


class TagsView(msgspec.Struct, frozen=True):
    """Hashtags, the best match first."""

    tags: list[TagView]


class PlacesView(msgspec.Struct, frozen=True):
    """Places, the best match first."""

    places: list[PlaceView]


class SearchResultsView(msgspec.Struct, frozen=True):
    """The best few people, hashtags and places."""

    people: list[FoundPersonView]
    tags: list[TagView]
    places: list[PlaceView]


class RecentSearchView(msgspec.Struct, frozen=True):
    """A recent search; `subject` is the words, the account id, the hashtag or the place id."""

    search_id: str
    kind: Literal["words", "account", "tag", "place"]
    subject: str
    title: str
    """What to show for it; the username for an account."""
    profile_pic_url: str | None


class RecentSearchesView(msgspec.Struct, frozen=True):
    """Recent searches, the latest first."""

    searches: list[RecentSearchView]


def show_found_person(found: PersonFound) -> FoundPersonView:
    """Somebody in a list of search results."""
    return FoundPersonView(
        *astuple(show_person(found.person)),
        follower_count=found.person.account.follower_count,
        mutual_count=found.mutual_count,
    )


def show_tag(found: TagFound) -> TagView:
    """A hashtag and how many public posts have it."""
    return TagView(found.tag, found.post_count)


def show_suggested_place(place: SuggestedPlace) -> SuggestedPlaceView:
    """A place to choose for a post."""
    return SuggestedPlaceView(
        place_id=place.id,
        name=place.name,
        region=place.region,
        country_code=place.country_code,
        latitude=place.latitude,
        longitude=place.longitude,
    )


def show_place(place: NamedPlace) -> PlaceView:
    """A place."""
    return PlaceView(place.id, place.name, place.latitude, place.longitude)


def show_recent_search(search: RecentSearch) -> RecentSearchView:
    """A recent search, with the avatar of the account if it was one."""
    picture = avatar_url(search.account) if search.account else None
    return RecentSearchView(str(search.id), search.kind, search.subject, search.title, picture)


class PlacePageView(msgspec.Struct, frozen=True):
    """A place and how many public posts were made there."""

    place: PlaceView
    post_count: int


class NearbyView(msgspec.Struct, frozen=True):
    """A place and how far away it is."""

    place: PlaceView
    distance_m: float


class NearbyPlacesView(msgspec.Struct, frozen=True):
    """Places, the nearest first."""

    places: list[NearbyView]
