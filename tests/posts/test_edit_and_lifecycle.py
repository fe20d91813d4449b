"""Editing, archiving, pinning and deleting posts, and removing one's own tags."""

import asyncio
from typing import Any

import pytest
from httpx import AsyncClient

from tests.posts.people import block, id_of, make_private, run_sql
from tests.posts.test_publish import media_of, publish
from tests.support import Person, join
from tintype.base.ids import PostId
from tintype.posts import PostEdited, PostPublished, PostRemoved
from tintype.wiring import Rooms

JSON = {"Content-Type": "application/json"}


async def tagged_of(viewer: Person, whom: Person) -> list[str]:
    page = (await viewer.call("GET", f"/accounts/{whom.account_id}/tagged")).json()
    return [each["post_id"] for each in page["posts"]]


async def publish_with(author: Person, *people: Person) -> dict[str, Any]:
    media = await media_of(author)
    tags = [
        {"media_id": media[0], "account_id": each.account_id, "x": 0.5, "y": 0.1 * number}
        for number, each in enumerate(people)
    ]
    answer = await publish(author, media_ids=media, tagged=tags)
    assert answer.status_code == 201, answer.text
    return answer.json()


async def test_an_edit_changes_the_fields_that_are_set_and_leaves_the_rest(ana: Person, bo: Person) -> None:
    post = await publish_with(ana, bo)
    path, media_id = f"/posts/{post['post_id']}", post["media"][0]["media_id"]
    await bo.call("GET", path)

    answer = await ana.call(
        "PATCH",
        path,
        json={"caption": "Later #thought", "media": [{"media_id": media_id, "alt_text": "A gradient"}]},
    )

    assert answer.status_code == 200, answer.text
    seen = (await bo.call("GET", path)).json()
    assert (seen["caption"], seen["media"][0]["alt_text"]) == ("Later #thought", "A gradient")
    assert seen["spans"][0]["hashtag"] == "thought"
    assert seen["edited_at"] is not None
    assert seen["comments_enabled"]
    assert [each["username"] for each in seen["media"][0]["tagged"]] == ["bo"]


async def test_an_edit_of_tags_updates_the_index_at_once(
    client: AsyncClient, ana: Person, bo: Person
) -> None:
    cleo = await join(client, "cleo")
    post = await publish_with(ana, bo)
    assert await tagged_of(ana, bo) == [post["post_id"]]

    media_id = post["media"][0]["media_id"]
    tags = [{"account_id": cleo.account_id, "x": 0.1, "y": 0.2}]
    edit = {"media": [{"media_id": media_id, "tagged": tags}]}
    assert (await ana.call("PATCH", f"/posts/{post['post_id']}", json=edit)).status_code == 200

    assert await tagged_of(ana, bo) == []
    assert await tagged_of(ana, cleo) == [post["post_id"]]


async def test_place_null_removes_the_place(ana: Person) -> None:
    post = (await publish(ana, place={"place_id": "p", "name": "P"})).json()

    kept = await ana.call("PATCH", f"/posts/{post['post_id']}", json={"caption": "x"})
    gone = await ana.call("PATCH", f"/posts/{post['post_id']}", json={"place": None})

    assert kept.json()["place"]["name"] == "P"
    assert gone.json()["place"] is None


async def test_a_tagged_person_can_remove_their_tag(ana: Person, bo: Person) -> None:
    post = await publish_with(ana, ana, bo)

    for _ in range(2):
        assert (await bo.call("DELETE", f"/posts/{post['post_id']}/tags/me")).status_code == 204

    assert await tagged_of(bo, bo) == []
    seen = (await bo.call("GET", f"/posts/{post['post_id']}")).json()
    assert [each["username"] for each in seen["media"][0]["tagged"]] == ["ana"]


async def test_an_older_event_about_tags_never_undoes_a_newer_one(
    rooms: Rooms, ana: Person, bo: Person
) -> None:
    post = await publish_with(ana, bo)
    post_id = PostId(int(post["post_id"]))
    await bo.call("DELETE", f"/posts/{post_id}/tags/me")

    handlers = {each.event: each.run for each in rooms.posts.handlers()}
    await handlers[PostPublished](PostPublished(post_id, id_of(ana), tagged_ids=(id_of(bo),)))
    await handlers[PostEdited](PostEdited(post_id, id_of(ana), post_id + 1, tagged_ids=(id_of(bo),)))

    assert await tagged_of(bo, bo) == []


async def test_only_the_author_sees_an_archived_post(ana: Person, bo: Person) -> None:
    post = await publish_with(ana, bo)
    path = f"/posts/{post['post_id']}"
    await bo.call("GET", path)

    assert (await ana.call("PUT", f"{path}/archive")).status_code == 204

    missing = await bo.call("GET", "/posts/141402734592003")
    hidden = await bo.call("GET", path)
    assert {**hidden.json(), "request_id": ""} == {**missing.json(), "request_id": ""}
    assert (await bo.call("PUT", f"{path}/like")).status_code == 404
    assert await tagged_of(bo, bo) == []
    assert (await ana.call("GET", path)).json()["is_archived"]
    archive = (await ana.call("GET", "/accounts/me/archive")).json()
    assert [each["post_id"] for each in archive["posts"]] == [post["post_id"]]
    profile = (await bo.call("GET", "/profiles/ana")).json()
    assert (profile["post_count"], profile["posts"]) == (0, [])

    assert (await ana.call("DELETE", f"{path}/archive")).status_code == 204
    assert (await bo.call("GET", path)).status_code == 200
    assert await tagged_of(bo, bo) == [post["post_id"]]
    assert (await bo.call("GET", "/profiles/ana")).json()["post_count"] == 1


async def test_a_deleted_post_is_gone_at_once_for_everybody(ana: Person, bo: Person) -> None:
    post = await publish_with(ana, bo)
    path = f"/posts/{post['post_id']}"
    await bo.call("GET", path)

    assert (await ana.call("DELETE", path)).status_code == 204

    assert (await ana.call("GET", path)).status_code == 404
    assert (await bo.call("GET", path)).status_code == 404
    assert (await ana.call("DELETE", path)).status_code == 404
    assert await tagged_of(bo, bo) == []
    assert (await ana.call("GET", "/profiles/ana")).json()["post_count"] == 0


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("PATCH", ""),
        ("DELETE", ""),
        ("PUT", "/archive"),
        ("DELETE", "/archive"),
        ("PUT", "/pin"),
        ("DELETE", "/pin"),
    ],
)
async def test_only_the_author_changes_a_post_and_others_learn_nothing_they_may_not_see(
    rooms: Rooms, client: AsyncClient, ana: Person, bo: Person, method: str, path: str
) -> None:
    cleo = await join(client, "cleo")
    await block(rooms, ana, cleo)
    post = await ana.publish()
    options = {"json": {"caption": "mine"}} if method == "PATCH" else {}

    visible = await bo.call(method, f"/posts/{post['post_id']}{path}", **options)
    blocked = await cleo.call(method, f"/posts/{post['post_id']}{path}", **options)

    assert (visible.status_code, visible.json()["code"]) == (403, "not_your_post")
    assert (blocked.status_code, blocked.json()["code"]) == (404, "post_not_found")


async def test_three_posts_can_be_pinned_and_come_first(ana: Person) -> None:
    posts = [await ana.publish(str(number)) for number in range(5)]
    for number in (0, 1, 2):
        assert (await ana.call("PUT", f"/posts/{posts[number]['post_id']}/pin")).status_code == 204

    fourth = await ana.call("PUT", f"/posts/{posts[3]['post_id']}/pin")
    again = await ana.call("PUT", f"/posts/{posts[0]['post_id']}/pin")

    assert (fourth.status_code, fourth.json()["code"]) == (409, "too_many_pinned")
    assert again.status_code == 204
    seen: list[str] = []
    cursor = None
    while True:
        params = {"limit": 2, **({"cursor": cursor} if cursor else {})}
        page = (await ana.call("GET", f"/accounts/{ana.account_id}/posts", params=params)).json()
        seen += [each["caption"] for each in page["posts"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == ["2", "1", "0", "4", "3"]


async def test_only_the_author_sees_a_post_that_a_moderator_hid(
    rooms: Rooms, ana: Person, bo: Person
) -> None:
    post = await ana.publish()
    post_id = PostId(int(post["post_id"]))
    path = f"/posts/{post_id}"

    await rooms.posts.hide(post_id, id_of(bo))
    assert (await bo.call("GET", path)).status_code == 404
    assert (await ana.call("GET", path)).json()["is_hidden"]
    await ana.call("PUT", f"{path}/archive")
    await ana.call("DELETE", f"{path}/archive")
    assert (await bo.call("GET", path)).status_code == 404

    await rooms.posts.restore(post_id, id_of(bo))
    assert (await bo.call("GET", path)).status_code == 200


async def test_a_private_authors_post_is_for_followers(
    rooms: Rooms, client: AsyncClient, ana: Person, bo: Person
) -> None:
    post = await ana.publish()
    await bo.call("PUT", f"/accounts/{ana.account_id}/follow")
    await make_private(rooms, ana)
    cleo = await join(client, "cleo")

    assert (await bo.call("GET", f"/posts/{post['post_id']}")).status_code == 200
    assert (await cleo.call("GET", f"/posts/{post['post_id']}")).status_code == 404
    assert (await client.get(f"/api/v1/posts/{post['post_id']}")).status_code == 404
    assert (await cleo.call("GET", f"/accounts/{ana.account_id}/posts")).json()["posts"] == []


async def test_every_change_has_an_event_with_a_growing_change_id(rooms: Rooms, ana: Person) -> None:
    post = await ana.publish("#one")
    path = f"/posts/{post['post_id']}"
    await ana.call("PATCH", path, json={"caption": "#two"})
    await ana.call("PUT", f"{path}/archive")
    await ana.call("DELETE", f"{path}/archive")
    await ana.call("DELETE", path)

    events = await outbox_of(rooms, int(post["post_id"]))

    assert [type(each).__name__ for each in events] == [
        "PostPublished",
        "PostEdited",
        "PostRemoved",
        "PostPublished",
        "PostRemoved",
    ]
    assert [each.is_new for each in events if isinstance(each, PostPublished)] == [True, False]
    assert [each.is_deleted for each in events if isinstance(each, PostRemoved)] == [False, True]
    numbers = [each.change_id for each in events if isinstance(each, PostEdited | PostRemoved)]
    assert numbers == sorted(numbers)


async def outbox_of(rooms: Rooms, post_id: int) -> list[Any]:
    """The events of posts on a post's server, in order."""
    known = {each.name: each for each in (PostPublished, PostEdited, PostRemoved)}
    rows = await run_sql(rooms, post_id, "SELECT event, payload FROM common.outbox ORDER BY id")
    return [known[row["event"]].decode(row["payload"]) for row in rows if row["event"] in known]


@pytest.mark.slow
async def test_the_count_of_posts_stays_exact_under_concurrent_changes(rooms: Rooms, ana: Person) -> None:
    posts = [(await ana.publish())["post_id"] for _ in range(4)]
    moves = [
        ana.call(method, f"/posts/{post}{path}")
        for post in posts
        for method, path in (
            ("PUT", "/archive"),
            ("DELETE", "/archive"),
            ("PUT", "/archive"),
            ("PUT", "/pin"),
        )
    ]
    await asyncio.gather(*moves, ana.call("DELETE", f"/posts/{posts[0]}"))

    shown = len(await rooms.posts.page_of_author(id_of(ana), before=2**63 - 1, limit=10))
    assert (await rooms.accounts.get(id_of(ana))).post_count == shown


@pytest.mark.slow
async def test_concurrent_edits_of_tags_leave_post_and_index_alike(
    client: AsyncClient, ana: Person, bo: Person
) -> None:
    cleo = await join(client, "cleo")
    post = await publish_with(ana)
    path, media_id = f"/posts/{post['post_id']}", post["media"][0]["media_id"]
    choices = [[bo], [cleo], [], [bo, cleo]] * 4

    async def tag(people: list[Person]) -> None:
        tags = [{"account_id": each.account_id, "x": 0.5, "y": 0.5} for each in people]
        body = {"media": [{"media_id": media_id, "tagged": tags}]}
        assert (await ana.call("PATCH", path, json=body)).status_code == 200

    await asyncio.gather(*(tag(people) for people in choices))

    shown = (await ana.call("GET", path)).json()["media"][0]["tagged"]
    listed = {each.username for each in (bo, cleo) if await tagged_of(ana, each)}
    assert {each["username"] for each in shown} == listed


@pytest.mark.parametrize(
    ("method", "path", "options"),
    [
        ("GET", "/posts/00000000000", {}),
        ("GET", "/posts/zzzzzzzzzzz", {}),
        ("GET", "/posts/9999999999999999999", {}),
        ("GET", "/posts/0", {}),
        ("PUT", "/posts/9223372036854775807/like", {}),
        ("GET", "/posts/9223372036854775807/likes", {}),
        ("DELETE", "/posts/9223372036854775807/tags/me", {}),
        ("GET", "/accounts/9223372036854775807/posts", {}),
        ("GET", "/accounts/9223372036854775807/tagged", {}),
        ("GET", "/accounts/me/likes", {"params": {"cursor": "MTow"}}),
        ("POST", "/posts", {"content": b'{"media_ids": ["1"], "caption": "\\ud800"}', "headers": JSON}),
        ("POST", "/posts", {"content": b'{"media_ids": ["1"], "caption": "\xff"}', "headers": JSON}),
        ("POST", "/posts", {"json": {"media_ids": ["1"], "place": {"place_id": "\0", "name": "x"}}}),
        (
            "POST",
            "/posts",
            {
                "content": b'{"media_ids":["1"],"place":{"place_id":"p","name":"n","lat":1e999,"lon":0}}',
                "headers": JSON,
            },
        ),
        ("POST", "/posts", {"json": {"media_ids": ["1"]}, "headers": {"Idempotency-Key": "k" * 200}}),
    ],
)
async def test_odd_requests_are_refused_and_never_crash(
    ana: Person, method: str, path: str, options: dict[str, Any]
) -> None:
    answer = await ana.call(method, path, **options)

    assert answer.status_code in {400, 404}, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
