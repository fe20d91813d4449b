import base64
import hashlib
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
import pytest
from httpx import AsyncClient

from tests.application import serve
from tests.support import Person
from tintype.wiring import Rooms


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("GET", "/api/v1/nowhere", None, 404, "not_found"),
        ("PATCH", "/api/v1/accounts", None, 405, "method_not_allowed"),
        ("POST", "/api/v1/accounts", {"username": "x"}, 400, "invalid"),
        ("POST", "/api/v1/accounts", {"username": "x", "password": 5}, 400, "invalid"),
        (
            "POST",
            "/api/v1/accounts",
            {"username": "x", "password": "long enough", "admin": True},
            400,
            "invalid",
        ),
        (
            "POST",
            "/api/v1/accounts",
            {"username": "a..b", "password": "long enough"},
            400,
            "username_refused",
        ),
        (
            "POST",
            "/api/v1/accounts",
            {"username": "admin", "password": "long enough"},
            400,
            "username_refused",
        ),
        ("POST", "/api/v1/accounts", {"username": "аna", "password": "long enough"}, 400, "username_refused"),  # noqa: RUF001 - Cyrillic
        ("POST", "/api/v1/accounts", {"username": "short", "password": "short"}, 400, "password_refused"),
        ("GET", "/api/v1/feed", None, 401, "not_signed_in"),
        ("GET", "/media/1/2-x/1080.jpg", None, 404, "media_not_found"),
        ("GET", "/media/..%2f..%2fetc/passwd.jpg", None, 404, "media_not_found"),
    ],
)
async def test_every_error_is_problem_json_with_a_stable_code(
    client: AsyncClient, method: str, path: str, body: Any, status: int, code: str
) -> None:
    answer = await client.request(method, path, json=body)

    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (status, code)
    assert answer.headers["content-type"].startswith("application/problem+json")
    assert problem["status"] == status
    assert problem["request_id"] == answer.headers["x-request-id"]
    assert problem["detail"]


@pytest.mark.parametrize(
    "path",
    ["/posts/0", "/posts/abc", "/posts/99999999999999999999", "/posts/-1", "/posts/9223372036854775807"],
)
async def test_an_invalid_id_is_refused_without_a_crash(ana: Person, path: str) -> None:
    answer = await ana.call("GET", path)

    assert answer.status_code in {400, 404}


@pytest.mark.parametrize("cursor", ["zzz", "MTox", "e30", "%00", "MTotMQ"])
async def test_an_invented_cursor_is_refused_or_harmless(ana: Person, cursor: str) -> None:
    answer = await ana.call("GET", "/feed", params={"cursor": cursor})

    assert answer.status_code in {200, 400}


async def test_a_malformed_token_authenticates_nobody(client: AsyncClient) -> None:
    for token in ("x", "é", "A" * 54, "_" * 54, "A" * 5000):
        answer = await client.get(
            "/api/v1/accounts/me", headers=[(b"authorization", f"Bearer {token}".encode())]
        )
        assert answer.status_code == 401


async def test_a_request_id_is_kept_when_safe_and_replaced_when_not(client: AsyncClient) -> None:
    kept = await client.get("/healthz", headers={"X-Request-Id": "abc-123"})
    replaced = await client.get("/healthz", headers={"X-Request-Id": "a b\tc"})

    assert kept.headers["x-request-id"] == "abc-123"
    assert replaced.headers["x-request-id"] != "a b\tc"


async def test_readiness_names_every_engine_with_its_latency(client: AsyncClient) -> None:
    answer = await client.get("/readyz")

    engines = answer.json()["engines"]
    assert answer.status_code == 200
    assert answer.json()["is_degraded"] is False
    assert {"postgres pg1", "postgres pg2", "redis", "nats"} == set(engines)
    assert all(each["is_ready"] and each["latency_ms"] >= 0 for each in engines.values())


async def test_the_api_serves_its_openapi_document_and_docs_page(client: AsyncClient) -> None:
    document = (await client.get("/api/openapi.json")).json()
    page = (await client.get("/api/docs")).text

    assert document["openapi"].startswith("3.1")
    assert "/api/v1/feed" in document["paths"]
    assert "/api/v1/feed" in page
    assert "<script" not in page


@pytest.mark.slow
async def test_the_web_app_is_served_at_all_its_paths_and_its_assets_are_immutable(
    rooms: Rooms, tmp_path: Path
) -> None:
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text("<!doctype html><title>Tintype</title>")
    (tmp_path / "assets" / "app-1a2b.js").write_text("export {}")
    settings = msgspec.structs.replace(rooms.settings, web_dist=tmp_path)
    async with serve(rooms, settings) as client:
        page = await client.get("/settings/profile")
        profile = await client.get("/@bo.marsh", headers={"Cookie": "tt_session=x"})
        asset = await client.get("/assets/app-1a2b.js")
        again = await client.get("/assets/app-1a2b.js", headers={"If-None-Match": asset.headers["etag"]})
        missing = await client.get("/assets/gone.js")

    assert (page.status_code, profile.status_code) == (200, 200)
    assert page.headers["cache-control"] == "no-cache"
    assert "script-src 'self'" in page.headers["content-security-policy"]
    assert "immutable" in asset.headers["cache-control"]
    assert again.status_code == 304
    assert missing.status_code == 404


@pytest.mark.parametrize(
    "odd", ["\0", "a\0b", "\ufffe", "\U0001f600" * 30, "e\u0301", "\u202e", "' OR 1=1 --", "%00", "{}"]
)
@pytest.mark.slow
async def test_unusual_text_is_stored_or_refused_without_a_crash(
    client: AsyncClient, ana: Person, odd: str
) -> None:
    media_id = (await ana.upload()).json()["media_id"]
    answers = [
        await client.post(
            "/api/v1/accounts", json={"username": odd, "password": "long enough", "full_name": odd}
        ),
        await client.post(
            "/api/v1/accounts", json={"username": "odd_one", "password": "long enough", "full_name": odd}
        ),
        await client.post("/api/v1/sessions", json={"username": odd, "password": odd}),
        await ana.call("GET", f"/accounts/by-name/{quote(odd, safe='')}"),
        await ana.call("POST", "/posts", json={"media_ids": [media_id], "caption": odd, "alt_texts": [odd]}),
    ]
    client.cookies.clear()

    assert [answer.status_code for answer in answers if answer.status_code >= 500] == []


async def test_a_caption_comes_back_as_it_was_sent(ana: Person) -> None:
    caption = "Grüße \U0001f334 e\u0301 \u2067right to left\u2069"

    assert (await ana.publish(caption))["caption"] == caption


async def test_json_is_compressed_for_clients_that_accept_gzip(client: AsyncClient, ana: Person) -> None:
    for caption in ("one", "two", "three"):
        await ana.publish(caption)
    path = f"/accounts/{ana.account_id}/posts"

    packed = await ana.call("GET", path, headers={"Accept-Encoding": "gzip, br"})
    plain = await ana.call("GET", path, headers={"Accept-Encoding": "identity"})
    known = await ana.call("GET", path, headers={"If-None-Match": packed.headers.get("etag", "")})

    assert packed.headers["content-encoding"] == "gzip"
    assert "Accept-Encoding" in packed.headers["vary"]
    assert int(packed.headers["content-length"]) * 2 < int(plain.headers["content-length"])
    assert "content-encoding" not in plain.headers
    assert packed.json() == plain.json()
    assert known.status_code == 304


async def test_a_response_that_may_contain_a_secret_is_not_compressed(client: AsyncClient) -> None:
    person = {"username": "long.name", "password": "long enough", "full_name": "a" * 60}

    answer = await client.post("/api/v1/accounts", json=person, headers={"Accept-Encoding": "gzip"})

    assert answer.status_code == 201
    assert "content-encoding" not in answer.headers


async def test_the_content_security_policy_allows_only_the_pages_own_inline_script(
    rooms: Rooms, tmp_path: Path
) -> None:
    (tmp_path / "index.html").write_text("<!doctype html><script>go()</script><script src='/a.js'></script>")
    settings = msgspec.structs.replace(rooms.settings, web_dist=tmp_path)
    async with serve(rooms, settings) as client:
        policy = (await client.get("/")).headers["content-security-policy"]

    digest = base64.b64encode(hashlib.sha256(b"go()").digest()).decode()
    assert f"script-src 'self' 'sha256-{digest}';" in policy
    assert "unsafe" not in policy


@pytest.mark.slow
async def test_static_files_are_sent_in_the_smallest_accepted_encoding(rooms: Rooms, tmp_path: Path) -> None:
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets" / "app-1a2b.js").write_text("export {}")
    (tmp_path / "assets" / "app-1a2b.js.br").write_bytes(b"squeezed")
    settings = msgspec.structs.replace(rooms.settings, web_dist=tmp_path)
    async with serve(rooms, settings) as client:
        asking = client.build_request("GET", "/assets/app-1a2b.js", headers={"Accept-Encoding": "gzip, br"})
        best = await client.send(asking, stream=True)
        raw = b"".join([piece async for piece in best.aiter_raw()])
        zipped = await client.get("/assets/app-1a2b.js", headers={"Accept-Encoding": "gzip"})
        hidden = await client.get("/assets/app-1a2b.js.br")

    assert (best.headers["content-encoding"], raw) == ("br", b"squeezed")
    assert (zipped.headers["content-encoding"], zipped.text) == ("gzip", "export {}")
    assert hidden.status_code == 404


@pytest.mark.parametrize("path", ["/", "/healthz", "/api/v1/feed", "/api/v1/posts/none", "/nothing.js"])
async def test_head_answers_as_get_without_the_body(ana: Person, path: str) -> None:
    asked, read = await ana.client.head(path), await ana.client.get(path)

    assert asked.status_code == read.status_code
    assert asked.content == b""
    for name in ("content-type", "content-length", "etag", "cache-control"):
        assert asked.headers.get(name) == read.headers.get(name)


async def test_head_changes_nothing(ana: Person) -> None:
    post = await ana.publish()

    refused = await ana.client.head(f"/api/v1/posts/{post['post_id']}/like")

    assert refused.status_code == 405
