"""The feed's fast path answers exactly as the route does, and never answers who may not read."""

import pytest
from httpx import AsyncClient

from tests.support import PASSWORD, Person
from tintype.api.feed_fast_path.fast_path import FeedFastPath


@pytest.fixture
def fast_path_answers(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether the fast path answered each read."""
    try_answer, answered = FeedFastPath.try_answer, list[bool]()

    async def record(self: FeedFastPath, scope: object, send: object) -> bool:
        is_plain = await try_answer(self, scope, send)  # pyright: ignore[reportArgumentType] - passed on
        answered.append(is_plain)
        return is_plain

    monkeypatch.setattr(FeedFastPath, "try_answer", record)
    return answered


@pytest.mark.parametrize("mode", ["ranked", "following"])
@pytest.mark.slow
async def test_fast_path_and_route_answer_alike(
    ana: Person, bo: Person, fast_path_answers: list[bool], mode: str
) -> None:
    await bo.call("PUT", f"/accounts/{ana.account_id}/follow")
    for number in range(5):
        await ana.publish(f"100 % of #{number}")
    query = {"mode": mode, "limit": "2"}

    fast = await bo.call("GET", "/feed", params=query)
    slow = await bo.call("GET", "/feed", params=query | {"explain": "false"})

    assert fast_path_answers == [True, False]
    assert (fast.status_code, fast.content) == (200, slow.content)
    own = {name: fast.headers[name] for name in ("x-request-id", "ratelimit")}
    assert dict(fast.headers) == dict(slow.headers) | own
    rest = await bo.call("GET", "/feed", params=query | {"cursor": fast.json()["next_cursor"]})
    assert fast_path_answers[-1]
    seen = [each["post_id"] for page in (fast, rest) for each in page.json()["posts"]]
    assert len(set(seen)) == 4


async def test_a_page_offers_downloads_for_as_long_as_the_author_does(
    ana: Person, bo: Person, fast_path_answers: list[bool]
) -> None:
    await bo.call("PUT", f"/accounts/{ana.account_id}/follow")
    await ana.publish()

    offers: list[bool] = []
    for on in (False, True, False):
        await ana.call("PATCH", "/accounts/me", json={"allows_downloads": on})
        [post] = (await bo.feed(mode="following"))["posts"]
        offers.append(post["media"][0]["download_url"] is not None)

    assert offers == [False, True, False]
    assert fast_path_answers == [True] * 3


@pytest.mark.slow
async def test_an_ended_session_cannot_read_the_feed(
    client: AsyncClient, ana: Person, fast_path_answers: list[bool]
) -> None:
    for _ in range(20):
        signed_in = await client.post("/api/v1/sessions", json={"username": "ana", "password": PASSWORD})
        client.cookies.clear()
        assert signed_in.status_code == 201, signed_in.text
        other = Person(client, ana.account_id, "ana", signed_in.json()["token"])
        assert (await other.call("GET", "/feed")).status_code == 200
        await other.call("DELETE", "/sessions/current")

        assert (await other.call("GET", "/feed")).status_code == 401

    assert fast_path_answers == [True, False] * 20


async def test_a_token_without_the_read_scope_is_refused(ana: Person, fast_path_answers: list[bool]) -> None:
    made = await ana.call("POST", "/tokens", json={"name": "n", "scopes": ["likes:write"]})
    program = Person(ana.client, ana.account_id, "ana", made.json()["token"])

    refused = await program.call("GET", "/feed")

    assert (refused.status_code, refused.json()["code"]) == (403, "scope_missing")
    assert fast_path_answers == [False]


async def test_the_fast_path_accepts_a_session_cookie(
    client: AsyncClient, ana: Person, fast_path_answers: list[bool]
) -> None:
    signed_in = await client.get("/api/v1/feed", headers={"Cookie": f"theme=dark; tt_session={ana.token}"})
    guest = await client.get("/api/v1/feed", headers={"Cookie": "theme=dark; tt_session="})

    assert (signed_in.status_code, guest.status_code) == (200, 401)
    assert fast_path_answers == [True, False]


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("limit=0", "invalid"),
        ("limit=51", "invalid"),
        ("limit=%D9%A2", "number_invalid"),
        ("mode=best", "invalid"),
        ("cursor=AAAA", "cursor_invalid"),
    ],
)
async def test_invalid_queries_are_left_to_the_route(
    ana: Person, fast_path_answers: list[bool], query: str, code: str
) -> None:
    refused = await ana.call("GET", f"/feed?{query}")

    assert refused.status_code in {400, 422}, refused.text
    assert refused.json()["code"] == code
    assert fast_path_answers == [False]
