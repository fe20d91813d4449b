import asyncio
import math
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from shardwright.routing import Query
from tests.support import Person
from tintype.base.ids import AccountId, PostId
from tintype.search.geo_cells import LARGE_M, cell_of, cells_around, distance_m
from tintype.wiring import Rooms

PLACED = Query.parse("placed", "UPDATE posts SET place_id = :place_id WHERE id = :post_id")


async def name(person: Person, name: str, latitude: float, longitude: float) -> dict[str, Any]:
    body = {"name": name, "latitude": latitude, "longitude": longitude}
    answer = await person.call("POST", "/places", json=body)
    assert answer.status_code == 201, answer.text
    return answer.json()


@given(st.floats(-90, 90), st.floats(-180, 180), st.floats(0, 0.99), st.floats(0, 360, exclude_max=True))
def test_everything_within_a_side_of_a_point_lies_in_the_cells_around_it(
    latitude: float, longitude: float, share: float, bearing: float
) -> None:
    reach = share * LARGE_M / 6_371_000.0
    lat, turn = math.radians(latitude), math.radians(bearing)
    other = math.asin(
        max(-1, min(1, math.sin(lat) * math.cos(reach) + math.cos(lat) * math.sin(reach) * math.cos(turn)))
    )
    across = math.atan2(
        math.sin(turn) * math.sin(reach) * math.cos(lat), math.cos(reach) - math.sin(lat) * math.sin(other)
    )
    there = math.degrees(other), (longitude + math.degrees(across) + 540) % 360 - 180

    assert distance_m(latitude, longitude, *there) <= LARGE_M
    assert cell_of(*there, LARGE_M) in cells_around(latitude, longitude, LARGE_M)


async def test_the_same_name_within_a_hundred_metres_is_the_same_place(ana: Person, bo: Person) -> None:
    made = await asyncio.gather(*(name(who, "Café  Müller", 52.52001, 13.40501) for who in (ana, bo) * 3))
    near = await name(bo, "cafe muller", 52.52049, 13.4051)
    far = await name(bo, "Café Müller", 52.53, 13.405)
    other = await name(bo, "Café Meier", 52.52001, 13.40501)

    assert len({each["place_id"] for each in [*made, near]}) == 1
    assert len({each["place_id"] for each in [near, far, other]}) == 3
    assert near["name"] == "Café Müller"


async def test_places_nearby_come_in_order_of_distance_also_across_the_date_line(ana: Person) -> None:
    here = await name(ana, "East", 10.0, 179.9999)
    there = await name(ana, "West", 10.001, -179.9995)
    await name(ana, "Away", 10.2, 179.9)

    answer = await ana.call("GET", "/places/nearby", params={"lat": 10, "lon": 180, "radius_m": 500})

    found = answer.json()["places"]
    assert [each["place"]["place_id"] for each in found] == [here["place_id"], there["place_id"]]
    assert 5 < found[0]["distance_m"] < 20
    assert 100 < found[1]["distance_m"] < 150


async def test_places_are_found_by_any_word_of_their_name(ana: Person) -> None:
    made = await name(ana, "Long Bridge", 1, 2)

    for q in ("long", "bri", "bridge long", "brigde"):
        answer = await ana.call("GET", "/search/places", params={"q": q})
        assert answer.json()["places"] == [made], q


async def test_a_place_lists_its_posts(rooms: Rooms, ana: Person, bo: Person) -> None:
    place = await name(ana, "Long Bridge", 1, 2)
    post_id = int((await ana.publish("here"))["post_id"])
    await rooms.shards.owner(post_id).execute(PLACED, post_id=post_id, place_id=place["place_id"])
    await rooms.search.index_post(PostId(post_id), AccountId(int(ana.account_id)))

    shown = (await bo.call("GET", f"/places/{place['place_id']}")).json()
    posts = (await bo.call("GET", f"/places/{place['place_id']}/posts")).json()

    assert shown == {"place": place, "post_count": 1}
    assert [each["post_id"] for each in posts["posts"]] == [str(post_id)]


async def test_invalid_places_are_refused(ana: Person) -> None:
    for bad in ("", "  ", "x" * 101, "\x00", "🙂", "a\x07b"):
        answer = await ana.call("POST", "/places", json={"name": bad, "latitude": 1, "longitude": 2})
        assert (answer.status_code, answer.json()["code"]) == (400, "place_invalid"), bad
    for latitude, longitude in ((91, 0), (0, 181), (1e300, 0)):
        body = {"name": "x", "latitude": latitude, "longitude": longitude}
        assert (await ana.call("POST", "/places", json=body)).json()["code"] == "place_invalid"
    for unknown in ("nowhere", "%00", "é", "x" * 40):
        answer = await ana.call("GET", f"/places/{unknown}")
        assert (answer.status_code, answer.json()["code"]) == (404, "place_not_found")
