"""Lean routes answer exactly as the framework does, and leave to it whatever is unusual."""

from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from typing import Any

import pytest
from httpx import AsyncClient, Response
from litestar import Litestar
from litestar.routes import HTTPRoute

from tests.support import PASSWORD, Person, set_status
from tintype.api import create_app
from tintype.api.lean_routes import LeanRoutes
from tintype.api.lean_routes.plan import plans_of
from tintype.base.ids import AccountId
from tintype.base.rate_limits import COMMENT
from tintype.base.settings import Settings
from tintype.redis.client import Command, MultiplexedRedisClient
from tintype.wiring import Rooms

OWN_HEADERS = frozenset({"x-request-id", "ratelimit", "etag", "content-length"})
"""Headers that differ between two answers to the same request."""
OWN_FIELDS = frozenset({"request_id", "post_id", "code", "permalink", "comment_id", "created_at", "media"})


class Paths:
    """Which requests a lean route answered, and a way to switch them all off."""

    def __init__(self) -> None:
        self.answered: list[bool] = []
        self.is_off = False

    @contextmanager
    def off(self) -> Generator[None]:
        self.is_off = True
        yield
        self.is_off = False


@pytest.fixture
def paths(monkeypatch: pytest.MonkeyPatch) -> Paths:
    try_answer, paths = LeanRoutes.try_answer, Paths()

    async def record(self: LeanRoutes, *call: Any) -> bool:
        is_lean = not paths.is_off and await try_answer(self, *call)
        paths.answered.append(is_lean)
        return is_lean

    monkeypatch.setattr(LeanRoutes, "try_answer", record)
    return paths


def comparable(answer: Response) -> tuple[int, dict[str, str], Any]:
    """An answer without what is different each time."""
    headers = {name: value for name, value in answer.headers.items() if name not in OWN_HEADERS}
    body: dict[str, Any] = answer.json() if answer.content else {}
    shown = {name: value for name, value in body.items() if name not in OWN_FIELDS}
    return answer.status_code, headers, shown


async def new_media(person: Person) -> str:
    return (await person.upload()).json()["media_id"]


Send = Callable[[Person, Person, dict[str, Any]], Awaitable[Response]]
"""A request of the second person about the first one's post."""
CALLS: dict[str, Send] = {
    "like": lambda _, bo, post: bo.call("PUT", f"/posts/{post['post_id']}/like"),
    "like by short code": lambda _, bo, post: bo.call("PUT", f"/posts/{post['code']}/like"),
    "unlike": lambda _, bo, post: bo.call("DELETE", f"/posts/{post['post_id']}/like"),
    "like of nothing": lambda _, bo, __: bo.call("PUT", "/posts/1234567890123456789/like"),
    "like of an impossible id": lambda _, bo, __: bo.call("PUT", "/posts/9999999999999999999/like"),
    "save": lambda _, bo, post: bo.call("PUT", f"/posts/{post['post_id']}/save", json={}),
    "save with a wrong body": lambda _, bo, post: bo.call(
        "PUT", f"/posts/{post['post_id']}/save", json={"collection_ids": 7, "more": 1}
    ),
    "unsave": lambda _, bo, post: bo.call("DELETE", f"/posts/{post['post_id']}/save"),
    "follow": lambda ana, bo, _: bo.call("PUT", f"/accounts/{ana.account_id}/follow"),
    "follow oneself": lambda _, bo, __: bo.call("PUT", f"/accounts/{bo.account_id}/follow"),
    "unfollow": lambda ana, bo, _: bo.call("DELETE", f"/accounts/{ana.account_id}/follow"),
    "comment": lambda _, bo, post: bo.call(
        "POST",
        f"/posts/{post['post_id']}/comments",
        json={"text": "Ünder @ana's post"},
        headers={"Idempotency-Key": post["post_id"]},
    ),
    "empty comment": lambda _, bo, post: bo.call(
        "POST", f"/posts/{post['post_id']}/comments", json={"text": " "}
    ),
    "comment that is no JSON": lambda _, bo, post: bo.call(
        "POST",
        f"/posts/{post['post_id']}/comments",
        content=b'{"text": ',
        headers={"Content-Type": "application/json"},
    ),
    "comment nested too deeply": lambda _, bo, post: bo.call(
        "POST",
        f"/posts/{post['post_id']}/comments",
        content=b"[" * 40 + b"]" * 40,
        headers={"Content-Type": "application/json"},
    ),
    "comment with a character that cannot be stored": lambda _, bo, post: bo.call(
        "POST", f"/posts/{post['post_id']}/comments", json={"text": "\x00"}
    ),
    "seen": lambda _, bo, post: bo.call(
        "POST", "/feed/seen", json={"impressions": [{"post_id": post["post_id"], "ms": 5}]}
    ),
    "profile": lambda ana, bo, _: bo.call("GET", f"/profiles/{ana.username}"),
    "no such profile": lambda _, bo, __: bo.call("GET", "/profiles/nobody"),
    "post": lambda _, bo, post: bo.call("GET", f"/posts/{post['post_id']}"),
    "post without media": lambda _, bo, __: bo.call("POST", "/posts", json={"media_ids": ["5"]}),
}


@pytest.mark.parametrize("what", CALLS)
async def test_lean_routes_and_the_framework_answer_alike(
    ana: Person, bo: Person, paths: Paths, what: str
) -> None:
    posts = [await ana.publish("the same words"), await ana.publish("the same words")]
    paths.answered.clear()

    lean = await CALLS[what](ana, bo, posts[0])
    with paths.off():
        slow = await CALLS[what](ana, bo, posts[1])

    assert paths.answered == [True, False]
    assert comparable(lean) == comparable(slow)


async def test_publishing_answers_alike(ana: Person, bo: Person, paths: Paths) -> None:
    media = [await new_media(ana) for _ in range(2)]
    bodies = [
        {
            "media_ids": [each],
            "caption": "to @ana, @bo and @nobody, #here",
            "tagged": [{"media_id": each, "account_id": bo.account_id, "x": 0.5, "y": 0.25}],
            "place": {"place_id": "cape-1", "name": "The cape"},
            "hides_like_count": True,
        }
        for each in media
    ]
    paths.answered.clear()

    lean = await ana.call("POST", "/posts", json=bodies[0], headers={"Idempotency-Key": "1"})
    again = await ana.call("POST", "/posts", json=bodies[0], headers={"Idempotency-Key": "1"})
    with paths.off():
        slow = await ana.call("POST", "/posts", json=bodies[1])

    assert paths.answered == [True, True, False]
    assert comparable(lean) == comparable(slow)
    assert (again.status_code, again.json()) == (201, lean.json())
    assert (await ana.call("GET", f"/posts/{lean.json()['post_id']}")).json() == lean.json()
    assert [each["username"] for each in lean.json()["spans"] if each["kind"] == "mention"] == ["ana", "bo"]


async def test_a_repeated_idempotency_key_answers_with_the_post_as_it_is_now(ana: Person, bo: Person) -> None:
    body, key = {"media_ids": [await new_media(ana)]}, {"Idempotency-Key": "once"}
    first = (await ana.call("POST", "/posts", json=body, headers=key)).json()
    await bo.call("PUT", f"/posts/{first['post_id']}/like")

    again = (await ana.call("POST", "/posts", json=body, headers=key)).json()

    assert (first["like_count"], again["like_count"]) == (0, 1)
    assert again["post_id"] == first["post_id"]


async def test_a_profile_that_the_client_has_is_not_sent_again(ana: Person, bo: Person, paths: Paths) -> None:
    etag = (await bo.call("GET", "/profiles/ana")).headers["etag"]
    paths.answered.clear()

    lean = await bo.call("GET", "/profiles/ana", headers={"If-None-Match": etag})
    with paths.off():
        slow = await bo.call("GET", "/profiles/ana", headers={"If-None-Match": etag})

    assert paths.answered == [True, False]
    assert comparable(lean) == comparable(slow)
    assert (lean.status_code, lean.content) == (304, b"")


@pytest.mark.parametrize(
    ("path", "headers", "expected"),
    [
        ("/like?now=1", {}, 204),
        ("/like/", {}, 204),
        ("/like", {"Authorization": ""}, 401),
        ("/like", {"Authorization": "Bearer nonsense"}, 401),
        ("/like", {"Authorization": "Basic YTpi"}, 401),
        ("/like", {"Cookie": "a=b", "Authorization": ""}, 401),
    ],
)
async def test_what_is_unusual_is_left_to_the_framework(
    ana: Person, paths: Paths, path: str, headers: dict[str, str], expected: int
) -> None:
    post = await ana.publish()
    paths.answered.clear()

    answer = await ana.call("PUT", f"/posts/{post['post_id']}{path}", headers=headers)

    assert (answer.status_code, paths.answered) == (expected, [False])


@pytest.mark.parametrize("size", [b"", b"0", b"100000"])
async def test_a_body_that_is_missing_or_large_is_left_to_the_framework(
    ana: Person, paths: Paths, size: bytes
) -> None:
    post = await ana.publish()
    paths.answered.clear()
    body = b'{"text": "' + b"x" * int(size or b"0") + b'"}' if size != b"0" else b""
    content = body if size else _in_parts(body)

    answer = await ana.call(
        "POST",
        f"/posts/{post['post_id']}/comments",
        content=content,
        headers={"Content-Type": "application/json"},
    )

    assert answer.status_code == 400
    assert paths.answered == [False]


async def _in_parts(body: bytes) -> Any:
    yield body


async def test_a_token_without_the_scope_and_a_suspended_account_are_refused(
    rooms: Rooms, ana: Person, bo: Person, paths: Paths
) -> None:
    post = await ana.publish()
    made = await bo.call("POST", "/tokens", json={"name": "n", "scopes": ["read", "likes:write"]})
    program = Person(bo.client, bo.account_id, "bo", made.json()["token"])
    paths.answered.clear()

    liked = await program.call("PUT", f"/posts/{post['post_id']}/like")
    refused = await program.call("PUT", f"/posts/{post['post_id']}/save", json={})
    await set_status(rooms, AccountId(int(bo.account_id)), "suspended")
    again = await bo.client.post("/api/v1/sessions", json={"username": "bo", "password": PASSWORD})
    bo.client.cookies.clear()
    suspended = await Person(bo.client, bo.account_id, "bo", again.json()["token"]).call(
        "PUT", f"/posts/{post['post_id']}/like"
    )

    assert (liked.status_code, refused.status_code, suspended.status_code) == (204, 403, 403)
    assert (refused.json()["code"], suspended.json()["code"]) == ("scope_missing", "account_suspended")
    assert [*paths.answered[:2], paths.answered[-1]] == [True, False, False]


async def test_a_session_cookie_needs_its_csrf_token_and_its_own_site(
    client: AsyncClient, ana: Person, paths: Paths
) -> None:
    post = await ana.publish()
    signed_in = await client.post("/api/v1/sessions", json={"username": "ana", "password": PASSWORD})
    assert signed_in.status_code == 201, signed_in.text
    csrf = {"X-CSRF-Token": client.cookies["tt_csrf"]}
    path = f"/api/v1/posts/{post['post_id']}/like"
    paths.answered.clear()

    answers = [
        await client.put(path, headers=csrf),
        await client.put(path),
        await client.put(path, headers={"X-CSRF-Token": "guessed"}),
        await client.put(path, headers=csrf | {"Sec-Fetch-Site": "cross-site"}),
        await client.put(path, headers=csrf | {"Origin": "https://elsewhere.example"}),
        await client.put(path, headers=csrf | {"Sec-Fetch-Site": "same-origin"}),
    ]
    with paths.off():
        slow = await client.put(path)

    assert [each.status_code for each in answers] == [204, 403, 403, 403, 403, 204]
    assert [each.json()["code"] for each in answers if each.content] == [
        *["csrf_token_wrong"] * 2,
        *["cross_site_request"] * 2,
    ]
    assert paths.answered[:-1] == [True] * 6
    assert comparable(answers[1]) == comparable(slow)


@pytest.mark.slow
async def test_an_ended_session_can_change_nothing(client: AsyncClient, ana: Person, paths: Paths) -> None:
    post = await ana.publish()
    for _ in range(20):
        signed_in = await client.post("/api/v1/sessions", json={"username": "ana", "password": PASSWORD})
        client.cookies.clear()
        other = Person(client, ana.account_id, "ana", signed_in.json()["token"])
        assert (await other.call("PUT", f"/posts/{post['post_id']}/like")).status_code == 204
        await other.call("DELETE", "/sessions/current")
        paths.answered.clear()

        assert (await other.call("DELETE", f"/posts/{post['post_id']}/like")).status_code == 401
        assert paths.answered == [False]


async def test_a_request_is_counted_once_whichever_path_it_takes(ana: Person, paths: Paths) -> None:
    post = await ana.publish()
    away = {"X-Forwarded-For": "192.0.2.7"}
    paths.answered.clear()

    def remaining(answer: Response) -> tuple[str, int]:
        name, left, _ = answer.headers["ratelimit"].split(";")
        return name, int(left.removeprefix("r="))

    lean = await ana.call("PUT", f"/posts/{post['post_id']}/like", headers=away)
    slow = await ana.call("PUT", f"/posts/{post['post_id']}/like?slow", headers=away)
    guests = [
        await ana.call("PUT", f"/posts/{post['post_id']}/like", headers=away | {"Authorization": text})
        for text in ("Bearer nobody", "")
    ]

    assert paths.answered == [True, False, False, False]
    assert remaining(lean)[0] == remaining(slow)[0] == '"likes"'
    assert remaining(lean)[1] - remaining(slow)[1] == 1
    assert [each.status_code for each in guests] == [401, 401]
    assert remaining(guests[0])[0] == '"likes-address"'
    assert remaining(guests[0])[1] - remaining(guests[1])[1] == 1


async def test_a_used_up_budget_is_refused_alike(rooms: Rooms, ana: Person, paths: Paths) -> None:
    text = {"text": "one word more"}
    post = await ana.publish()
    for _ in range(COMMENT.count):
        await rooms.limiter.acquire(COMMENT, int(ana.account_id))
    paths.answered.clear()

    lean = await ana.call("POST", f"/posts/{post['post_id']}/comments", json=text)
    with paths.off():
        slow = await ana.call("POST", f"/posts/{post['post_id']}/comments", json=text)

    assert (lean.status_code, lean.json()["code"]) == (429, "rate_limited")
    assert "retry-after" in lean.headers
    assert set(lean.headers) == set(slow.headers)
    assert paths.answered == [True, False]


async def test_an_error_of_ours_is_answered_without_its_details(
    rooms: Rooms, ana: Person, paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    post = await ana.publish()
    paths.answered.clear()

    async def fail(*_: object) -> None:
        raise RuntimeError("a detail")

    monkeypatch.setattr(rooms.posts, "like", fail)
    lean = await ana.call("PUT", f"/posts/{post['post_id']}/like")
    with paths.off():
        slow = await ana.call("PUT", f"/posts/{post['post_id']}/like")

    assert (lean.status_code, paths.answered) == (500, [True, False])
    assert comparable(lean) == comparable(slow)
    assert "a detail" not in lean.text


async def test_a_warm_like_authenticates_with_one_round_trip_and_reads_nothing_else(
    ana: Person, bo: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    posts = [await ana.publish() for _ in range(3)]
    for post in posts[:2]:
        await bo.call("PUT", f"/posts/{post['post_id']}/like")
        await bo.call("GET", f"/posts/{posts[2]['post_id']}")
    sent: list[str] = []
    execute = MultiplexedRedisClient.execute

    async def record(self: MultiplexedRedisClient, *commands: Command) -> list[Any]:
        sent.extend(str(command[0]) for command in commands)
        return await execute(self, *commands)

    monkeypatch.setattr(MultiplexedRedisClient, "execute", record)
    await bo.call("PUT", f"/posts/{posts[2]['post_id']}/like")

    assert sent[0] == "PING"
    assert "MGET" not in sent


def test_every_path_is_answered_by_the_route_that_the_framework_chooses() -> None:
    app: Litestar = create_app(Settings())
    plans = list(plans_of(app))
    for route in app.routes:
        methods = route.methods if isinstance(route, HTTPRoute) else ()
        for method in methods:
            for plan in plans:
                segments = route.path.split("/")
                if plan.method == method and len(segments) == len(plan.segments) and "{" not in route.path:
                    assert plan.match(segments) is None or plan.template == route.path
    assert {plan.template.removeprefix("/api/v1") for plan in plans} >= {
        "/posts",
        "/posts/{post_id}/like",
        "/posts/{post_id}/save",
        "/posts/{post_id}/comments",
        "/accounts/{account_id}/follow",
        "/feed/seen",
        "/profiles/{username}",
    }
