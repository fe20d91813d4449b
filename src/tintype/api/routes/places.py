"""Places over HTTP."""

from typing import Annotated

import msgspec
from litestar import Controller, get, post
from litestar.params import JSONBody, PathParameter, QueryParameter

from tintype.api.http import scopes
from tintype.api.http.dependencies import Guest, InjectedRooms, Limit, Viewer, id_of
from tintype.api.routes.hashtags import TOPIC_PAGE, InjectedTopicPage, show_topic_page
from tintype.api.views.posts import PostsView
from tintype.api.views.search import (
    NearbyPlacesView,
    NearbyView,
    PlacePageView,
    PlacesView,
    PlaceView,
    SuggestedPlacesView,
    show_place,
    show_suggested_place,
)
from tintype.search import place_topic

PathPlace = Annotated[str, PathParameter(description="A place's id.", max_length=100)]
Latitude = Annotated[float, QueryParameter(name="lat", ge=-90, le=90, description="Degrees north.")]
Longitude = Annotated[float, QueryParameter(name="lon", ge=-180, le=180, description="Degrees east.")]
Typed = Annotated[str, QueryParameter(name="q", max_length=100, description="What was typed.")]
Radius = Annotated[int, QueryParameter(ge=1, le=5_000, description="How far away at most, in metres.")]


class NewPlace(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A place by its name and coordinates."""

    name: Annotated[str, msgspec.Meta(max_length=1_000, examples=["Long Bridge"])]
    latitude: float
    longitude: float


class PlacesApi(Controller):
    """Places and their posts."""

    path = "/api/v1/places"
    dependencies = TOPIC_PAGE
    tags = ("Search",)

    @post("/", summary="Name a place", scope=scopes.POSTS_WRITE)
    async def name(self, data: JSONBody[NewPlace], viewer: Viewer, rooms: InjectedRooms) -> PlaceView:
        """The place of this name within about 100 metres, or a new one.

        A place that no public post names is found by those alone who have named it.
        """
        return show_place(
            await rooms.search.get_or_create_place(viewer.id, data.name, data.latitude, data.longitude)
        )

    @get("/nearby", summary="Places nearby", scope=scopes.READ)
    async def near(
        self,
        *,
        viewer: Viewer,
        rooms: InjectedRooms,
        latitude: Latitude,
        longitude: Longitude,
        radius_m: Radius = 1_000,
        limit: Limit = 20,
    ) -> NearbyPlacesView:
        """Places within the radius, the nearest first."""
        found = await rooms.search.find_places_near(
            latitude, longitude, viewer=viewer.id, radius_m=radius_m, limit=limit
        )
        return NearbyPlacesView([NearbyView(show_place(each.place), each.distance_m) for each in found])

    @get("/suggestions", summary="Places to choose", scope=scopes.READ)
    async def suggest(
        self, viewer: Viewer, rooms: InjectedRooms, text: Typed, limit: Limit = 8
    ) -> SuggestedPlacesView:
        """Places by what was typed: those of people first, then towns and cities of the gazetteer."""
        found = await rooms.search.suggest_places(text, viewer=viewer.id, limit=limit)
        return SuggestedPlacesView([show_suggested_place(each) for each in found])

    @get("/mine", summary="My places", scope=scopes.READ)
    async def mine(self, viewer: Viewer, rooms: InjectedRooms) -> PlacesView:
        """The places that the viewer has named, the latest first; at most 200."""
        return PlacesView([show_place(each) for each in await rooms.search.list_own_places(viewer.id)])

    @get("/{place_id:str}", summary="A place", scope=scopes.READ)
    async def one(self, place_id: PathPlace, guest: Guest, rooms: InjectedRooms) -> PlacePageView:
        """A place and its number of public posts; one without any is there for those who have named it."""
        place = await rooms.search.get_place(place_id, viewer=id_of(guest))
        return PlacePageView(show_place(place), await rooms.search.count_posts(place_topic(place.id)))

    @get("/{place_id:str}/posts", summary="The posts of a place", scope=scopes.READ)
    async def posts(
        self, place_id: PathPlace, guest: Guest, rooms: InjectedRooms, page: InjectedTopicPage
    ) -> PostsView:
        """Public posts made at this place that the viewer may see."""
        place = await rooms.search.get_place(place_id, viewer=id_of(guest))
        return await show_topic_page(rooms, place_topic(place.id), guest, page)
