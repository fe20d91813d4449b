from httpx import AsyncClient

from tests.search.conftest import Change
from tests.support import Person, join


async def subjects(person: Person) -> list[str]:
    answer = await person.call("GET", "/search/recent")
    return [each["subject"] for each in answer.json()["searches"]]


async def remember(person: Person, kind: str, subject: str) -> str:
    answer = await person.call("POST", "/search/recent", json={"kind": kind, "subject": subject})
    assert answer.status_code == 201, answer.text
    return answer.json()["search_id"]


async def test_searching_again_moves_a_search_to_the_front(ana: Person, bo: Person) -> None:
    await remember(ana, "words", "sea")
    await remember(ana, "tag", "#Sunset")
    await remember(ana, "account", bo.account_id)
    await remember(ana, "words", " sea ")

    assert await subjects(ana) == ["sea", bo.account_id, "sunset"]
    assert await subjects(bo) == []


async def test_each_recent_search_has_a_title(ana: Person, bo: Person) -> None:
    body = {"name": "Long Bridge", "latitude": 48.2, "longitude": 16.3}
    place = (await ana.call("POST", "/places", json=body)).json()
    await remember(ana, "tag", "#Sunset")
    await remember(ana, "place", place["place_id"])
    await remember(ana, "account", bo.account_id)

    answer = await ana.call("GET", "/search/recent")

    assert [each["title"] for each in answer.json()["searches"]] == [bo.username, "Long Bridge", "sunset"]


async def test_only_the_last_fifty_are_kept(ana: Person) -> None:
    for number in range(55):
        await remember(ana, "words", f"word {number}")

    assert await subjects(ana) == [f"word {number}" for number in range(54, 4, -1)]


async def test_one_can_be_removed_and_all_cleared(ana: Person, bo: Person) -> None:
    first, _ = await remember(ana, "words", "sea"), await remember(ana, "words", "sky")

    foreign = await bo.call("DELETE", f"/search/recent/{first}")
    assert (foreign.status_code, foreign.json()["code"]) == (404, "recent_search_not_found")
    assert (await ana.call("DELETE", f"/search/recent/{first}")).status_code == 204
    assert await subjects(ana) == ["sky"]
    assert (await ana.call("DELETE", "/search/recent")).status_code == 204
    assert await subjects(ana) == []


async def test_accounts_that_may_no_longer_be_seen_are_left_out(
    client: AsyncClient, ana: Person, change: Change
) -> None:
    carmen = await join(client, "carmen")
    await remember(ana, "account", carmen.account_id)

    await change(carmen, "status = 'suspended'")

    assert await subjects(ana) == []


async def test_searches_for_what_does_not_exist_are_refused(ana: Person) -> None:
    for kind, subject in (
        ("account", "12"), ("account", "9" * 40), ("account", "x"), ("place", "nowhere"), ("words", " "),
        ("words", "x" * 101), ("words", "a\x00b"), ("tag", "\x00"),
    ):  # fmt: skip
        answer = await ana.call("POST", "/search/recent", json={"kind": kind, "subject": subject})
        assert (answer.status_code, answer.json()["code"]) == (400, "recent_search_invalid"), (kind, subject)
