"""Places over HTTP."""

from typing import Annotated

import msgspec
from litestar import Controller, get, post
from litestar.params import JSONBody, PathParameter, QueryParameter

from tintype.api.http import scopes
from tintype.api.http.dependencies import Cursor, Guest, InjectedRooms, Limit, Viewer
from tintype.api.routes.hashtags import PageOrder, show_topic_page
from tintype.api.views.posts import PostsView
from tintype.api.views.search import NearbyPlacesView, NearbyView, PlacePageView, PlaceView, show_place
from tintype.search import place_topic

PathPlace = Annotated[str, PathParameter(description="A place's id.", max_length=100)]
Latitude = Annotated[float, QueryParameter(name="lat", ge=-90, le=90, description="Degrees north.")]
Longitude = Annotated[float, QueryParameter(name="lon", ge=-180, le=180, description="Degrees east.")]
Radius = Annotated[int, QueryParameter(ge=1, le=5_000, description="How far away at most, in metres.")]


class NewPlace(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A place by its name and coordinates."""

    name: Annotated[str, msgspec.Meta(max_length=1_000, examples=["Long Bridge"])]
    latitude: float
    longitude: float


class PlacesApi(Controller):
    """Places and their posts."""

    path = "/api/v1/places"
    tags = ("Search",)

    @post("/", summary="Name a place", scope=scopes.POSTS_WRITE)
    async def name(self, data: JSONBody[NewPlace], viewer: Viewer, rooms: InjectedRooms) -> PlaceView:
        """The place of this name within about 100 metres; it is created if there is none."""
        return show_place(
            await rooms.search.get_or_create_place(viewer.id, data.name, data.latitude, data.longitude)
        )

    @get("/nearby", summary="Places nearby", scope=scopes.READ)
    async def near(
        self,
        *,
        viewer: Viewer,  # noqa: ARG002 - declaring the viewer refuses guests
        rooms: InjectedRooms,
        latitude: Latitude,
        longitude: Longitude,
        radius_m: Radius = 1_000,
        limit: Limit = 20,
    ) -> NearbyPlacesView:
        """Places within the radius, the nearest first."""
        found = await rooms.search.find_places_near(latitude, longitude, radius_m=radius_m, limit=limit)
        return NearbyPlacesView([NearbyView(show_place(each.place), each.distance_m) for each in found])

    @get("/{place_id:str}", summary="A place", scope=scopes.READ)
    async def one(self, place_id: PathPlace, guest: Guest, rooms: InjectedRooms) -> PlacePageView:  # noqa: ARG002 - a wrong token is refused
        """A place and its number of public posts."""
        place = await rooms.search.get_place(place_id)
        return PlacePageView(show_place(place), await rooms.search.count_posts(place_topic(place.id)))

    @get("/{place_id:str}/posts", summary="The posts of a place", scope=scopes.READ)
    async def posts(
        self,
        *,
        place_id: PathPlace,
        guest: Guest,
        rooms: InjectedRooms,
        order: PageOrder = "newest",
        cursor: Cursor = None,
        limit: Limit = 24,
    ) -> PostsView:
        """Public posts made at this place that the viewer may see."""
        place = await rooms.search.get_place(place_id)
        return await show_topic_page(
            rooms, place_topic(place.id), guest, order=order, cursor=cursor, limit=limit
        )
