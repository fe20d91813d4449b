"""Places: named by people, created by the first public post that names one, found by name and by distance.

The id is derived from the name and a grid cell of 100 metres, so that two people who name the same place at once name
one. Before a new place is named, the cells around are searched as well, for a place near the edge of its cell. A place
that no public post names is found by those alone who named it (`named_places.py`), and nobody else learns its name or
where it is: its row, its cell and its words in the index come with the first public post and go with the last.
"""

import asyncio
import base64
import hashlib
import math
import unicodedata
from collections.abc import Sequence

import asyncpg
import msgspec

from tintype.base.ids import LARGEST_ID, AccountId
from tintype.base.invisible_characters import remove_invisible
from tintype.base.rate_limits import PLACE
from tintype.search.dependencies import SearchDependencies
from tintype.search.errors import NewPlaceInvalid, PlaceNotFound
from tintype.search.geo_cells import EARTH_RADIUS_M, LARGE_M, SMALL_M, cell_of, cells_around, distance_m
from tintype.search.index_reader import IndexReader
from tintype.search.index_writer import (
    EntriesByKey,
    IndexedSubject,
    IndexWriter,
    entries_of,
    popularity_weight,
)
from tintype.search.models import NamedPlace, NearbyPlace
from tintype.search.named_places import NamedPlaces
from tintype.search.normalize import squash, words_of
from tintype.search.store import QUERIES
from tintype.search.topics import PLACE as PLACE_TOPIC
from tintype.search.topics import place_topic

KIND = "places"
LONGEST_NAME = 100
ID_LENGTH = 16
MAX_NEARBY = 100
POSTS_READ = 5
"""How many of the newest posts at a place are read to learn its name and point."""


class Places:
    """Places that public posts name, and for each person those they named themselves."""

    def __init__(self, deps: SearchDependencies, named: NamedPlaces) -> None:
        self._shards, self._limiter, self._named = deps.shards, deps.limiter, named
        self._writer = IndexWriter(deps.shards)
        self._reader = IndexReader(deps.shards, are_candidates_checked=True)

    async def get_or_create(self, by: AccountId, name: str, latitude: float, longitude: float) -> NamedPlace:
        """The place of this name at this point: one within 100 metres that they may find, or a new one.

        A new one is its namer's alone until a public post names it; the answer does not tell whether others have
        named it too.
        """
        shown = _check(name, latitude, longitude)
        place = await self._find_here(by, shown, latitude, longitude)
        if place is None:
            await self._limiter.acquire(PLACE, by)
            place = NamedPlace(_id(shown, cell_of(latitude, longitude, SMALL_M)), shown, latitude, longitude)
        await self._named.add(by, place)
        return place

    async def get(self, place_id: str, *, viewer: AccountId | None) -> NamedPlace:
        """A place that a public post names, or that the viewer has named."""
        found = (await self.find_many([place_id], viewer=viewer)).get(place_id)
        if found is None:
            raise PlaceNotFound
        return found

    async def find_many(self, ids: Sequence[str], *, viewer: AccountId | None) -> dict[str, NamedPlace]:
        """Those of the places that public posts name, or that the viewer has named."""
        public = await self._find_public(ids)
        if all(each in public for each in ids):
            return public
        wanted, own = set(ids), await self._named.list_latest(viewer)
        return {each.id: each for each in own if each.id in wanted} | public

    async def find(self, text: str, *, viewer: AccountId, limit: int) -> list[NamedPlace]:
        """Places by any word of their name: public ones, those with most posts first, and the viewer's own."""
        candidates, own = await asyncio.gather(
            self._reader.find(KIND, text, enough=limit), self._named.find(viewer, text)
        )
        listed = [msgspec.json.decode(each.detail, type=NamedPlace) for each in candidates[: 2 * limit]]
        public = await self._which_public([each.id for each in listed])
        shown = {each.id: each for each in listed if each.id in public}
        return list((shown | {each.id: each for each in own if each.id not in shown}).values())[:limit]

    async def find_near(
        self, latitude: float, longitude: float, *, viewer: AccountId, radius_m: float, limit: int
    ) -> list[NearbyPlace]:
        """Places within a radius of at most five kilometres, public ones and the viewer's own, the nearest first."""
        _check("x", latitude, longitude)
        radius = max(0.0, min(radius_m, LARGE_M))
        listed, own = await asyncio.gather(
            self._list_near(latitude, longitude, radius), self._named.list_latest(viewer)
        )
        public = await self._which_public([each.id for each in listed])
        places = {each.id: each for each in own} | {each.id: each for each in listed if each.id in public}
        measured = (
            NearbyPlace(each, distance_m(latitude, longitude, each.latitude, each.longitude))
            for each in places.values()
        )
        return sorted(
            (each for each in measured if each.distance_m <= radius), key=lambda each: each.distance_m
        )[:limit]

    async def index(self, place_id: str) -> None:
        """List the place by its name and in its grid cell while public posts name it; safe to repeat."""
        topic = place_topic(place_id)
        home = self._shards.of(topic)
        place = await self._find_one(place_id) or await self._restore(place_id)
        if place is None:
            return

        async def read() -> EntriesByKey:
            count: int = await home.fetch_value(QUERIES.find_topic, topic=topic) or 0
            await self._set_cell(place, is_public=count > 0)
            if count <= 0:
                return {}
            words = filter(None, words_of(place.name))
            return entries_of(KIND, words, popularity_weight(count), msgspec.json.encode(place).decode())

        await self._writer.reindex(IndexedSubject(home, KIND, place.id), read)
        await home.execute(QUERIES.delete_place, id=place.id, topic=topic)

    async def _set_cell(self, place: NamedPlace, *, is_public: bool) -> None:
        cell = f"square:{cell_of(place.latitude, place.longitude, LARGE_M)}"
        where = {"square": cell, "place_id": place.id}
        if not is_public:
            await self._shards.of(cell).execute(QUERIES.remove_from_cell, **where)
            return
        point = {"name": place.name, "latitude": place.latitude, "longitude": place.longitude}
        await self._shards.of(cell).execute(QUERIES.add_to_cell, **where, **point)

    async def _restore(self, place_id: str) -> NamedPlace | None:
        """Create a place from a public post that names it; what does not fit its id is nobody's place."""
        topic = place_topic(place_id)
        home = self._shards.of(topic)
        rows = await home.fetch(
            QUERIES.page_newest, topic=topic, post_id=LARGEST_ID, posted_at=None, limit=POSTS_READ
        )
        gathered = await self._shards.gather(
            QUERIES.gather_post_places, [row["post_id"] for row in rows], place_id=place_id
        )
        for row in sorted(gathered, key=lambda row: row["post_id"]):
            place = _read_place(row)
            if place is not None:
                await home.execute(QUERIES.create_place, **msgspec.structs.asdict(place))
                return await self._find_one(place_id)
        return None

    async def _list_near(self, latitude: float, longitude: float, radius_m: float) -> list[NamedPlace]:
        reach = math.degrees(radius_m / EARTH_RADIUS_M)
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
        return [NamedPlace(**row) for part in parts for row in part]

    async def _which_public(self, ids: Sequence[str]) -> set[str]:
        """Those of the places that public posts name now."""
        by_shard: dict[int, list[str]] = {}
        for each in ids:
            topic = place_topic(each)
            by_shard.setdefault(self._shards.of(topic).number, []).append(topic)
        parts = await asyncio.gather(
            *(
                self._shards.shard(number).fetch(QUERIES.count_topics, topics=topics)
                for number, topics in by_shard.items()
            )
        )
        rows = (row for part in parts for row in part)
        return {row["topic"].removeprefix(PLACE_TOPIC) for row in rows if row["post_count"] > 0}

    async def _find_public(self, ids: Sequence[str]) -> dict[str, NamedPlace]:
        public = await self._which_public([each for each in ids if _is_id(each)])
        found = await asyncio.gather(*(self._find_one(each) for each in public))
        return {each.id: each for each in found if each}

    async def _find_one(self, place_id: str) -> NamedPlace | None:
        if not _is_id(place_id):
            return None
        row = await self._shards.of(place_topic(place_id)).fetch_one(QUERIES.find_place, id=place_id)
        return NamedPlace(**row) if row else None

    async def _find_here(
        self, viewer: AccountId, name: str, latitude: float, longitude: float
    ) -> NamedPlace | None:
        """The place of this name within 100 metres: the public one of this cell, or else the nearest they may find."""
        ids = [_id(name, cell) for cell in cells_around(latitude, longitude, SMALL_M)]
        public, own = await asyncio.gather(self._find_public(ids), self._named.list_latest(viewer))
        known = {each.id: each for each in own if each.id in ids} | public
        if ids[0] in known:
            return known[ids[0]]
        measured = [
            (distance_m(latitude, longitude, each.latitude, each.longitude), each.id)
            for each in known.values()
        ]
        nearest = min((one for one in measured if one[0] <= SMALL_M), default=None)
        return known[nearest[1]] if nearest else None


def _read_place(row: asyncpg.Record) -> NamedPlace | None:
    """The place that a post names, if the place's id is made of that name and point."""
    if row["name"] is None or row["latitude"] is None or row["longitude"] is None:
        return None
    try:
        place = NamedPlace(
            row["id"],
            _check(row["name"], row["latitude"], row["longitude"]),
            row["latitude"],
            row["longitude"],
        )
    except NewPlaceInvalid:
        return None
    cells = cells_around(place.latitude, place.longitude, SMALL_M)
    return place if place.id in {_id(place.name, cell) for cell in cells} else None


def _is_id(text: str) -> bool:
    return text.isascii() and text.isalnum() and len(text) <= ID_LENGTH


def _check(name: str, latitude: float, longitude: float) -> str:
    """The name with its white space collapsed and without characters that nobody sees, or a refusal."""
    line = " ".join(unicodedata.normalize("NFC", name).split())
    shown = " ".join(remove_invisible(line).split())
    is_sane = all(unicodedata.category(each) not in {"Cc", "Cs", "Co", "Cn"} for each in line)
    if not (0 < len(shown) <= LONGEST_NAME and is_sane and squash(shown)):
        raise NewPlaceInvalid
    if not (-90.0 <= latitude <= 90.0 and -180.0 <= longitude <= 180.0):  # noqa: PLR2004 - the globe; NaN fails too
        raise NewPlaceInvalid
    return shown


def _id(name: str, cell: str) -> str:
    """The same name in the same cell always gives the same id."""
    digest = hashlib.sha256(f"{''.join(words_of(name))}|{cell}".encode()).digest()
    return base64.b32encode(digest).decode().lower()[:ID_LENGTH]
