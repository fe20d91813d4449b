"""Searching over HTTP, and what one searched for lately."""

from typing import Annotated, Literal

import msgspec
from litestar import Controller, delete, get, post
from litestar.params import JSONBody, QueryParameter

from tintype.api import scopes
from tintype.api.given import House, PathId, Viewer, id_from
from tintype.api.views import picture_of
from tintype.search import PersonFound, Place, RecentSearch, TagFound

Words = Annotated[str, QueryParameter(name="q", description="What was typed.", max_length=100)]
Few = Annotated[int, QueryParameter(description="How many at most.", ge=1, le=30)]


class PersonView(msgspec.Struct, frozen=True):
    """Somebody who was found, and how the viewer stands to them."""

    account_id: str
    username: str
    full_name: str
    profile_pic_url: str | None
    is_private: bool
    is_verified: bool
    follower_count: int
    viewer_follows: bool
    viewer_has_requested: bool
    follows_viewer: bool
    mutual_count: int


class TagView(msgspec.Struct, frozen=True):
    """A hashtag, without its #."""

    tag: str
    post_count: int


class PlaceView(msgspec.Struct, frozen=True):
    """A place."""

    place_id: str
    name: str
    latitude: float
    longitude: float


class PeopleView(msgspec.Struct, frozen=True):
    """People, the likeliest first."""

    people: list[PersonView]


class TagsView(msgspec.Struct, frozen=True):
    """Tags, the likeliest first."""

    tags: list[TagView]


class PlacesView(msgspec.Struct, frozen=True):
    """Places, the likeliest first."""

    places: list[PlaceView]


class FoundView(msgspec.Struct, frozen=True):
    """The first few of everything."""

    people: list[PersonView]
    tags: list[TagView]
    places: list[PlaceView]


class RecentView(msgspec.Struct, frozen=True):
    """Something looked for lately: words, an account id, a tag or a place id."""

    search_id: str
    kind: Literal["words", "account", "tag", "place"]
    subject: str
    title: str
    """What to show for it; the username for an account."""
    profile_pic_url: str | None


class RecentsView(msgspec.Struct, frozen=True):
    """The latest first."""

    searches: list[RecentView]


class NewRecent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to remember."""

    kind: Literal["words", "account", "tag", "place"]
    subject: Annotated[str, msgspec.Meta(max_length=1_000, examples=["sunset"])]


class SearchApi(Controller):
    """People, tags and places by what somebody types."""

    path = "/api/v1/search"
    tags = ("Search",)

    @get("/", summary="Search everything", scope=scopes.READ)
    async def everything(self, viewer: Viewer, rooms: House, text: Words, limit: Few = 5) -> FoundView:
        """The first few people, tags and places."""
        people = await rooms.search.people.find(text, viewer=viewer.id, limit=limit)
        tags = await rooms.search.tags.find(text, limit=limit)
        places = await rooms.search.places.find(text, limit=limit)
        return FoundView(
            [show_person(each) for each in people],
            [show_tag(each) for each in tags],
            [show_place(each) for each in places],
        )

    @get("/people", summary="Search people", scope=scopes.READ)
    async def people(self, viewer: Viewer, rooms: House, text: Words, limit: Few = 20) -> PeopleView:
        """By the beginning of a username or of any word of a name, forgiving typing errors."""
        found = await rooms.search.people.find(text, viewer=viewer.id, limit=limit)
        return PeopleView([show_person(each) for each in found])

    @get("/tags", summary="Search hashtags", scope=scopes.READ)
    async def hashtags(self, viewer: Viewer, rooms: House, text: Words, limit: Few = 20) -> TagsView:  # noqa: ARG002 - asking for the viewer refuses strangers
        """As one types, the most used first."""
        return TagsView([show_tag(each) for each in await rooms.search.tags.find(text, limit=limit)])

    @get("/places", summary="Search places", scope=scopes.READ)
    async def places(self, viewer: Viewer, rooms: House, text: Words, limit: Few = 20) -> PlacesView:  # noqa: ARG002 - likewise
        """By any word of the name."""
        return PlacesView([show_place(each) for each in await rooms.search.places.find(text, limit=limit)])

    @get("/recent", summary="Recent searches", scope=scopes.READ)
    async def recent(self, viewer: Viewer, rooms: House) -> RecentsView:
        """The last fifty."""
        return RecentsView([_show_recent(each) for each in await rooms.search.recent.list(viewer.id)])

    @post("/recent", summary="Remember a search", scope=scopes.ACCOUNT_WRITE)
    async def remember(self, data: JSONBody[NewRecent], viewer: Viewer, rooms: House) -> RecentView:
        """Put something at the front of the recent searches."""
        return _show_recent(await rooms.search.recent.remember(viewer.id, data.kind, data.subject))

    @delete("/recent", summary="Clear recent searches", scope=scopes.ACCOUNT_WRITE)
    async def clear(self, viewer: Viewer, rooms: House) -> None:
        """Forget all of them."""
        await rooms.search.recent.clear(viewer.id)

    @delete("/recent/{search_id:str}", summary="Remove a recent search", scope=scopes.ACCOUNT_WRITE)
    async def forget(self, search_id: PathId, viewer: Viewer, rooms: House) -> None:
        """Forget one of them."""
        await rooms.search.recent.forget(viewer.id, id_from(search_id))


def show_person(found: PersonFound) -> PersonView:
    """Somebody in a list of people found."""
    account, relation = found.seen.account, found.seen.relation
    return PersonView(
        account_id=str(account.id),
        username=account.username,
        full_name=account.full_name,
        profile_pic_url=picture_of(account),
        is_private=account.is_private,
        is_verified=account.is_verified,
        follower_count=account.follower_count,
        viewer_follows=relation.follows,
        viewer_has_requested=relation.has_requested,
        follows_viewer=relation.follows_viewer,
        mutual_count=found.mutual_count,
    )


def show_tag(found: TagFound) -> TagView:
    """A tag with its count."""
    return TagView(found.tag, found.post_count)


def show_place(place: Place) -> PlaceView:
    """A place."""
    return PlaceView(place.id, place.name, place.latitude, place.longitude)


def _show_recent(search: RecentSearch) -> RecentView:
    picture = picture_of(search.account) if search.account else None
    return RecentView(str(search.id), search.kind, search.subject, search.title, picture)
