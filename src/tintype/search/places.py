"""Places: made by whoever names one first, found by name and nearby.

The id comes from the name and a square of 100 metres, so that two people who name the same place at once make one. A
place near the edge of its square is looked for in the squares around as well before a new one is made.
"""

import asyncio
import base64
import hashlib
import math
import unicodedata

import msgspec

from shardwright.running import Shards
from tintype.base.ids import AccountId
from tintype.base.limits import Limiter, Rule
from tintype.search.errors import PlaceInvalid, PlaceNotFound
from tintype.search.filing import QUERIES, Filer, Subject, Wanted
from tintype.search.looking import Lookup, entries_of
from tintype.search.models import NearbyPlace, Place
from tintype.search.squares import LARGE_M, SMALL_M, distance_m, square_of, squares_around
from tintype.search.topics import place_topic
from tintype.search.words import squash, weigh, words_of

KIND = "places"
LONGEST_NAME = 100
ID_LENGTH = 16
MOST_NEARBY = 100
MAKING = Rule("places", 50, 86_400)


class Places:
    """Places, and their names in the index."""

    def __init__(self, shards: Shards, limiter: Limiter) -> None:
        self._shards, self._limiter = shards, limiter
        self._filer, self._lookup = Filer(shards), Lookup(shards)

    async def name(self, by: AccountId, name: str, latitude: float, longitude: float) -> Place:
        """The place of this name here: the one that is known, or a new one."""
        shown = _check(name, latitude, longitude)
        known = await self._find_here(shown, latitude, longitude)
        if known is None:
            await self._limiter.take(MAKING, by)
            known = Place(_id(shown, square_of(latitude, longitude, SMALL_M)), shown, latitude, longitude)
            await self._shards.of(place_topic(known.id)).execute(
                QUERIES.create_place, **msgspec.structs.asdict(known)
            )
        await self.file(known.id)
        return known

    async def get(self, place_id: str) -> Place:
        """One place."""
        found = await self._find_one(place_id)
        if found is None:
            raise PlaceNotFound
        return found

    async def find(self, text: str, *, limit: int) -> list[Place]:
        """Places by any word of their name, those with most posts first."""
        candidates = await self._lookup.find(KIND, text, enough=limit)
        return [msgspec.json.decode(each.detail, type=Place) for each in candidates[:limit]]

    async def near(
        self, latitude: float, longitude: float, *, radius_m: float, limit: int
    ) -> list[NearbyPlace]:
        """Places within a radius of at most five kilometres, the nearest first."""
        _check("x", latitude, longitude)
        radius = max(0.0, min(radius_m, LARGE_M))
        reach = math.degrees(radius / 6_371_000.0)
        asked = {
            "south": latitude - reach,
            "north": latitude + reach,
            "latitude": latitude,
            "longitude": longitude,
            "narrowing": math.cos(math.radians(latitude)),
            "limit": MOST_NEARBY,
        }
        keys = [f"square:{each}" for each in squares_around(latitude, longitude, LARGE_M)]
        parts = await asyncio.gather(
            *(self._shards.of(key).fetch(QUERIES.near, square=key, **asked) for key in keys)
        )
        places = (Place(**row) for part in parts for row in part)
        measured = (
            NearbyPlace(each, distance_m(latitude, longitude, each.latitude, each.longitude))
            for each in places
        )
        return sorted(
            (each for each in measured if each.distance_m <= radius), key=lambda each: each.distance_m
        )[:limit]

    async def file(self, place_id: str) -> None:
        """The place is on the map, and in the index by its name and present count; safe to repeat."""
        place = await self._find_one(place_id)
        if place is None:
            return
        square = f"square:{square_of(place.latitude, place.longitude, LARGE_M)}"
        await self._shards.of(square).execute(
            QUERIES.put_on_map,
            square=square,
            place_id=place.id,
            name=place.name,
            latitude=place.latitude,
            longitude=place.longitude,
        )
        topic = place_topic(place.id)
        home = self._shards.of(topic)

        async def read() -> Wanted:
            count: int = await home.fetch_value(QUERIES.find_topic, topic=topic) or 0
            return entries_of(
                KIND, filter(None, words_of(place.name)), weigh(count), msgspec.json.encode(place).decode()
            )

        await self._filer.refile(Subject(home, KIND, place.id), read)

    async def _find_one(self, place_id: str) -> Place | None:
        if not (place_id.isascii() and place_id.isalnum() and len(place_id) <= ID_LENGTH):
            return None
        row = await self._shards.of(place_topic(place_id)).fetch_one(QUERIES.find_place, id=place_id)
        return Place(**row) if row else None

    async def _find_here(self, name: str, latitude: float, longitude: float) -> Place | None:
        ids = [_id(name, square) for square in squares_around(latitude, longitude, SMALL_M)]
        found = await asyncio.gather(*(self._find_one(each) for each in ids))
        near = [
            each
            for each in found
            if each and distance_m(latitude, longitude, each.latitude, each.longitude) <= SMALL_M
        ]
        return found[0] or (near[0] if near else None)


def _check(name: str, latitude: float, longitude: float) -> str:
    """The name as it is shown, or a refusal."""
    shown = " ".join(unicodedata.normalize("NFC", name).split())
    is_sane = all(unicodedata.category(each) not in {"Cc", "Cs", "Co", "Cn"} for each in shown)
    if not (0 < len(shown) <= LONGEST_NAME and is_sane and squash(shown)):
        raise PlaceInvalid
    if not (-90.0 <= latitude <= 90.0 and -180.0 <= longitude <= 180.0):  # noqa: PLR2004 - the globe; NaN fails too
        raise PlaceInvalid
    return shown


def _id(name: str, square: str) -> str:
    """The same for the same name in the same square, for ever."""
    digest = hashlib.sha256(f"{''.join(words_of(name))}|{square}".encode()).digest()
    return base64.b32encode(digest).decode().lower()[:ID_LENGTH]
