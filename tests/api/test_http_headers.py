"""Headers of every response: what browsers and caches are told, and which methods a path has."""

import re

import msgspec
import pytest
from httpx import ASGITransport, AsyncClient
from litestar.routes import HTTPRoute

from tests.support import PASSWORD, Person
from tintype.api import RequestLog, create_app
from tintype.api.http.security_headers import CONTENT_SECURITY_POLICY
from tintype.api.routes.security_txt import contact_of
from tintype.base.settings import Settings
from tintype.wiring import Rooms

PUBLIC = {
    "/", "/{path}", "/api", "/api/docs", "/api/docs.css", "/api/openapi.json", "/.well-known/security.txt",
    "/api/v1/looks", "/api/v1/looks/{file_name}", "/media/{path}",
    "/robots.txt", "/sitemap.xml", "/sitemaps/{name}", "/oembed",
}  # fmt: skip
"""What anybody gets alike, and caches may therefore keep."""


def get_routes() -> list[str]:
    app = create_app(Settings())
    found = {
        route.path_format for route in app.routes if isinstance(route, HTTPRoute) and "GET" in route.methods
    }
    return sorted(found)


@pytest.mark.slow
async def test_no_private_response_may_be_stored(client: AsyncClient, ana: Person) -> None:
    post = await ana.publish("Private")
    ids = {"account_id": ana.account_id, "post_id": post["post_id"], "username": "ana"}
    stored: list[str] = []
    for path in get_routes():
        address = re.sub(r"\{(\w+)\}", lambda found: ids.get(found[1], "1"), path)
        for headers in ({}, {"Authorization": f"Bearer {ana.token}"}):
            answer = await client.get(address, headers=headers)
            if path not in PUBLIC and "no-store" not in answer.headers["cache-control"]:
                stored.append(f"{path} {answer.status_code} {answer.headers['cache-control']}")
    changed = await client.post("/api/v1/sessions", json={"username": "ana", "password": PASSWORD})
    refused = await client.post("/api/v1/sessions", json={"username": "ana", "password": "wrong one"})

    assert stored == []
    assert (changed.headers["cache-control"], refused.headers["cache-control"]) == ("no-store", "no-store")


async def test_a_feed_is_stored_nowhere_but_answers_304_to_those_who_kept_its_tag(ana: Person) -> None:
    first = await ana.call("GET", "/feed")
    again = await ana.call("GET", "/feed", headers={"If-None-Match": first.headers["etag"]})

    assert (first.headers["cache-control"], again.status_code) == ("private, no-store", 304)


async def test_every_response_has_the_security_headers(client: AsyncClient) -> None:
    for path in ("/", "/api/v1/feed", "/api/v1/nowhere", "/media/1/2-x/1080.jpg", "/healthz", "/api/docs"):
        headers = (await client.get(path)).headers
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert headers["cross-origin-opener-policy"] == "same-origin"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert "strict-transport-security" not in headers


def test_the_policy_allows_connections_to_the_site_alone() -> None:
    assert "connect-src 'self';" in CONTENT_SECURITY_POLICY
    assert not re.search(r"\bwss?:|\*|unsafe|https?:", CONTENT_SECURITY_POLICY)


@pytest.mark.slow
async def test_a_site_with_https_says_so_for_a_year(rooms: Rooms) -> None:
    settings = msgspec.structs.replace(rooms.settings, public_url="https://photos.example.org")
    app = RequestLog(create_app(settings), settings)
    async with AsyncClient(transport=ASGITransport(app=app), base_url="http://x.example") as client:  # pyright: ignore[reportArgumentType] - ASGI
        answer = await client.get("/healthz")

    assert answer.headers["strict-transport-security"] == "max-age=31536000"


@pytest.mark.parametrize(
    ("chosen", "contact"),
    [
        ({"security_contact": "mailto:security@example.org"}, "mailto:security@example.org"),
        ({"push_contact": "https://example.org/contact"}, "https://example.org/contact"),
        ({"mail_from": "Photos <photos@example.org>"}, "mailto:photos@example.org"),
        ({"public_url": "https://photos.example.org"}, "https://photos.example.org"),
        ({}, "http://127.0.0.1:8080/"),
    ],
)
def test_security_txt_names_a_contact(chosen: dict[str, str], contact: str) -> None:
    assert contact_of(Settings(**chosen)) == contact  # pyright: ignore[reportArgumentType] - texts alone


async def test_security_txt_has_the_fields_that_the_standard_requires(client: AsyncClient) -> None:
    answer = await client.get("/.well-known/security.txt")

    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert re.search(r"^Contact: \S+$", answer.text, re.MULTILINE)
    assert re.search(r"^Expires: \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$", answer.text, re.MULTILINE)
    assert (await client.get("/.well-known/other")).status_code == 404


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PATCH", "/api/v1/accounts", "OPTIONS, POST"),
        ("POST", "/api/v1/posts/1/like", "DELETE, OPTIONS, PUT"),
        ("HEAD", "/api/v1/posts/1/like", "DELETE, OPTIONS, PUT"),
        ("MADEUP", "/healthz", "GET, HEAD, OPTIONS"),
        ("DELETE", "/", "GET, HEAD, OPTIONS"),
        ("PUT", "/media/1/2-x/1080.jpg", "GET, HEAD, OPTIONS"),
        ("PUT", "/api/v1/posts/1", "DELETE, GET, HEAD, OPTIONS, PATCH"),
    ],
)
async def test_a_method_that_a_path_does_not_have_is_told_which_it_has(
    client: AsyncClient, method: str, path: str, allowed: str
) -> None:
    refused = await client.request(method, path)
    asked = await client.options(path)

    assert (refused.status_code, refused.headers["allow"]) == (405, allowed)
    assert (asked.status_code, asked.headers["allow"], asked.content) == (204, allowed, b"")


async def test_an_unknown_path_of_the_api_is_not_found_with_any_method(client: AsyncClient) -> None:
    answers = [
        await client.request(each, "/api/v1/nowhere") for each in ("GET", "POST", "PUT", "DELETE", "HEAD")
    ]

    assert {answer.status_code for answer in answers} == {404}
