"""Rate limits of routes: per account and per address, on every route, told in headers, set in one table."""

import dataclasses
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import msgspec
import pytest
from httpx import AsyncClient

from develop.reference import render_limits
from tests.application import serve
from tests.moderation.support import report
from tests.support import Person, join
from tintype.api import create_app
from tintype.api.http.route_classes import CLASSES, UNLIMITED, class_of
from tintype.base.errors import SettingsInvalid
from tintype.base.rate_limits import REQUEST_LIMITS, all_limits
from tintype.base.settings import Settings, load_settings
from tintype.wiring import Rooms

ELSEWHERE = {"X-Forwarded-For": "203.0.113.7"}


@asynccontextmanager
async def limited(rooms: Rooms, *limits: str) -> AsyncGenerator[AsyncClient]:
    """The application with these limits instead of those of the table."""
    settings = msgspec.structs.replace(rooms.settings, rate_limits=limits)
    async with serve(dataclasses.replace(rooms, settings=settings)) as client:
        yield client


async def test_reads_are_limited_per_account_and_the_refusal_says_when_to_try_again(rooms: Rooms) -> None:
    async with limited(rooms, "reads=3/3600") as client:
        ana, bo = await join(client, "ana"), await join(client, "bo")

        answers = [
            await ana.call("GET", path) for path in ("/feed", "/saves", "/explore", "/feed", "/blocks")
        ]
        other = await bo.call("GET", "/feed")

    assert [each.status_code for each in answers] == [200, 200, 200, 429, 429]
    assert [each.headers["RateLimit-Policy"] for each in answers] == ['"reads";q=3;w=3600'] * 5
    assert [each.headers["RateLimit"].split(";")[1] for each in answers] == [
        "r=2",
        "r=1",
        "r=0",
        "r=0",
        "r=0",
    ]
    refused = answers[3]
    assert refused.json()["code"] == "rate_limited"
    assert refused.headers.get_list("RateLimit") == [f'"reads";r=0;t={refused.headers["Retry-After"]}']
    assert 1_100 < int(refused.headers["Retry-After"]) <= 1_200
    assert "20 minutes" in refused.json()["detail"]
    assert other.status_code == 200


async def test_plain_feed_reads_are_counted_like_any_other(rooms: Rooms) -> None:
    async with limited(rooms, "reads=30/3600") as client:
        ana = await join(client, "ana")

        statuses = [(await ana.call("GET", "/feed")).status_code for _ in range(31)]

    assert statuses == [200] * 30 + [429]


async def test_guests_are_limited_per_address_and_an_ipv6_household_is_one(rooms: Rooms) -> None:
    async with limited(rooms, "reads-address=2/3600") as client:

        async def look(address: str) -> int:
            answer = await client.get("/api/v1/looks", headers={"X-Forwarded-For": address})
            return answer.status_code

        from_one = [await look("203.0.113.7") for _ in range(3)]
        from_household = [await look(f"2001:db8:1:2::{number}") for number in range(3)]

        assert from_one == from_household == [200, 200, 429]
        assert await look("203.0.113.8") == await look("2001:db8:1:3::1") == 200


@pytest.mark.parametrize("path", ["/", "/media/1/2-x/1080.jpg", "/api/openapi.json"])
async def test_files_and_pages_are_limited_per_address(rooms: Rooms, path: str) -> None:
    async with limited(rooms, "files-address=1/3600", "pages-address=1/3600") as client:
        first = await client.get(path, headers=ELSEWHERE)
        second = await client.get(path, headers=ELSEWHERE)

    assert first.status_code in {200, 404}
    assert (second.status_code, second.json()["code"]) == (429, "rate_limited")


@pytest.mark.parametrize(
    ("limit", "method", "path"),
    [
        ("likes", "PUT", "/posts/1/like"),
        ("uploads", "POST", "/media/upload"),
        ("uploads", "POST", "/media/tus"),
        ("posts", "POST", "/posts"),
        ("stories", "POST", "/stories"),
        ("search", "GET", "/search?q=an"),
        ("downloads", "GET", "/accounts/me/exports/1/file"),
        ("writes", "DELETE", "/notifications/1"),
        ("follows-address", "PUT", "/accounts/1/follow"),
        ("comments-address", "POST", "/posts/1/comments"),
        ("reports-address", "POST", "/reports"),
        ("exports-address", "POST", "/accounts/me/exports"),
    ],
)
async def test_each_kind_of_request_has_a_limit_that_the_settings_can_change(
    rooms: Rooms, limit: str, method: str, path: str
) -> None:
    async with limited(rooms, f"{limit}=1/3600") as client:
        ana = await join(client, "ana")

        first = await ana.call(method, path, headers=ELSEWHERE)
        second = await ana.call(method, path, headers=ELSEWHERE)

    assert first.status_code != 429
    assert second.status_code == 429


async def test_a_limit_can_be_switched_off(rooms: Rooms) -> None:
    async with limited(rooms, "all=1/3600", "reads=off", "reads-address=off") as client:
        ana = await join(client, "ana")

        answers = [await ana.call("GET", "/feed", headers=ELSEWHERE) for _ in range(3)]

    assert [each.status_code for each in answers] == [200] * 3
    assert "RateLimit" not in answers[0].headers


async def test_a_limit_that_an_action_has_reached_is_told_in_headers_too(ana: Person, bo: Person) -> None:
    answers = [await report(ana, "account", bo.account_id) for _ in range(31)]

    refused = answers[-1]
    assert refused.status_code == 429
    assert refused.headers.get_list("RateLimit-Policy") == ['"report";q=30;w=3600']
    assert refused.headers.get_list("RateLimit") == [f'"report";r=0;t={refused.headers["Retry-After"]}']


async def test_head_requests_are_counted_and_told(rooms: Rooms) -> None:
    async with limited(rooms, "reads=2/3600") as client:
        ana = await join(client, "ana")

        answers = [await ana.call("HEAD", "/feed") for _ in range(3)]

    assert [each.status_code for each in answers] == [200, 200, 429]
    assert answers[0].headers["RateLimit"].startswith('"reads";r=1;')


def test_every_route_has_a_class_and_every_named_route_exists() -> None:
    app = create_app(Settings())
    routes = {
        (method, route.path_format)
        for route in app.routes
        for handler in getattr(route, "route_handlers", ())
        for method in handler.http_methods
    }
    known = {row.name for row in REQUEST_LIMITS}

    unclassified = {path for method, path in routes if class_of(method, path) not in known}
    named = {
        (method, f"/api/v1{path}") for all_of in CLASSES.values() for method, path in map(str.split, all_of)
    }

    assert unclassified == UNLIMITED & {path for _, path in routes}
    assert named <= routes


@pytest.mark.parametrize(
    "text", ["nothing=1/60", "reads=1", "reads=0/60", "reads=1/0", "reads=-1/60", "reads"]
)
def test_a_setting_that_names_no_limit_is_refused(text: str) -> None:
    with pytest.raises(SettingsInvalid):
        load_settings(environ={"TINTYPE_RATE_LIMITS": text})


def test_limits_have_names_of_their_own_and_stand_in_the_docs() -> None:
    names = [limit.name for limit in all_limits()]
    page = render_limits()

    assert len(names) == len(set(names))
    assert not [name for name in names if f"`{name}`" not in page]
