"""Search over HTTP, and recent searches."""

from typing import Annotated, Literal

import msgspec
from litestar import Controller, delete, get, post
from litestar.params import JSONBody, QueryParameter

from tintype.api.http import scopes
from tintype.api.http.cursors import decode_cursor
from tintype.api.http.dependencies import Cursor, InjectedRooms, Limit, PathId, Viewer, parse_id
from tintype.api.views.post_presenter import show_page
from tintype.api.views.posts import PostsView
from tintype.api.views.search import (
    FoundPeopleView,
    PlacesView,
    RecentSearchesView,
    RecentSearchView,
    SearchResultsView,
    TagsView,
    show_found_person,
    show_place,
    show_recent_search,
    show_tag,
)

Words = Annotated[str, QueryParameter(name="q", description="What was typed.", max_length=100)]
Few = Annotated[int, QueryParameter(description="How many at most.", ge=1, le=30)]


class NewRecentSearch(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A search to remember: words, an account id, a hashtag or a place id."""

    kind: Literal["words", "account", "tag", "place"]
    subject: Annotated[str, msgspec.Meta(max_length=1_000, examples=["sunset"])]


class SearchApi(Controller):
    """Finds people, hashtags and places by what was typed."""

    path = "/api/v1/search"
    tags = ("Search",)

    @get("/", summary="Search everything", scope=scopes.READ)
    async def everything(
        self, viewer: Viewer, rooms: InjectedRooms, text: Words, limit: Few = 5
    ) -> SearchResultsView:
        """The best few people, hashtags and places."""
        people = await rooms.search.find_people(text, viewer=viewer.id, limit=limit)
        tags = await rooms.search.find_tags(text, limit=limit)
        places = await rooms.search.find_places(text, viewer=viewer.id, limit=limit)
        return SearchResultsView(
            [show_found_person(each) for each in people],
            [show_tag(each) for each in tags],
            [show_place(each) for each in places],
        )

    @get("/people", summary="Search people", scope=scopes.READ)
    async def people(
        self, viewer: Viewer, rooms: InjectedRooms, text: Words, limit: Few = 20
    ) -> FoundPeopleView:
        """By the beginning of a username or of any word of a name; tolerates typing errors."""
        found = await rooms.search.find_people(text, viewer=viewer.id, limit=limit)
        return FoundPeopleView([show_found_person(each) for each in found])

    @get("/tags", summary="Search hashtags", scope=scopes.READ)
    async def hashtags(self, viewer: Viewer, rooms: InjectedRooms, text: Words, limit: Few = 20) -> TagsView:  # noqa: ARG002 - declaring the viewer refuses guests
        """Hashtags that begin like this, the most used first."""
        return TagsView([show_tag(each) for each in await rooms.search.find_tags(text, limit=limit)])

    @get("/places", summary="Search places", scope=scopes.READ)
    async def places(self, viewer: Viewer, rooms: InjectedRooms, text: Words, limit: Few = 20) -> PlacesView:
        """Places by any word of their name: those that public posts name, and those you have named."""
        found = await rooms.search.find_places(text, viewer=viewer.id, limit=limit)
        return PlacesView([show_place(each) for each in found])

    @get("/posts", summary="Search captions", scope=scopes.READ)
    async def posts(
        self, viewer: Viewer, rooms: InjectedRooms, text: Words, cursor: Cursor = None, limit: Limit = 24
    ) -> PostsView:
        """Public posts by the words of their captions, the newest first. The longest word must be written out."""
        found = await rooms.search.find_posts(
            text, viewer=viewer.id, before=decode_cursor(cursor), limit=limit
        )
        return await show_page(rooms, viewer, found)

    @get("/recent", summary="Recent searches", scope=scopes.READ)
    async def recent(self, viewer: Viewer, rooms: InjectedRooms) -> RecentSearchesView:
        """The last fifty searches, the latest first."""
        return RecentSearchesView(
            [show_recent_search(each) for each in await rooms.search.list_recent_searches(viewer.id)]
        )

    @post("/recent", summary="Remember a search", scope=scopes.ACCOUNT_WRITE)
    async def remember(
        self, data: JSONBody[NewRecentSearch], viewer: Viewer, rooms: InjectedRooms
    ) -> RecentSearchView:
        """Put a search at the top of the recent searches."""
        return show_recent_search(await rooms.search.add_recent_search(viewer.id, data.kind, data.subject))

    @delete("/recent", summary="Clear recent searches", scope=scopes.ACCOUNT_WRITE)
    async def clear(self, viewer: Viewer, rooms: InjectedRooms) -> None:
        """Delete all recent searches."""
        await rooms.search.clear_recent_searches(viewer.id)

    @delete("/recent/{search_id:str}", summary="Remove a recent search", scope=scopes.ACCOUNT_WRITE)
    async def remove(self, search_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> None:
        """Delete one recent search."""
        await rooms.search.remove_recent_search(viewer.id, parse_id(search_id))
