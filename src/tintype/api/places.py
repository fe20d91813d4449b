"""Places over HTTP."""

from typing import Annotated

import msgspec
from litestar import Controller, get, post
from litestar.params import JSONBody, PathParameter, QueryParameter

from tintype.api import scopes
from tintype.api.given import Cursor, Guest, House, Limit, Viewer
from tintype.api.search import PlaceView, show_place
from tintype.api.tags import PageOrder, page_of
from tintype.api.views import PostsView
from tintype.search import place_topic

PathPlace = Annotated[str, PathParameter(description="A place's id.", max_length=100)]
Latitude = Annotated[float, QueryParameter(name="lat", ge=-90, le=90, description="Degrees north.")]
Longitude = Annotated[float, QueryParameter(name="lon", ge=-180, le=180, description="Degrees east.")]
Radius = Annotated[int, QueryParameter(ge=1, le=5_000, description="How far away at most, in metres.")]


class NewPlace(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A place to name."""

    name: Annotated[str, msgspec.Meta(max_length=1_000, examples=["Long Bridge"])]
    latitude: float
    longitude: float


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


class PlacesApi(Controller):
    """Places and their posts."""

    path = "/api/v1/places"
    tags = ("Search",)

    @post("/", summary="Name a place", scope=scopes.POSTS_WRITE)
    async def name(self, data: JSONBody[NewPlace], viewer: Viewer, rooms: House) -> PlaceView:
        """The place of this name here: the one that is known within about 100 metres, or a new one."""
        return show_place(await rooms.search.places.name(viewer.id, data.name, data.latitude, data.longitude))

    @get("/nearby", summary="Places nearby", scope=scopes.READ)
    async def near(
        self,
        *,
        viewer: Viewer,  # noqa: ARG002 - asking for the viewer refuses strangers
        rooms: House,
        latitude: Latitude,
        longitude: Longitude,
        radius_m: Radius = 1_000,
        limit: Limit = 20,
    ) -> NearbyPlacesView:
        """The nearest first, up to five kilometres away."""
        found = await rooms.search.places.near(latitude, longitude, radius_m=radius_m, limit=limit)
        return NearbyPlacesView([NearbyView(show_place(each.place), each.distance_m) for each in found])

    @get("/{place_id:str}", summary="A place", scope=scopes.READ)
    async def one(self, place_id: PathPlace, guest: Guest, rooms: House) -> PlacePageView:  # noqa: ARG002 - a wrong token is refused
        """A place and its number of public posts."""
        place = await rooms.search.places.get(place_id)
        return PlacePageView(show_place(place), await rooms.search.topics.count(place_topic(place.id)))

    @get("/{place_id:str}/posts", summary="The posts of a place", scope=scopes.READ)
    async def posts(
        self,
        *,
        place_id: PathPlace,
        guest: Guest,
        rooms: House,
        order: PageOrder = "newest",
        cursor: Cursor = None,
        limit: Limit = 24,
    ) -> PostsView:
        """Public posts made there that the viewer may see."""
        place = await rooms.search.places.get(place_id)
        return await page_of(rooms, place_topic(place.id), guest, order=order, cursor=cursor, limit=limit)
