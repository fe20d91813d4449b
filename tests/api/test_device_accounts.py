"""Several accounts in one browser, over HTTP with its cookies."""

from typing import Any

import pytest
from httpx import AsyncClient, Response

from tests.support import PASSWORD, Person
from tintype.base.ids import AccountId
from tintype.wiring import Rooms

DEVICE = "/api/v1/sessions/device"


async def test_accounts_are_set_aside_and_switched(client: AsyncClient, ana: Person, bo: Person) -> None:
    await _sign_in(client, "ana")
    assert (await _write(client, "POST", DEVICE)).status_code == 204
    assert (await client.get("/api/v1/accounts/me")).status_code == 401
    assert await _names(client) == [("ana", False)]

    await _sign_in(client, "bo")
    assert await _names(client) == [("bo", True), ("ana", False)]
    assert (await _write(client, "PUT", f"{DEVICE}/{ana.account_id}")).status_code == 204

    assert (await client.get("/api/v1/accounts/me")).json()["username"] == "ana"
    assert await _names(client) == [("ana", True), ("bo", False)]
    changed = await _write(client, "PATCH", "/api/v1/accounts/me", json={"bio": "with the right CSRF token"})
    assert changed.status_code == 200
    assert bo.account_id != ana.account_id


async def test_a_guest_returns_to_an_account_that_was_set_aside(client: AsyncClient, ana: Person) -> None:
    await _sign_in(client, "ana")
    await _write(client, "POST", DEVICE)

    assert (await client.put(f"{DEVICE}/{ana.account_id}")).status_code == 204

    assert (await client.get("/api/v1/accounts/me")).json()["username"] == "ana"


async def test_logging_out_leaves_the_other_account_and_removing_it_ends_its_session(
    client: AsyncClient, rooms: Rooms, ana: Person, bo: Person
) -> None:
    await _both(client)
    assert (await _write(client, "DELETE", "/api/v1/sessions/current")).status_code == 204
    assert await _names(client) == [("ana", False)]

    assert (await client.delete(f"{DEVICE}/{ana.account_id}")).status_code == 204

    assert await _names(client) == []
    devices = await rooms.authentication.list_sessions(AccountId(int(ana.account_id)))
    assert len(devices) == 1, "only the one that the fixture has"
    assert bo.username == "bo"


async def test_a_session_that_was_ended_elsewhere_is_no_longer_listed(
    client: AsyncClient, ana: Person, bo: Person
) -> None:
    await _both(client)

    await ana.call("DELETE", "/sessions")

    assert await _names(client) == [("bo", True)]
    assert (await _write(client, "PUT", f"{DEVICE}/{ana.account_id}")).json()["code"] == "not_on_device"
    assert bo.username == "bo"


@pytest.mark.usefixtures("ana", "bo")
async def test_signing_in_again_to_an_account_lists_it_once(client: AsyncClient) -> None:
    await _both(client)
    await _write(client, "POST", DEVICE)
    await _sign_in(client, "ana")

    assert await _names(client) == [("ana", True), ("bo", False)]


@pytest.mark.usefixtures("bo")
async def test_switching_needs_the_csrf_token(client: AsyncClient, ana: Person) -> None:
    await _both(client)

    refused = await client.put(f"{DEVICE}/{ana.account_id}")

    assert refused.json()["code"] == "csrf_token_wrong"
    assert (await client.get("/api/v1/accounts/me")).json()["username"] == "bo"


@pytest.mark.usefixtures("ana")
async def test_a_sixth_account_is_refused(client: AsyncClient, rooms: Rooms) -> None:
    for number in range(4):
        await rooms.accounts.sign_up(f"many{number}", PASSWORD)
        await _sign_in(client, f"many{number}")
        assert (await _write(client, "POST", DEVICE)).status_code == 204
    await _sign_in(client, "ana")

    refused = await _write(client, "POST", DEVICE)

    assert (refused.status_code, refused.json()["code"]) == (409, "too_many_on_device")
    assert len(await _names(client)) == 5


async def test_a_forged_cookie_opens_nothing(client: AsyncClient, ana: Person) -> None:
    token = (await ana.call("POST", "/tokens", json={"name": "x", "scopes": ["read"]})).json()["token"]
    client.cookies.clear()

    answer = await client.get(DEVICE, headers={b"cookie": f"tt_others={token}~x~~é".encode()})

    assert answer.json() == {"accounts": []}


async def _both(client: AsyncClient) -> None:
    """The browser has ana set aside, and bo in use."""
    await _sign_in(client, "ana")
    await _write(client, "POST", DEVICE)
    await _sign_in(client, "bo")


async def _sign_in(client: AsyncClient, username: str) -> None:
    answer = await client.post("/api/v1/sessions", json={"username": username, "password": PASSWORD})
    assert answer.status_code == 201, answer.text


async def _write(client: AsyncClient, method: str, path: str, **options: Any) -> Response:
    return await client.request(
        method, path, headers={"x-csrf-token": client.cookies.get("tt_csrf") or ""}, **options
    )


async def _names(client: AsyncClient) -> list[tuple[str, bool]]:
    found = (await client.get(DEVICE)).json()["accounts"]
    return [(each["username"], each["is_current"]) for each in found]
