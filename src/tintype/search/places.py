"""Places: created by whoever names one first, found by name and by distance.

The id is derived from the name and a grid cell of 100 metres, so that two people who name the same place at once create
one. Before a new place is created, the cells around are searched as well, for a place near the edge of its cell.
"""

import asyncio
import base64
import hashlib
import math
import unicodedata

import msgspec

from tintype.base.ids import AccountId
from tintype.redis.rate_limits import RateLimit
from tintype.search.dependencies import SearchDependencies
from tintype.search.errors import PlaceInvalid, PlaceNotFound
from tintype.search.geo_cells import EARTH_RADIUS_M, LARGE_M, SMALL_M, cell_of, cells_around, distance_m
from tintype.search.index_reader import IndexReader
from tintype.search.index_writer import (
    EntriesByKey,
    IndexedSubject,
    IndexWriter,
    entries_of,
    popularity_weight,
)
from tintype.search.models import NearbyPlace, Place
from tintype.search.normalize import squash, words_of
from tintype.search.store import QUERIES
from tintype.search.topics import place_topic

KIND = "places"
LONGEST_NAME = 100
ID_LENGTH = 16
MAX_NEARBY = 100
CREATE_LIMIT = RateLimit("places", 50, 86_400)


class Places:
    """Places, and their names in the search index."""

    def __init__(self, deps: SearchDependencies) -> None:
        self._shards, self._limiter = deps.shards, deps.limiter
        self._writer, self._reader = IndexWriter(deps.shards), IndexReader(deps.shards)

    async def get_or_create(self, by: AccountId, name: str, latitude: float, longitude: float) -> Place:
        """The place of this name at this point: an existing one within 100 metres, or a new one."""
        shown = _check(name, latitude, longitude)
        place = await self._find_here(shown, latitude, longitude)
        if place is None:
            await self._limiter.acquire(CREATE_LIMIT, by)
            place = Place(_id(shown, cell_of(latitude, longitude, SMALL_M)), shown, latitude, longitude)
            await self._shards.of(place_topic(place.id)).execute(
                QUERIES.create_place, **msgspec.structs.asdict(place)
            )
        await self.index(place.id)
        return place

    async def get(self, place_id: str) -> Place:
        """One place."""
        found = await self._find_one(place_id)
        if found is None:
            raise PlaceNotFound
        return found

    async def find(self, text: str, *, limit: int) -> list[Place]:
        """Places by any word of their name, those with most posts first."""
        candidates = await self._reader.find(KIND, text, enough=limit)
        return [msgspec.json.decode(each.detail, type=Place) for each in candidates[:limit]]

    async def find_near(
        self, latitude: float, longitude: float, *, radius_m: float, limit: int
    ) -> list[NearbyPlace]:
        """Places within a radius of at most five kilometres, the nearest first."""
        _check("x", latitude, longitude)
        radius = max(0.0, min(radius_m, LARGE_M))
        reach = math.degrees(radius / EARTH_RADIUS_M)
        params = {
            "south": latitude - reach,
            "north": latitude + reach,
            "latitude": latitude,
            "longitude": longitude,
            "narrowing": math.cos(math.radians(latitude)),
            "limit": MAX_NEARBY,
        }
        keys = [f"square:{each}" for each in cells_around(latitude, longitude, LARGE_M)]
        parts = await asyncio.gather(
            *(self._shards.of(key).fetch(QUERIES.find_near, square=key, **params) for key in keys)
        )
        places = (Place(**row) for part in parts for row in part)
        measured = (
            NearbyPlace(each, distance_m(latitude, longitude, each.latitude, each.longitude))
            for each in places
        )
        return sorted(
            (each for each in measured if each.distance_m <= radius), key=lambda each: each.distance_m
        )[:limit]

    async def index(self, place_id: str) -> None:
        """Put the place into its grid cell, and index its name with its current post count; safe to repeat."""
        place = await self._find_one(place_id)
        if place is None:
            return
        cell = f"square:{cell_of(place.latitude, place.longitude, LARGE_M)}"
        await self._shards.of(cell).execute(
            QUERIES.add_to_cell,
            square=cell,
            place_id=place.id,
            name=place.name,
            latitude=place.latitude,
            longitude=place.longitude,
        )
        topic = place_topic(place.id)
        home = self._shards.of(topic)

        async def read() -> EntriesByKey:
            count: int = await home.fetch_value(QUERIES.find_topic, topic=topic) or 0
            return entries_of(
                KIND,
                filter(None, words_of(place.name)),
                popularity_weight(count),
                msgspec.json.encode(place).decode(),
            )

        await self._writer.reindex(IndexedSubject(home, KIND, place.id), read)

    async def _find_one(self, place_id: str) -> Place | None:
        if not (place_id.isascii() and place_id.isalnum() and len(place_id) <= ID_LENGTH):
            return None
        row = await self._shards.of(place_topic(place_id)).fetch_one(QUERIES.find_place, id=place_id)
        return Place(**row) if row else None

    async def _find_here(self, name: str, latitude: float, longitude: float) -> Place | None:
        ids = [_id(name, cell) for cell in cells_around(latitude, longitude, SMALL_M)]
        found = await asyncio.gather(*(self._find_one(each) for each in ids))
        nearby = [
            each
            for each in found
            if each and distance_m(latitude, longitude, each.latitude, each.longitude) <= SMALL_M
        ]
        return found[0] or (nearby[0] if nearby else None)


def _check(name: str, latitude: float, longitude: float) -> str:
    """The name with its white space collapsed, or a refusal."""
    shown = " ".join(unicodedata.normalize("NFC", name).split())
    is_sane = all(unicodedata.category(each) not in {"Cc", "Cs", "Co", "Cn"} for each in shown)
    if not (0 < len(shown) <= LONGEST_NAME and is_sane and squash(shown)):
        raise PlaceInvalid
    if not (-90.0 <= latitude <= 90.0 and -180.0 <= longitude <= 180.0):  # noqa: PLR2004 - the globe; NaN fails too
        raise PlaceInvalid
    return shown


def _id(name: str, cell: str) -> str:
    """The same name in the same cell always gives the same id."""
    digest = hashlib.sha256(f"{''.join(words_of(name))}|{cell}".encode()).digest()
    return base64.b32encode(digest).decode().lower()[:ID_LENGTH]
