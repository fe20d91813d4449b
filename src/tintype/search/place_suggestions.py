"""Places to choose for a post: those that posts name and the person's own, then towns and cities of the gazetteer."""

import asyncio
from collections.abc import Iterable, Sequence

from tintype.base.ids import AccountId
from tintype.search.gazetteer import GazetteerPlace, key_of, load_gazetteer
from tintype.search.geo_cells import LARGE_M, distance_m
from tintype.search.models import NamedPlace, SuggestedPlace
from tintype.search.places import Places


async def suggest_places(places: Places, text: str, *, viewer: AccountId, limit: int) -> list[SuggestedPlace]:
    """Known places by any word of their name, then places of the gazetteer by the beginning of theirs."""
    gazetteer = await asyncio.to_thread(load_gazetteer)
    named = await places.find(text, viewer=viewer, limit=limit)
    return _merge(named, gazetteer.find(text, limit))[:limit]


def _merge(named: Iterable[NamedPlace], found: Sequence[GazetteerPlace]) -> list[SuggestedPlace]:
    """Known places first; one that the gazetteer has, too, is listed once, with the country it is in."""
    known: list[SuggestedPlace] = []
    repeated: list[GazetteerPlace] = []
    for place in named:
        same = next((each for each in found if _is_same(each, place)), None)
        where = ("", "") if same is None else (same.region, same.country_code)
        known.append(SuggestedPlace(place.name, place.latitude, place.longitude, place.id, *where))
        repeated += [] if same is None else [same]
    fresh = [
        SuggestedPlace(each.name, each.latitude, each.longitude, None, each.region, each.country_code)
        for each in found
        if each not in repeated
    ]
    return known + fresh


def _is_same(place: GazetteerPlace, other: NamedPlace) -> bool:
    is_near = distance_m(place.latitude, place.longitude, other.latitude, other.longitude) <= LARGE_M
    return is_near and key_of(place.name) == key_of(other.name)
