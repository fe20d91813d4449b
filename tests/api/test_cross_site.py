"""Requests of other sites are refused wherever cookies are read or set, and JSON has to be sent as JSON."""

from typing import Any

import pytest
from httpx import AsyncClient
from litestar.routes import HTTPRoute

from tests.application import serve
from tests.support import PASSWORD, Person
from tintype.api import create_app
from tintype.base.settings import Settings
from tintype.wiring import Rooms

OWN = "http://testserver.local"
FOREIGN = [
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://testserver.local:8081"},
    {"Origin": "http://testserver.local.evil.example"},
    {"Origin": "http://[::1"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "cross-site", "Origin": OWN},
]
COOKIE_SETTING: list[tuple[str, dict[str, Any]]] = [
    ("/accounts", {"username": "cleo", "password": PASSWORD}),
    ("/sessions", {"username": "ana", "password": PASSWORD}),
    ("/sessions/second-factor", {"ticket": "x", "code": "000000"}),
    ("/sessions/passkey", {"passkey": {}}),
]


@pytest.mark.parametrize("headers", FOREIGN, ids=str)
@pytest.mark.parametrize(("path", "body"), COOKIE_SETTING)
async def test_no_other_site_signs_its_visitors_in_or_up(
    client: AsyncClient, ana: Person, path: str, body: dict[str, Any], headers: dict[str, str]
) -> None:
    answer = await client.post(f"/api/v1{path}", json=body, headers=headers)

    assert (answer.status_code, answer.json()["code"]) == (403, "cross_site_request")
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": OWN},
        {"Origin": "http://TestServer.local:80"},
        {"Sec-Fetch-Site": "same-origin", "Origin": OWN},
        {"Sec-Fetch-Site": "none"},
    ],
    ids=str,
)
async def test_our_own_pages_and_programs_sign_in(
    client: AsyncClient, ana: Person, headers: dict[str, str]
) -> None:
    body = {"username": "ana", "password": PASSWORD}

    assert (await client.post("/api/v1/sessions", json=body, headers=headers)).status_code == 201


async def test_a_session_cookie_is_refused_from_other_sites_even_with_its_csrf_token(rooms: Rooms) -> None:
    async with serve(rooms) as browser:
        await browser.post("/api/v1/accounts", json={"username": "cleo", "password": PASSWORD})
        csrf = {"X-CSRF-Token": browser.cookies["tt_csrf"]}
        body = {"bio": "hello"}

        foreign = [
            await browser.patch("/api/v1/accounts/me", json=body, headers=csrf | each) for each in FOREIGN
        ]
        own = await browser.patch("/api/v1/accounts/me", json=body, headers=csrf | {"Origin": OWN})

    assert {each.json()["code"] for each in foreign} == {"cross_site_request"}
    assert own.status_code == 200


async def test_a_bearer_token_works_wherever_a_request_comes_from(ana: Person) -> None:
    answer = await ana.call("PATCH", "/accounts/me", json={"bio": "x"}, headers={"Origin": "app://photos"})

    assert answer.status_code == 200


@pytest.mark.parametrize(
    "declared",
    [
        "text/plain",
        "text/plain;charset=UTF-8",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/jsonp",
        "",
    ],
)
async def test_json_is_refused_under_any_other_name(client: AsyncClient, ana: Person, declared: str) -> None:
    content = b'{"username": "ana", "password": "correct horse battery"}'

    answer = await client.post("/api/v1/sessions", content=content, headers={"Content-Type": declared})

    assert (answer.status_code, answer.json()["code"]) == (415, "json_required")
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("declared", ["application/json", "Application/JSON; charset=utf-8"])
async def test_json_is_accepted_under_its_name(client: AsyncClient, ana: Person, declared: str) -> None:
    content = b'{"username": "ana", "password": "correct horse battery"}'

    answer = await client.post("/api/v1/sessions", content=content, headers={"Content-Type": declared})

    assert answer.status_code == 201


@pytest.mark.slow
async def test_every_route_that_takes_json_refuses_a_form(client: AsyncClient, ana: Person) -> None:
    refused: dict[str, int] = {}
    for route in create_app(Settings()).routes:
        if not isinstance(route, HTTPRoute):
            continue
        for handler in route.route_handlers:
            if "data" not in handler.parsed_fn_signature.parameters or "/moderation/" in route.path:
                continue
            path = route.path_format.format_map(_Ones())
            for method in handler.http_methods - {"OPTIONS"}:
                answer = await ana.call(
                    method,
                    path.removeprefix("/api/v1"),
                    content=b"{}",
                    headers={"Content-Type": "text/plain"},
                )
                refused[f"{method} {route.path}"] = answer.status_code

    assert len(refused) > 40
    assert {name: status for name, status in refused.items() if status != 415} == {}


class _Ones(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return "1"
