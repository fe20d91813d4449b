import pytest
from httpx import AsyncClient

from tests.support import PASSWORD, Person, eventually, join, photo
from tintype.worker import Worker


@pytest.mark.slow
async def test_a_follower_sees_a_new_post_in_the_feed(working: Worker, ana: Person, bo: Person) -> None:
    assert (await bo.call("PUT", f"/accounts/{ana.account_id}/follow")).status_code == 204
    await _has_followers(bo, "ana", 1)
    assert (await bo.feed())["posts"] == []

    post = await ana.publish("First light")

    async def is_shown() -> bool:
        return [each["post_id"] for each in (await bo.feed())["posts"]] == [post["post_id"]]

    await eventually(is_shown, what="the post is in the follower's feed")
    shown = (await bo.feed())["posts"][0]
    assert shown["caption"] == "First light"
    assert shown["author"]["username"] == "ana"
    assert shown["media"][0]["width"] == 640


@pytest.mark.slow
async def test_a_new_follow_shows_earlier_posts_and_an_unfollow_hides_them_at_once(
    working: Worker, ana: Person, bo: Person
) -> None:
    await ana.publish("Before we met")
    assert (await bo.feed())["posts"] == []
    await bo.call("PUT", f"/accounts/{ana.account_id}/follow")

    async def is_shown() -> bool:
        return len((await bo.feed())["posts"]) == 1

    await eventually(is_shown, what="the earlier post is shown")
    await bo.call("DELETE", f"/accounts/{ana.account_id}/follow")

    assert (await bo.feed())["posts"] == []


async def test_pages_of_the_feed_have_no_gap_and_no_repeat(ana: Person) -> None:
    made = [(await ana.publish(str(number)))["post_id"] for number in range(5)]

    seen: list[str] = []
    cursor = None
    while True:
        page = await ana.feed(limit=2, **({"cursor": cursor} if cursor else {}))
        seen += [each["post_id"] for each in page["posts"]]
        cursor = page["next_cursor"]
        assert page["has_more"] == (cursor is not None)
        if cursor is None:
            break

    assert seen == made[::-1]


async def test_liking_twice_counts_once(ana: Person, bo: Person) -> None:
    post = await ana.publish()
    for _ in range(2):
        assert (await bo.call("PUT", f"/posts/{post['post_id']}/like")).status_code == 204

    seen = (await bo.call("GET", f"/posts/{post['post_id']}")).json()
    assert (seen["like_count"], seen["viewer_has_liked"]) == (1, True)
    assert not (await ana.call("GET", f"/posts/{post['post_id']}")).json()["viewer_has_liked"]

    for _ in range(2):
        await bo.call("DELETE", f"/posts/{post['post_id']}/like")
    assert (await bo.call("GET", f"/posts/{post['post_id']}")).json()["like_count"] == 0


async def test_a_retried_request_posts_once(ana: Person) -> None:
    media_id = (await ana.upload()).json()["media_id"]
    request = {"json": {"media_ids": [media_id]}, "headers": {"Idempotency-Key": "once"}}

    first = await ana.call("POST", "/posts", **request)
    second = await ana.call("POST", "/posts", **request)

    assert (first.status_code, second.status_code) == (201, 201)
    assert first.json()["post_id"] == second.json()["post_id"]
    assert (await ana.call("GET", "/accounts/me")).json()["post_count"] == 1


async def test_media_cannot_be_posted_twice_or_by_somebody_else(ana: Person, bo: Person) -> None:
    media_id = (await ana.upload()).json()["media_id"]

    foreign = await bo.call("POST", "/posts", json={"media_ids": [media_id]})
    await ana.call("POST", "/posts", json={"media_ids": [media_id]})
    again = await ana.call("POST", "/posts", json={"media_ids": [media_id]})

    assert (foreign.status_code, foreign.json()["code"]) == (400, "media_invalid")
    assert (again.status_code, again.json()["code"]) == (400, "media_invalid")


async def test_uploaded_sizes_are_served_to_their_owner_and_hold_no_metadata(ana: Person) -> None:
    uploaded = (await ana.upload(photo(2000, 1500))).json()

    assert (uploaded["width"], uploaded["height"]) == (1080, 810)
    answer = await ana.client.get(uploaded["urls"]["320"])
    assert answer.headers["content-type"] == "image/jpeg"
    assert answer.headers["cache-control"].startswith("private, max-age=")
    assert b"Exif" not in answer.content


async def test_a_file_that_is_no_photo_is_refused(ana: Person) -> None:
    answer = await ana.upload(b"GIF89a, or so it says")

    assert (answer.status_code, answer.json()["code"]) == (400, "media_unsupported")


async def test_a_browser_needs_the_csrf_token_and_a_program_does_not(client: AsyncClient, bo: Person) -> None:
    await client.post("/api/v1/accounts", json={"username": "cleo", "password": PASSWORD})
    path = f"/api/v1/accounts/{bo.account_id}/follow"

    without = await client.put(path)
    with_token = await client.put(path, headers={"X-CSRF-Token": client.cookies["tt_csrf"]})

    assert (without.status_code, without.json()["code"]) == (403, "csrf_token_wrong")
    assert with_token.status_code == 204
    assert (await client.get("/api/v1/accounts/me")).json()["username"] == "cleo"


async def test_signing_out_ends_the_session(ana: Person) -> None:
    assert (await ana.call("DELETE", "/sessions/current")).status_code == 204

    answer = await ana.call("GET", "/accounts/me")
    assert (answer.status_code, answer.json()["code"]) == (401, "not_signed_in")


async def test_a_username_is_taken_in_any_case_and_signs_in_in_any_case(client: AsyncClient) -> None:
    await join(client, "dora")

    taken = await client.post("/api/v1/accounts", json={"username": "DORA", "password": PASSWORD})
    entered = await client.post("/api/v1/sessions", json={"username": "Dora", "password": PASSWORD})
    client.cookies.clear()

    assert (taken.status_code, taken.json()["code"]) == (409, "username_taken")
    assert entered.status_code == 201


async def test_a_wrong_password_and_an_unknown_name_get_the_same_answer(
    client: AsyncClient, ana: Person
) -> None:
    wrong = await client.post("/api/v1/sessions", json={"username": "ana", "password": "not the one"})
    unknown = await client.post(
        "/api/v1/sessions", json={"username": "nobody_here", "password": "not the one"}
    )

    assert (wrong.status_code, unknown.status_code) == (403, 403)
    assert {**wrong.json(), "request_id": ""} == {**unknown.json(), "request_id": ""}


async def _has_followers(person: Person, username: str, count: int) -> None:
    async def is_so() -> bool:
        seen = (await person.call("GET", f"/accounts/by-name/{username}")).json()
        return seen["follower_count"] == count

    await eventually(is_so, what=f"{username} has {count} followers")
