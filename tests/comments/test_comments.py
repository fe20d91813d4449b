"""Comments: threads, visibility, moderation by filters, pins."""

from typing import Any

import pytest
from httpx import AsyncClient

from tests.support import Person, join


async def comment_on(by: Person, post: dict[str, Any], text: str, **body: Any) -> dict[str, Any]:
    answer = await by.call("POST", f"/posts/{post['post_id']}/comments", json={"text": text, **body})
    assert answer.status_code == 201, answer.text
    return answer.json()


async def comments(viewer: Person, post: dict[str, Any], **params: Any) -> list[dict[str, Any]]:
    answer = await viewer.call("GET", f"/posts/{post['post_id']}/comments", params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()["comments"]


async def replies(viewer: Person, comment: dict[str, Any], **params: Any) -> list[dict[str, Any]]:
    answer = await viewer.call("GET", f"/comments/{comment['comment_id']}/replies", params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()["comments"]


async def count_of(viewer: Person, post: dict[str, Any]) -> int:
    return (await viewer.call("GET", f"/posts/{post['post_id']}")).json()["comment_count"]


async def test_a_comment_is_seen_and_counted(ana: Person, bo: Person) -> None:
    post = await ana.publish()

    await comment_on(bo, post, "  What light!  ")

    [seen] = await comments(ana, post)
    assert (seen["text"], seen["author"]["username"]) == ("What light!", "bo")
    assert await count_of(ana, post) == 1


async def test_replies_to_replies_name_whom_they_reply_to(ana: Person, bo: Person) -> None:
    post = await ana.publish()
    first = await comment_on(bo, post, "one")
    second = await comment_on(ana, post, "two", reply_to=first["comment_id"])
    third = await comment_on(bo, post, "three", reply_to=second["comment_id"])
    fourth = await comment_on(ana, post, "four", reply_to=third["comment_id"])

    thread = await replies(bo, first)

    assert [(each["text"], each["depth"], each["answers"]["username"]) for each in thread] == [
        ("two", 1, "bo"),
        ("three", 2, "ana"),
        ("four", 3, "bo"),
    ]
    assert fourth["root_id"] == first["comment_id"]
    [top] = await comments(bo, post)
    assert top["thread_count"] == 3
    assert await count_of(bo, post) == 4


async def test_pages_hold_every_comment_once_while_new_ones_arrive(ana: Person, bo: Person) -> None:
    post = await ana.publish()
    said = [(await comment_on(bo, post, f"comment {number}"))["comment_id"] for number in range(7)]

    for sort, expected in (("newest", said[::-1]), ("oldest", said)):
        found: list[str] = []
        cursor = None
        while True:
            params = {"limit": 3, "sort": sort} | ({"cursor": cursor} if cursor else {})
            page = (await ana.call("GET", f"/posts/{post['post_id']}/comments", params=params)).json()
            found += [each["comment_id"] for each in page["comments"]]
            cursor = page["next_cursor"]
            if sort == "newest":
                await comment_on(ana, post, f"meanwhile {len(found)}")
            if cursor is None:
                break
        assert found[: len(expected)] == expected


async def test_the_most_liked_come_first_when_asked_for(ana: Person, bo: Person) -> None:
    post = await ana.publish()
    quiet, loved = await comment_on(bo, post, "quiet"), await comment_on(bo, post, "loved")
    await comment_on(bo, post, "newest")
    await ana.call("PUT", f"/comments/{loved['comment_id']}/like")
    await bo.call("PUT", f"/comments/{loved['comment_id']}/like")
    await ana.call("PUT", f"/comments/{quiet['comment_id']}/like")

    assert [each["text"] for each in await comments(ana, post, sort="top")] == ["loved", "quiet", "newest"]


async def test_a_deleted_comment_stays_as_a_placeholder_only_while_it_has_replies(
    ana: Person, bo: Person
) -> None:
    post = await ana.publish()
    first = await comment_on(bo, post, "first")
    answer = await comment_on(ana, post, "answer", reply_to=first["comment_id"])

    assert (await bo.call("DELETE", f"/comments/{first['comment_id']}")).status_code == 204

    [place] = await comments(ana, post)
    assert (place["state"], place["text"], place["author"]) == ("gone", "", None)
    assert await count_of(ana, post) == 1

    assert (await ana.call("DELETE", f"/comments/{answer['comment_id']}")).status_code == 204
    assert await comments(ana, post) == []
    assert await count_of(ana, post) == 0


async def test_the_author_of_the_post_may_delete_and_others_may_not(
    client: AsyncClient, ana: Person, bo: Person
) -> None:
    cy = await join(client, "cy")
    post = await ana.publish()
    said = await comment_on(bo, post, "mine")

    refused = await cy.call("DELETE", f"/comments/{said['comment_id']}")
    assert (refused.status_code, refused.json()["code"]) == (403, "comment_not_yours")
    assert (await ana.call("DELETE", f"/comments/{said['comment_id']}")).status_code == 204
    assert (await ana.call("DELETE", f"/comments/{said['comment_id']}")).status_code == 404


async def test_a_repeated_comment_is_refused_and_a_repeated_key_adds_it_once(ana: Person, bo: Person) -> None:
    post = await ana.publish()
    path, body = f"/posts/{post['post_id']}/comments", {"text": "hello"}

    once = await bo.call("POST", path, json=body, headers={"Idempotency-Key": "k1"})
    again = await bo.call("POST", path, json=body, headers={"Idempotency-Key": "k1"})
    other = await bo.call("POST", path, json=body)

    assert once.json()["comment_id"] == again.json()["comment_id"]
    assert (other.status_code, other.json()["code"]) == (409, "comment_repeated")


@pytest.mark.parametrize("text", ["", "   ", "x" * 2_201])
async def test_a_comment_of_invalid_length_is_refused(ana: Person, text: str) -> None:
    post = await ana.publish()

    answer = await ana.call("POST", f"/posts/{post['post_id']}/comments", json={"text": text})

    assert (answer.status_code, answer.json()["code"]) == (400, "comment_invalid")


async def test_comments_with_filtered_words_are_held_back_until_the_author_approves_them(
    client: AsyncClient, ana: Person, bo: Person
) -> None:
    cy = await join(client, "cy")
    post = await ana.publish()
    await ana.call("PUT", "/accounts/me/comment-filters", json={"words": ["Ugly", "go away", "🤮"]})

    held = await comment_on(bo, post, "how U6LY".replace("6", "g"))
    await comment_on(bo, post, "please go   AWAY now")
    await comment_on(bo, post, "🤮🤮")
    await comment_on(bo, post, "uglyduckling is a harmless word")

    assert [each["text"] for each in await comments(cy, post)] == ["uglyduckling is a harmless word"]
    assert len(await comments(bo, post)) == 4
    assert await count_of(cy, post) == 1
    waiting = (await ana.call("GET", f"/posts/{post['post_id']}/comments/kept-back")).json()["comments"]
    assert len(waiting) == 3

    assert (await ana.call("PUT", f"/comments/{held['comment_id']}/approval")).status_code == 204
    assert held["comment_id"] in [each["comment_id"] for each in await comments(cy, post)]
    assert await count_of(cy, post) == 2


async def test_only_the_author_of_the_post_sees_held_back_comments(ana: Person, bo: Person) -> None:
    post = await ana.publish()

    answer = await bo.call("GET", f"/posts/{post['post_id']}/comments/kept-back")

    assert (answer.status_code, answer.json()["code"]) == (404, "post_not_found")


async def test_at_most_three_comments_can_be_pinned_and_they_come_first(ana: Person, bo: Person) -> None:
    post = await ana.publish()
    said = [await comment_on(bo, post, f"number {number}") for number in range(5)]
    for each in said[:3]:
        assert (await ana.call("PUT", f"/comments/{each['comment_id']}/pin")).status_code == 204

    refused = await ana.call("PUT", f"/comments/{said[3]['comment_id']}/pin")
    assert (refused.status_code, refused.json()["code"]) == (409, "too_many_pinned")
    assert (await bo.call("PUT", f"/comments/{said[3]['comment_id']}/pin")).status_code == 403
    shown = await comments(bo, post)
    assert [each["text"] for each in shown] == [
        "number 2", "number 1", "number 0", "number 4", "number 3",
    ]  # fmt: skip
    assert [each["is_pinned"] for each in shown] == [True] * 3 + [False] * 2


async def test_a_guest_can_read_comments_but_not_write(client: AsyncClient, ana: Person, bo: Person) -> None:
    post = await ana.publish()
    await comment_on(bo, post, "hello")

    seen = await client.get(f"/api/v1/posts/{post['post_id']}/comments")
    refused = await client.post(f"/api/v1/posts/{post['post_id']}/comments", json={"text": "hi"})

    assert [each["text"] for each in seen.json()["comments"]] == ["hello"]
    assert refused.status_code == 401
