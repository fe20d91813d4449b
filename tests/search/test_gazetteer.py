"""The gazetteer: towns and cities by the beginning of their name in many languages, merged with people's own places."""

from typing import Any

import pytest

from tests.support import Person
from tintype.search.gazetteer import Gazetteer, load_gazetteer

SMALL = b"Springfield\tUS\tOhio\t39.9\t-83.8\nSpringe\tDE\t\t52.2\t9.5\n\nspringe\t1\nspringfield\t0"


async def suggest(person: Person, text: str) -> list[dict[str, Any]]:
    answer = await person.call("GET", "/places/suggestions", params={"q": text})
    assert answer.status_code == 200, answer.text
    return answer.json()["places"]


@pytest.mark.parametrize(
    ("typed", "name", "country"),
    [
        ("Berl", "Berlin", "DE"),
        ("münchen", "Munich", "DE"),
        ("برلين", "Berlin", "DE"),
        ("القاهرة", "Cairo", "EG"),
        ("東京", "Tokyo", "JP"),
        ("SAO PAUL", "São Paulo", "BR"),
        ("new york", "New York City", "US"),
    ],
)
def test_a_city_is_found_by_its_name_in_many_languages(typed: str, name: str, country: str) -> None:
    (first, *_) = load_gazetteer().find(typed, 6)

    assert (first.name, first.country_code) == (name, country)


@pytest.mark.parametrize("typed", ["", "b", " ", "\x00\t\n", "zzzzqqqq", "%_", "\uffff"])
def test_what_matches_nothing_finds_nothing(typed: str) -> None:
    assert load_gazetteer().find(typed, 6) == []


def test_whole_names_come_first_then_the_larger_places() -> None:
    small = Gazetteer(SMALL)

    assert [each.name for each in small.find("spring", 6)] == ["Springfield", "Springe"]
    assert [each.name for each in small.find("Springe", 6)] == ["Springe"]
    assert small.find("springf", 6)[0].region == "Ohio"


async def test_own_places_come_before_the_gazetteer_and_are_not_repeated(ana: Person, bo: Person) -> None:
    first = (await suggest(ana, "Zeulenroda"))[0]
    assert first["place_id"] is None
    point = {name: first[name] for name in ("name", "latitude", "longitude")}
    named = (await ana.call("POST", "/places", json=point)).json()
    again = (await bo.call("POST", "/places", json=point)).json()

    suggested = await suggest(ana, "Zeulenroda")
    assert suggested[0]["place_id"] == named["place_id"] == again["place_id"]
    assert suggested[0]["country_code"] == "DE"
    assert [each["name"] for each in suggested].count("Zeulenroda") == 1
    mine = (await ana.call("GET", "/places/mine")).json()["places"]
    assert [each["place_id"] for each in mine] == [named["place_id"]]
