import ipaddress

import pytest
from httpx import AsyncClient

from tests.accounts.helpers import sign_in
from tests.application import serve
from tests.support import PASSWORD, Person
from tintype.accounts import Caller
from tintype.accounts.rate_limits import SIGN_IN_PER_NAME
from tintype.api.http.client_info import device_name, network_of
from tintype.base.errors import RateLimited
from tintype.wiring import Rooms

WRONG = "not the one"


async def knock(client: AsyncClient, name: str, network: str, password: str = WRONG) -> int:
    answer = await client.post(
        "/api/v1/sessions",
        json={"username": name, "password": password},
        headers={"X-Forwarded-For": network},
    )
    client.cookies.clear()
    return answer.status_code


async def test_guessing_is_limited_per_network(client: AsyncClient, ana: Person) -> None:
    from_one = [await knock(client, "ana", "203.0.113.5") for _ in range(12)]

    assert from_one[:10] == [403] * 10
    assert from_one[10:] == [429] * 2
    assert await knock(client, "ana", "198.51.100.7", PASSWORD) == 201


async def test_an_unknown_name_is_limited_just_the_same(client: AsyncClient) -> None:
    tries = [await knock(client, "nobody_here", "203.0.113.5") for _ in range(11)]

    assert tries == [403] * 10 + [429]


async def test_one_household_has_one_ipv6_network(client: AsyncClient, ana: Person) -> None:
    tries = [await knock(client, "ana", f"2001:db8:1:2::{number:x}") for number in range(1, 12)]

    assert tries == [403] * 10 + [429]
    assert await knock(client, "ana", "2001:db8:1:3::1", PASSWORD) == 201


@pytest.mark.slow
async def test_a_known_device_signs_in_while_others_guess(rooms: Rooms, ana: Person) -> None:
    async with serve(rooms) as browser:
        credentials = {"username": "ana", "password": PASSWORD}
        await browser.post("/api/v1/sessions", json=credentials)
        mark = browser.cookies["tt_device"]
        browser.cookies.clear()
        with pytest.raises(RateLimited):
            while True:
                await rooms.limiter.acquire(SIGN_IN_PER_NAME, f"account:{ana.account_id}")

        stranger = await browser.post("/api/v1/sessions", json=credentials)
        known = await browser.post("/api/v1/sessions", json=credentials, headers=_carrying(mark))
        browser.cookies.clear()
        forged = await browser.post("/api/v1/sessions", json=credentials, headers=_carrying(mark[::-1]))

    assert (stranger.status_code, known.status_code, forged.status_code) == (429, 201, 429)


def _carrying(mark: str) -> dict[str, str]:
    return {"Cookie": f"tt_device={mark}"}


async def test_sign_ups_are_limited_per_network(client: AsyncClient) -> None:
    statuses: list[int] = []
    for number in range(11):
        answer = await client.post(
            "/api/v1/accounts",
            json={"username": f"crowd{number}", "password": PASSWORD},
            headers={"X-Forwarded-For": "203.0.113.9"},
        )
        client.cookies.clear()
        statuses.append(answer.status_code)

    assert statuses == [201] * 10 + [429]


async def test_requests_for_mail_are_limited_per_address(client: AsyncClient) -> None:
    body = {"username": "victim@example.org"}
    answers = [await client.post("/api/v1/password-resets", json=body) for _ in range(4)]

    assert [each.status_code for each in answers] == [202, 202, 202, 429]


async def test_a_successful_sign_in_resets_the_limit(client: AsyncClient, ana: Person) -> None:
    for _ in range(3):
        for _ in range(8):
            assert await knock(client, "ana", "203.0.113.5") == 403
        assert await knock(client, "ana", "203.0.113.5", PASSWORD) == 201


@pytest.mark.parametrize(
    ("forwarded", "network"),
    [
        ("198.51.100.1", "198.51.100.1"),
        ("6.6.6.6, 198.51.100.1", "198.51.100.1"),
        ("198.51.100.1, 127.0.0.1", "198.51.100.1"),
        ("::ffff:198.51.100.1", "198.51.100.1"),
        ("198.51.100.1:4711", "198.51.100.1"),
        ("[2001:db8::1]:4711", "2001:db8::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("nonsense", "0.0.0.0"),  # noqa: S104 - nobody binds to it
        ("6.6.6.6, nonsense", "0.0.0.0"),  # noqa: S104 - an address in a test, nothing listens
        ("127.0.0.1", "127.0.0.1"),
        ("", ""),
    ],
)
async def test_the_caller_is_the_first_address_that_is_no_proxy_of_ours(
    rooms: Rooms, client: AsyncClient, monkeypatch: pytest.MonkeyPatch, forwarded: str, network: str
) -> None:
    seen: list[Caller] = []

    async def note(_name: str, caller: Caller) -> bool:
        seen.append(caller)
        return True

    monkeypatch.setattr(rooms.accounts._usernames, "is_available", note)

    await client.get(
        "/api/v1/usernames/available", params={"username": "x"}, headers={"X-Forwarded-For": forwarded}
    )

    assert seen[0].network == network


def test_networks_are_counted_as_households() -> None:
    assert network_of(ipaddress.ip_address("2001:db8::1"), is_proxied=False) == "2001:db8::/64"


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605 Safari/604.1", "Safari on iPhone"),
        ("Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537 Chrome/142.0 Safari/537 Edg/142.0", "Edge on Windows"),
        ("curl/8.5.0", "curl"),
        ("", ""),
        ("\u202e" * 50, ""),
    ],
)  # fmt: skip
def test_a_device_has_a_name_its_owner_knows(agent: str, name: str) -> None:
    assert device_name(agent) == name


async def test_frequent_successful_sign_ins_are_not_limited(ana: Person) -> None:
    assert [(await sign_in(ana)).status_code for _ in range(12)] == [201] * 12
