"""What people do to each other, over HTTP."""

from typing import Any

import pytest
from httpx import AsyncClient

from tests.graph.graph_state import set_private, set_status
from tests.support import Person, join
from tintype.base.ids import AccountId
from tintype.redis.rate_limits import RateLimit
from tintype.wiring import Rooms


def number(person: Person) -> AccountId:
    return AccountId(int(person.account_id))


async def do(person: Person, method: str, path: str, **options: Any) -> tuple[int, str]:
    answer = await person.call(method, path, **options)
    return answer.status_code, answer.json()["code"] if answer.content else ""


async def names(person: Person, path: str, **params: Any) -> list[str]:
    answer = await person.call("GET", path, params=params)
    assert answer.status_code == 200, answer.text
    return [each["username"] for each in answer.json()["people"]]


async def relation(person: Person, other: Person) -> set[str]:
    answer = await person.call("GET", f"/accounts/{other.account_id}/relation")
    assert answer.status_code == 200, answer.text
    return {key for key, value in answer.json().items() if value}


async def test_following_a_private_account_waits_for_approval(rooms: Rooms, ana: Person, bo: Person) -> None:
    await set_private(rooms, number(ana), is_private=True)

    assert await do(bo, "PUT", f"/accounts/{ana.account_id}/follow") == (204, "")
    assert await relation(bo, ana) == {"viewer_has_requested"}
    assert await names(ana, "/follow-requests") == ["bo"]
    assert await names(bo, "/follow-requests/sent") == ["ana"]
    assert (await rooms.accounts.get(number(ana))).follower_count == 0

    assert await do(ana, "PUT", f"/follow-requests/{bo.account_id}") == (204, "")
    assert await do(ana, "PUT", f"/follow-requests/{bo.account_id}") == (204, "")
    assert await relation(bo, ana) == {"viewer_follows"}
    assert await names(ana, "/follow-requests") == []
    assert (await rooms.accounts.get(number(ana))).follower_count == 1
    assert (await rooms.accounts.get(number(bo))).following_count == 1


@pytest.mark.parametrize("is_declined", [True, False])
async def test_a_request_that_was_declined_or_withdrawn_cannot_be_approved(
    rooms: Rooms, ana: Person, bo: Person, *, is_declined: bool
) -> None:
    await set_private(rooms, number(ana), is_private=True)
    await bo.call("PUT", f"/accounts/{ana.account_id}/follow")

    if is_declined:
        await ana.call("DELETE", f"/follow-requests/{bo.account_id}")
    else:
        await bo.call("DELETE", f"/accounts/{ana.account_id}/follow")

    assert await do(ana, "PUT", f"/follow-requests/{bo.account_id}") == (404, "request_not_found")
    assert await relation(bo, ana) == set()


async def test_declining_does_not_remove_somebody_who_follows_already(ana: Person, bo: Person) -> None:
    await bo.call("PUT", f"/accounts/{ana.account_id}/follow")

    await ana.call("DELETE", f"/follow-requests/{bo.account_id}")
    assert await names(ana, f"/accounts/{ana.account_id}/followers") == ["bo"]

    await ana.call("DELETE", f"/followers/{bo.account_id}")
    assert await names(ana, f"/accounts/{ana.account_id}/followers") == []


async def test_becoming_public_approves_all_requests(
    rooms: Rooms, ana: Person, bo: Person, cy: Person
) -> None:
    await set_private(rooms, number(ana), is_private=True)
    for each in (bo, cy):
        await each.call("PUT", f"/accounts/{ana.account_id}/follow")

    await set_private(rooms, number(ana), is_private=False)

    assert sorted(await names(bo, f"/accounts/{ana.account_id}/followers")) == ["bo", "cy"]


async def test_a_block_hides_each_from_the_other_exactly_as_if_they_did_not_exist(
    ana: Person, bo: Person
) -> None:
    await ana.call("PUT", f"/accounts/{bo.account_id}/follow")
    await bo.call("PUT", f"/accounts/{ana.account_id}/follow")

    assert await do(ana, "PUT", f"/blocks/{bo.account_id}") == (204, "")

    for one, other in ((ana, bo), (bo, ana)):
        for method, path in (
            ("GET", "/accounts/{}/relation"),
            ("GET", "/accounts/{}/followers"),
            ("GET", "/accounts/{}/mutuals"),
            ("PUT", "/accounts/{}/follow"),
            ("PUT", "/close-friends/{}"),
        ):
            hidden = await one.call(method, path.format(other.account_id))
            missing = await one.call(method, path.format(int(other.account_id) + 1))
            facts = [{**each.json(), "request_id": ""} for each in (hidden, missing)]
            assert facts[0] == facts[1]
            assert hidden.status_code == 404
        assert await names(one, f"/accounts/{one.account_id}/followers") == []
        assert await names(one, f"/accounts/{one.account_id}/following") == []
    assert await names(ana, "/blocks") == ["bo"]

    await ana.call("DELETE", f"/blocks/{bo.account_id}")
    assert await relation(bo, ana) == set()


@pytest.mark.parametrize("by_name", [False, True])
async def test_whoever_is_blocked_can_block_back_and_stays_hidden_when_the_first_block_is_lifted(
    ana: Person, bo: Person, by_name: bool
) -> None:
    await ana.call("PUT", f"/blocks/{bo.account_id}")

    answer = (
        await bo.call("POST", "/blocks", json={"username": "Ana"})
        if by_name
        else await bo.call("PUT", f"/blocks/{ana.account_id}")
    )

    assert (answer.status_code, await names(bo, "/blocks")) == (204, ["ana"])
    await ana.call("DELETE", f"/blocks/{bo.account_id}")
    for one, other in ((ana, bo), (bo, ana)):
        assert (await one.call("GET", f"/accounts/{other.account_id}/relation")).status_code == 404
    await bo.call("DELETE", f"/blocks/{ana.account_id}")
    assert await relation(bo, ana) == set()


async def test_a_username_that_nobody_has_cannot_be_blocked(ana: Person) -> None:
    for name in ("nobody_here", "", "not a name", "ana"):
        answer = await ana.call("POST", "/blocks", json={"username": name})
        assert answer.json()["code"] == ("cannot_be_yourself" if name == "ana" else "account_not_found")


async def test_preferences_are_listed_and_can_be_taken_back(ana: Person, bo: Person) -> None:
    lists = {
        "/mutes": {"viewer_mutes_stories"},
        "/close-friends": {"viewer_has_as_close_friend"},
        "/restrictions": {"viewer_restricts"},
    }
    for path in lists:
        body: dict[str, Any] = {"json": {"stories": True}} if path == "/mutes" else {}
        assert await do(ana, "PUT", f"{path}/{bo.account_id}", **body) == (204, "")
        assert await names(ana, path) == ["bo"]
    assert await relation(ana, bo) == set[str]().union(*lists.values())
    assert await relation(bo, ana) == set()

    for path in lists:
        assert await do(ana, "DELETE", f"{path}/{bo.account_id}") == (204, "")
        assert await names(ana, path) == []


async def test_muting_posts_leaves_stories_as_they_are(ana: Person, bo: Person) -> None:
    await ana.call("PUT", f"/mutes/{bo.account_id}", json={"stories": True})
    await ana.call("PUT", f"/mutes/{bo.account_id}", json={"posts": True})

    assert await relation(ana, bo) == {"viewer_mutes_posts", "viewer_mutes_stories"}


async def test_lists_of_a_private_account_are_for_its_followers(
    rooms: Rooms, ana: Person, bo: Person, cy: Person
) -> None:
    await bo.call("PUT", f"/accounts/{ana.account_id}/follow")
    await set_private(rooms, number(ana), is_private=True)

    assert await names(bo, f"/accounts/{ana.account_id}/followers") == ["bo"]
    for path in ("followers", "following", "mutuals"):
        assert await do(cy, "GET", f"/accounts/{ana.account_id}/{path}") == (404, "account_not_found")


async def test_pages_skip_hidden_people_without_gaps_and_cursors_hold_while_people_arrive(
    client: AsyncClient, ana: Person, bo: Person
) -> None:
    people = [await join(client, f"person_{each}") for each in range(9)]
    for each in people:
        await each.call("PUT", f"/accounts/{ana.account_id}/follow")
    for each in (people[8], people[6], people[5], people[1]):
        await each.call("PUT", f"/blocks/{bo.account_id}")
    everyone = (await ana.call("GET", f"/accounts/{ana.account_id}/followers")).json()["people"]

    seen: list[str] = []
    cursor = None
    for _ in range(5):
        params = {"limit": 2, **({"cursor": cursor} if cursor else {})}
        page = (await bo.call("GET", f"/accounts/{ana.account_id}/followers", params=params)).json()
        seen += [each["username"] for each in page["people"]]
        cursor = page["next_cursor"]
        if len(seen) == 2:
            await (await join(client, "latecomer")).call("PUT", f"/accounts/{ana.account_id}/follow")
        if cursor is None:
            break
        assert len(page["people"]) == 2

    # The follows were made on several shards within a few milliseconds: their ids may be in another order.
    shown = {"person_7", "person_4", "person_3", "person_2", "person_0"}
    assert set(seen) == shown
    assert seen == [each["username"] for each in everyone if each["username"] in shown]


async def test_mutuals_name_a_few_and_count_the_rest(
    rooms: Rooms, client: AsyncClient, ana: Person, bo: Person
) -> None:
    people = [await join(client, f"person_{each}") for each in range(6)]
    for each in people:
        await each.call("PUT", f"/accounts/{ana.account_id}/follow")
    for each in people[:5]:
        await bo.call("PUT", f"/accounts/{each.account_id}/follow")

    await set_status(rooms, number(people[3]), "deactivated")

    found = (await bo.call("GET", f"/accounts/{ana.account_id}/mutuals")).json()

    assert [each["username"] for each in found["people"]] == ["person_4", "person_2", "person_1"]
    assert (found["count"], found["is_exact"]) == (4, True)


@pytest.mark.parametrize(
    ("method", "path", "code"),
    [
        ("PUT", "/accounts/{}/follow", "cannot_follow_yourself"),
        ("PUT", "/blocks/{}", "cannot_be_yourself"),
        ("PUT", "/restrictions/{}", "cannot_be_yourself"),
    ],
)
async def test_nobody_can_follow_block_or_mute_themselves(
    ana: Person, method: str, path: str, code: str
) -> None:
    assert await do(ana, method, path.format(ana.account_id)) == (400, code)


async def test_following_more_people_than_allowed_is_refused(
    ana: Person, bo: Person, cy: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tintype.graph.follows.MAX_FOLLOWEES", 1)
    await ana.call("PUT", f"/accounts/{bo.account_id}/follow")

    assert await do(ana, "PUT", f"/accounts/{cy.account_id}/follow") == (409, "too_many_followees")
    assert await do(ana, "PUT", f"/accounts/{bo.account_id}/follow") == (204, "")


async def test_following_too_fast_is_rate_limited_with_the_time_to_wait(
    ana: Person, bo: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tintype.graph.follows.FOLLOW", RateLimit("follow", 1, 3600))
    await ana.call("PUT", f"/accounts/{bo.account_id}/follow")

    answer = await ana.call("PUT", f"/accounts/{bo.account_id}/follow")

    assert (answer.status_code, answer.json()["code"]) == (429, "rate_limited")
    assert 3500 < int(answer.headers["Retry-After"]) <= 3600


async def test_unknown_ids_are_not_found(ana: Person) -> None:
    for strange in ("1", "9223372036854775807", str(int(ana.account_id) ^ (5 << 10)), str(1 << 40)):
        assert await do(ana, "PUT", f"/accounts/{strange}/follow") == (404, "account_not_found")
        assert await do(ana, "PUT", f"/blocks/{strange}") == (404, "account_not_found")
        assert await do(ana, "PUT", f"/follow-requests/{strange}") == (404, "request_not_found")
        for path in (
            "accounts/{}/follow",
            "followers/{}",
            "follow-requests/{}",
            "blocks/{}",
            "close-friends/{}",
        ):
            assert await do(ana, "DELETE", "/" + path.format(strange)) == (204, "")
