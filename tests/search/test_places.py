import asyncio
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shardwright.routing import Query
from tests.search.conftest import Change, Publish
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


async def post_at(rooms: Rooms, person: Person, place: dict[str, Any]) -> PostId:
    """A post at a place, as the worker has indexed it."""
    media_id = (await person.upload()).json()["media_id"]
    there = {
        "place_id": place["place_id"],
        "name": place["name"],
        "lat": place["latitude"],
        "lon": place["longitude"],
    }
    answer = await person.call("POST", "/posts", json={"media_ids": [media_id], "place": there})
    post_id = PostId(int(answer.json()["post_id"]))
    await rooms.search.index_post(post_id, AccountId(int(person.account_id)))
    return post_id


async def ways_to_find(person: Person, place: dict[str, Any]) -> dict[str, bool]:
    """By which routes somebody is told of a place."""
    here = {"lat": place["latitude"], "lon": place["longitude"]}
    answers = {
        "search": await person.call("GET", "/search", params={"q": place["name"]}),
        "places": await person.call("GET", "/search/places", params={"q": place["name"][:4]}),
        "misspelled": await person.call("GET", "/search/places", params={"q": f"{place['name'][:-1]}x"}),
        "nearby": await person.call("GET", "/places/nearby", params=here),
        "page": await person.call("GET", f"/places/{place['place_id']}"),
        "posts": await person.call("GET", f"/places/{place['place_id']}/posts"),
        "recent": await person.call(
            "POST", "/search/recent", json={"kind": "place", "subject": place["place_id"]}
        ),
    }
    told = {name: place["place_id"] in answer.text for name, answer in answers.items() if name != "posts"}
    return told | {"posts": answers["posts"].status_code == 200}


async def test_a_place_lists_its_posts(rooms: Rooms, ana: Person, bo: Person) -> None:
    place = await name(ana, "Long Bridge", 1, 2)
    post_id = await post_at(rooms, ana, place)

    shown = (await bo.call("GET", f"/places/{place['place_id']}")).json()
    posts = (await bo.call("GET", f"/places/{place['place_id']}/posts")).json()

    assert shown == {"place": place, "post_count": 1}
    assert [each["post_id"] for each in posts["posts"]] == [str(post_id)]


async def test_a_place_whose_posts_name_only_its_id_is_called_as_their_author_called_it(
    rooms: Rooms, ana: Person, bo: Person
) -> None:
    place = await name(ana, "Long Bridge", 1, 2)
    post_id = int((await ana.publish("here"))["post_id"])
    await rooms.shards.owner(post_id).execute(PLACED, post_id=post_id, place_id=place["place_id"])
    await rooms.search.index_post(PostId(post_id), AccountId(int(ana.account_id)))

    assert (await bo.call("GET", f"/places/{place['place_id']}")).json()["place"] == place


@pytest.mark.parametrize("is_private", [False, True])
@pytest.mark.slow
async def test_a_place_that_no_public_post_names_is_its_namers_alone_to_find(
    rooms: Rooms, ana: Person, bo: Person, is_private: bool
) -> None:
    await ana.call("PATCH", "/accounts/me", json={"is_private": is_private})
    place = await name(ana, "Grandmother", 51.123456, 7.654321)
    if is_private:
        await post_at(rooms, ana, place)

    assert not any((await ways_to_find(bo, place)).values())
    assert all((await ways_to_find(ana, place)).values())


async def test_naming_what_somebody_has_named_in_private_tells_nothing_of_it(
    rooms: Rooms, ana: Person, bo: Person
) -> None:
    await ana.call("PATCH", "/accounts/me", json={"is_private": True})
    hers = await name(ana, "My  HOME", 51.123456, 7.654321)
    await post_at(rooms, ana, hers)

    same = await name(bo, "my home", 51.1234, 7.6543)
    near = await name(bo, "my home", 51.1241, 7.6543)
    unknown = await name(bo, "my hut", 51.1234, 7.6543)

    assert same["place_id"] == hers["place_id"], "the id is made of the name and the cell alone"
    assert (same["name"], same["latitude"], same["longitude"]) == ("my home", 51.1234, 7.6543)
    assert near == same | {"place_id": near["place_id"]} or near["latitude"] == 51.1241
    assert (unknown["latitude"], unknown["longitude"]) == (51.1234, 7.6543)


@pytest.mark.slow
async def test_a_place_becomes_public_as_the_public_post_names_it(
    rooms: Rooms, ana: Person, bo: Person, change: Change
) -> None:
    await ana.call("PATCH", "/accounts/me", json={"is_private": True})
    hers = await name(ana, "My HOME", 51.123456, 7.654321)
    await post_at(rooms, ana, hers)
    his = await name(bo, "my home", 51.1234, 7.6543)

    await post_at(rooms, bo, his)
    shown = (await ana.call("GET", f"/places/{his['place_id']}")).json()
    await change(bo, "is_private = true")

    assert shown == {"place": his, "post_count": 1}
    assert all((await ways_to_find(bo, his)).values())


@pytest.mark.parametrize("state", ["is_private = true", "status = 'suspended'"])
@pytest.mark.slow
async def test_a_place_goes_with_its_last_public_post(
    rooms: Rooms, ana: Person, bo: Person, change: Change, state: str
) -> None:
    place = await name(ana, "Long Bridge", 1, 2)
    await post_at(rooms, ana, place)
    before = await ways_to_find(bo, place)

    await change(ana, state)

    assert all(before.values())
    assert not any((await ways_to_find(bo, place)).values())
    remembered = await bo.call("GET", "/search/recent")
    assert (remembered.status_code, remembered.json()["searches"]) == (200, [])


async def test_a_post_cannot_give_another_name_or_point_to_a_place(
    rooms: Rooms, ana: Person, bo: Person
) -> None:
    place = await name(ana, "Long Bridge", 1, 2)
    await post_at(rooms, bo, place | {"name": "Somewhere else"})

    assert not any((await ways_to_find(bo, place)).values())


async def test_a_tag_that_only_hidden_posts_carry_is_nobodys_to_find(
    ana: Person, bo: Person, publish: Publish, change: Change
) -> None:
    await publish(ana, "#grandmotherbirthday")
    before = await bo.call("GET", "/search/tags", params={"q": "grandm"})
    await change(ana, "is_private = true")

    answers = [
        await bo.call("GET", path)
        for path in ("/search/tags?q=grandm", "/search?q=grandm", "/tags/grandmotherbirthday")
    ]

    assert "grandmotherbirthday" in before.text
    assert not any("grandmotherbirthday" in answer.text for answer in answers)


async def test_named_places_are_exported_and_erased(rooms: Rooms, ana: Person, bo: Person) -> None:
    place = await name(ana, "Long Bridge", 1, 2)
    await name(bo, "Short Bridge", 1, 2)
    ana_id, bo_id = (AccountId(int(each.account_id)) for each in (ana, bo))
    holder = rooms.search.personal_data

    exported = [
        each.content for each in [one async for one in holder.export(ana_id)] if each.file == "places.json"
    ]
    while await holder.erase(ana_id):
        pass

    assert [each["id"] for each in exported] == [place["place_id"]]
    assert await holder.count_left(ana_id) == 0
    assert await holder.count_left(bo_id) > 0


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
