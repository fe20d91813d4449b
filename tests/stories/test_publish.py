"""Publishing and removing stories, and who sees them: by audience, the author's privacy and blocks."""

import asyncio
from typing import Any

import msgspec
import pytest

from tests.application import serve
from tests.stories.support import (
    id_of,
    list_stories,
    publish_story,
    query,
    status,
    story_id,
    tray_usernames,
    upload,
)
from tests.support import Person, eventually, join
from tintype.base.ids import MediaId
from tintype.stories import NewStory
from tintype.wiring import Rooms, build_rooms
from tintype.worker import Worker


async def follow(follower: Person, followee: Person) -> None:
    assert await status(follower, "PUT", f"/accounts/{followee.account_id}/follow") < 300


async def test_a_story_is_visible_at_once_to_its_author_and_soon_to_followers(
    friends: tuple[Person, Person],
) -> None:
    ana, bo = friends
    assert await tray_usernames(bo) == []

    story = await publish_story(ana, text="hello", alt_text="a field")

    assert await tray_usernames(ana) == ["ana"]
    assert await tray_usernames(bo) == ["ana"], "what was remembered as nothing is forgotten"
    seen = (await bo.call("GET", f"/stories/{story['story_id']}")).json()
    assert (seen["text"], seen["media"]["alt_text"], seen["media_type"]) == ("hello", "a field", "image")
    assert (seen["view_count"], seen["viewer_is_author"], seen["seen"]) == (None, False, False)
    assert (await bo.client.get(seen["media_url"])).status_code == 200


async def test_only_the_authors_close_friends_see_a_story_for_close_friends(
    ana: Person, bo: Person, cy: Person
) -> None:
    for person in (bo, cy):
        await follow(person, ana)
    await ana.call("PUT", f"/close-friends/{bo.account_id}")
    await cy.call("PUT", f"/close-friends/{ana.account_id}")
    story = await publish_story(ana, audience="close_friends")
    path = f"/stories/{story['story_id']}"

    assert await list_stories(bo, ana) == [story["story_id"]]
    assert await list_stories(cy, ana) == []
    assert await tray_usernames(cy) == []
    for method, rest, body in (
        ("GET", "", None),
        ("PUT", "/seen", None),
        ("PUT", "/reaction", {"reaction": "🔥"}),
        ("POST", "/replies", {"text": "hm"}),
    ):
        assert await status(cy, method, path + rest, json=body) == 404

    await ana.call("DELETE", f"/close-friends/{bo.account_id}")
    assert await status(bo, "GET", path) == 404


async def test_only_followers_see_the_stories_of_a_private_account(
    ana: Person, bo: Person, cy: Person
) -> None:
    await follow(bo, ana)
    await ana.call("PATCH", "/accounts/me", json={"is_private": True})
    story = await publish_story(ana)

    assert await list_stories(bo, ana) == [story["story_id"]]
    assert await list_stories(cy, ana) == []
    assert await status(cy, "GET", f"/stories/{story['story_id']}") == 404
    url = (await bo.call("GET", f"/stories/{story['story_id']}")).json()["media_url"]
    assert "/~" in url, "its files open with a signature alone"


async def test_a_block_and_an_unfollow_hide_stories(friends: tuple[Person, Person]) -> None:
    ana, bo = friends
    story = await publish_story(ana)
    assert await tray_usernames(bo) == ["ana"]

    await bo.call("DELETE", f"/accounts/{ana.account_id}/follow")
    assert await tray_usernames(bo) == []
    assert await status(bo, "GET", f"/stories/{story['story_id']}") == 200, "a public one, by its address"

    await ana.call("PUT", f"/blocks/{bo.account_id}")
    assert await status(bo, "GET", f"/stories/{story['story_id']}") == 404
    assert await status(bo, "GET", f"/accounts/{ana.account_id}/stories") == 404


async def test_muted_stories_leave_the_tray_and_nothing_else(friends: tuple[Person, Person]) -> None:
    ana, bo = friends
    story = await publish_story(ana)

    await bo.call("PUT", f"/mutes/{ana.account_id}", json={"stories": True})

    assert await tray_usernames(bo) == []
    assert await list_stories(bo, ana) == [story["story_id"]]


async def test_a_removed_story_disappears_at_once_with_its_media(
    rooms: Rooms, friends: tuple[Person, Person]
) -> None:
    ana, bo = friends
    story = await publish_story(ana)
    path = f"/stories/{story['story_id']}"
    assert await tray_usernames(bo) == ["ana"]
    assert await status(bo, "DELETE", path) == 404

    assert await status(ana, "DELETE", path) == 204

    assert await tray_usernames(bo) == []
    for person in (ana, bo):
        assert await status(person, "GET", path) == 404
    assert (await bo.client.get(story["media_url"])).status_code == 404
    assert await status(ana, "DELETE", path) == 404
    kept = await query(rooms, id_of(ana), "SELECT removed_at IS NOT NULL AS is_removed FROM stories")
    assert [row["is_removed"] for row in kept] == [True], "a state, not a deletion"


async def test_concurrent_requests_with_one_idempotency_key_publish_one_story(ana: Person) -> None:
    body = {"media_id": await upload(ana), "text": "once"}
    headers = {"Idempotency-Key": "k1"}

    answers = await asyncio.gather(
        *(ana.call("POST", "/stories", json=body, headers=headers) for _ in range(8))
    )

    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json()["story_id"] for answer in answers}) == 1
    assert len(await list_stories(ana, ana)) == 1
    other = await ana.call("POST", "/stories", json={**body, "text": "twice"}, headers=headers)
    assert (other.status_code, other.json()["code"]) == (409, "idempotency_key_reused")


async def test_only_ones_own_unused_story_upload_can_become_a_story(ana: Person, bo: Person) -> None:
    used, post, foreign = await upload(ana), await upload(ana, kind="post"), await upload(bo)
    assert await status(ana, "POST", "/stories", json={"media_id": used}) == 201

    for media_id in (used, post, foreign, "141402734592003", "9223372036854775807"):
        answer = await ana.call("POST", "/stories", json={"media_id": media_id})
        assert (answer.status_code, answer.json()["code"]) == (400, "story_media_invalid")
    assert len(await list_stories(ana, ana)) == 1
    assert await status(ana, "POST", "/posts", json={"media_ids": [used]}) == 400


@pytest.mark.parametrize(
    "draft",
    [
        {"text": "x" * 501},
        {"alt_text": "x" * 1001},
        {"text": "a\x00b"},
        {"audience": "nobody"},
        {"mentions": [{"account_id": "me", "x": 0.5, "y": 0.5}]},
        {"mentions": [{"account_id": "141402734592003", "x": 0.5, "y": 0.5}]},
        {"mentions": [{"account_id": "141402734592003", "x": 1.5, "y": 0.5}]},
        {"media_id": 7},
        {"surprise": True},
    ],
)
async def test_odd_stories_are_refused(ana: Person, draft: dict[str, Any]) -> None:
    answer = await ana.call("POST", "/stories", json={"media_id": await upload(ana), **draft})

    assert answer.status_code == 400, answer.text
    assert await list_stories(ana, ana) == []


async def test_the_daily_limit_says_when_to_try_again(rooms: Rooms) -> None:
    strict = msgspec.structs.replace(rooms.settings, stories_per_day=2)
    async with serve(build_rooms(strict, rooms.shards, rooms.redis, rooms.nats), strict) as client:
        ana = await join(client, "ana")
        for _ in range(2):
            await publish_story(ana)
        answer = await ana.call("POST", "/stories", json={"media_id": await upload(ana)})

    assert (answer.status_code, answer.json()["code"]) == (429, "too_many_stories")
    assert 86_000 < int(answer.headers["Retry-After"]) <= 86_401


async def test_mentions_show_accounts_the_viewer_may_see(
    rooms: Rooms, ana: Person, bo: Person, cy: Person
) -> None:
    story = await publish_story(ana, mentions=[{"account_id": bo.account_id, "x": 0.25, "y": 0.5}])
    path = f"/stories/{story['story_id']}"
    assert story["mentions"] == [{"account_id": bo.account_id, "username": "bo", "x": 0.25, "y": 0.5}]

    await bo.call("PUT", f"/blocks/{cy.account_id}")

    assert (await cy.call("GET", path)).json()["mentions"] == []


@pytest.mark.usefixtures("clean_streams")
@pytest.mark.slow
async def test_an_invalidation_lost_with_its_process_is_repeated_by_the_event(
    rooms: Rooms, friends: tuple[Person, Person], working: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process dies between the commit and the invalidation; the event's handler invalidates within seconds."""
    ana, bo = friends
    assert await tray_usernames(bo) == []

    async def die(*_: object) -> None:
        raise asyncio.CancelledError

    media_id = await upload(ana)
    with monkeypatch.context() as dying:
        dying.setattr(rooms.stories.author_stories, "invalidate", die)
        with pytest.raises(asyncio.CancelledError):
            await rooms.stories.publish(id_of(ana), NewStory(media_id=MediaId(int(media_id))))

    async def is_shown() -> bool:
        return await tray_usernames(bo) == ["ana"]

    await eventually(is_shown, what="the story is in the tray")


async def test_guests_see_what_is_for_everyone(ana: Person) -> None:
    story = await publish_story(ana)
    hidden = await publish_story(ana, audience="close_friends")

    answer = await ana.client.get(f"/api/v1/accounts/{ana.account_id}/stories")

    assert [each["story_id"] for each in answer.json()["stories"]] == [story["story_id"]]
    assert (await ana.client.get(f"/api/v1/stories/{story_id(hidden)}")).status_code == 404
    assert (await ana.client.get("/api/v1/stories/feed")).status_code == 401
