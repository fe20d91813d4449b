"""Plain reads of the feed take a shorter way; nobody must be able to tell, least of all who has no right to it."""

import pytest
from httpx import AsyncClient

from tests.support import PASSWORD, Person
from tintype.api.swift import SwiftFeed


@pytest.fixture
def ways(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each read went the short way."""
    answer, taken = SwiftFeed.answer, list[bool]()

    async def note(self: SwiftFeed, scope: object, send: object) -> bool:
        is_plain = await answer(self, scope, send)  # pyright: ignore[reportArgumentType] - passed on
        taken.append(is_plain)
        return is_plain

    monkeypatch.setattr(SwiftFeed, "answer", note)
    return taken


@pytest.mark.parametrize("mode", ["ranked", "following"])
async def test_both_ways_answer_alike(ana: Person, bo: Person, ways: list[bool], mode: str) -> None:
    await bo.call("PUT", f"/accounts/{ana.account_id}/follow")
    for number in range(5):
        await ana.publish(f"100 % of #{number}")
    asked = {"mode": mode, "limit": "2"}

    short = await bo.call("GET", "/feed", params=asked)
    long = await bo.call("GET", "/feed", params=asked | {"explain": "0"})

    assert ways == [True, False]
    assert (short.status_code, short.content) == (200, long.content)
    assert dict(short.headers) == dict(long.headers) | {"x-request-id": short.headers["x-request-id"]}
    rest = await bo.call("GET", "/feed", params=asked | {"cursor": short.json()["next_cursor"]})
    assert ways[-1]
    seen = [each["post_id"] for page in (short, rest) for each in page.json()["posts"]]
    assert len(set(seen)) == 4


async def test_a_session_that_ended_reads_nothing_more(
    client: AsyncClient, ana: Person, ways: list[bool]
) -> None:
    for _ in range(20):
        signed_in = await client.post("/api/v1/sessions", json={"username": "ana", "password": PASSWORD})
        client.cookies.clear()
        assert signed_in.status_code == 201, signed_in.text
        other = Person(client, ana.account_id, "ana", signed_in.json()["token"])
        assert (await other.call("GET", "/feed")).status_code == 200
        await other.call("DELETE", "/sessions/current")

        assert (await other.call("GET", "/feed")).status_code == 401

    assert ways == [True, False] * 20


async def test_a_token_that_may_not_read_is_refused_as_everywhere(ana: Person, ways: list[bool]) -> None:
    made = await ana.call("POST", "/tokens", json={"name": "n", "scopes": ["likes:write"]})
    program = Person(ana.client, ana.account_id, "ana", made.json()["token"])

    refused = await program.call("GET", "/feed")

    assert (refused.status_code, refused.json()["code"]) == (403, "scope_missing")
    assert ways == [False]


async def test_a_cookie_is_a_credential_too(client: AsyncClient, ana: Person, ways: list[bool]) -> None:
    signed_in = await client.get("/api/v1/feed", headers={"Cookie": f"theme=dark; tt_session={ana.token}"})
    stranger = await client.get("/api/v1/feed", headers={"Cookie": "theme=dark; tt_session="})

    assert (signed_in.status_code, stranger.status_code) == (200, 401)
    assert ways == [True, False]


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("limit=0", "invalid"),
        ("limit=51", "invalid"),
        ("limit=%D9%A2", "invalid"),
        ("mode=best", "invalid"),
        ("cursor=AAAA", "cursor_invalid"),
    ],
)
async def test_what_is_odd_is_explained_by_the_route(
    ana: Person, ways: list[bool], query: str, code: str
) -> None:
    refused = await ana.call("GET", f"/feed?{query}")

    assert refused.status_code in {400, 422}, refused.text
    assert refused.json()["code"] == code
    assert ways == [False]
