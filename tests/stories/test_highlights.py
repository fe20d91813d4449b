"""Highlights outlive the stories they copy, and keep their media for as long as they exist."""

from typing import Any

import pytest

from tests.stories.support import ServerClock, id_of, publish_story, query, status, upload
from tests.support import Person
from tintype.wiring import Rooms


async def make(
    person: Person, *stories: dict[str, Any], title: str = "Summer", **more: Any
) -> dict[str, Any]:
    body = {"title": title, "story_ids": [each["story_id"] for each in stories], **more}
    answer = await person.call("POST", "/highlights", json=body)
    assert answer.status_code == 201, answer.text
    return answer.json()


async def titles(viewer: Person, owner: Person) -> list[str]:
    answer = await viewer.call("GET", f"/accounts/{owner.account_id}/highlights")
    assert answer.status_code == 200, answer.text
    return [each["title"] for each in answer.json()["highlights"]]


@pytest.mark.slow
async def test_a_highlight_outlives_its_stories_and_their_partition(
    rooms: Rooms, friends: tuple[Person, Person], clock: ServerClock
) -> None:
    ana, bo = friends
    kept, lost = await publish_story(ana, text="keep"), await publish_story(ana)
    made = await make(ana, kept)

    await clock.move(24 * 4)
    await rooms.stories.sweep()
    await rooms.stories.rotate_partitions()

    assert await query(rooms, id_of(ana), "SELECT FROM stories") == []
    found = (await bo.call("GET", f"/highlights/{made['highlight_id']}")).json()
    assert [(item["story_id"], item["text"]) for item in found["items"]] == [(kept["story_id"], "keep")]
    assert (await bo.client.get(found["items"][0]["media_url"])).status_code == 200
    assert (await bo.client.get(found["cover_url"])).status_code == 200
    assert (await bo.client.get(lost["media_url"])).status_code == 404


async def test_a_removed_story_stays_in_its_highlight(friends: tuple[Person, Person]) -> None:
    ana, bo = friends
    story = await publish_story(ana)
    made = await make(ana, story)

    assert await status(ana, "DELETE", f"/stories/{story['story_id']}") == 204

    assert await status(bo, "GET", f"/stories/{story['story_id']}") == 404
    assert await status(bo, "GET", f"/highlights/{made['highlight_id']}") == 200
    assert (await bo.client.get(story["media_url"])).status_code == 200

    assert await status(ana, "DELETE", f"/highlights/{made['highlight_id']}") == 204
    assert (await bo.client.get(story["media_url"])).status_code == 404


async def test_the_media_go_with_the_last_copy_unless_the_story_is_live(
    rooms: Rooms, ana: Person, clock: ServerClock
) -> None:
    story = await publish_story(ana)
    one, two = await make(ana, story), await make(ana, story)
    ends = "SELECT ends_at IS NOT NULL AS ends, state FROM media"
    assert [tuple(row) for row in await query(rooms, id_of(ana), ends)] == [(False, "ready")]

    await ana.call("DELETE", f"/highlights/{one['highlight_id']}")
    assert [tuple(row) for row in await query(rooms, id_of(ana), ends)] == [(False, "ready")]

    await ana.call("DELETE", f"/highlights/{two['highlight_id']}")
    assert [tuple(row) for row in await query(rooms, id_of(ana), ends)] == [(True, "ready")]

    three = await make(ana, story)
    await clock.move(30)
    await ana.call("DELETE", f"/highlights/{three['highlight_id']}")
    assert (await ana.client.get(story["media_url"])).status_code == 404


async def test_a_highlight_is_changed_atomically(ana: Person) -> None:
    first, second, third = [await publish_story(ana) for _ in range(3)]
    made = await make(ana, first, second, cover_story_id=second["story_id"])
    path = f"/highlights/{made['highlight_id']}"
    covered = made["items"][1]["media"]["squares"]["320"]
    assert made["cover_url"] == covered

    answer = await ana.call(
        "PATCH",
        path,
        json={
            "title": "Autumn",
            "add_story_ids": [third["story_id"], second["story_id"]],
            "remove_item_ids": [made["items"][0]["item_id"]],
        },
    )

    changed = answer.json()
    assert (changed["title"], changed["cover_url"]) == ("Autumn", covered)
    assert [item["story_id"] for item in changed["items"]] == [second["story_id"], third["story_id"]]
    turned = [item["item_id"] for item in reversed(changed["items"])]
    ordered = (await ana.call("PATCH", path, json={"item_ids": turned, "cover_item_id": turned[0]})).json()
    assert [item["item_id"] for item in ordered["items"]] == turned

    for wrong in ({"item_ids": turned[:1]}, {"cover_item_id": made["items"][0]["item_id"]}, {"title": " "}):
        assert (await ana.call("PATCH", path, json=wrong)).json()["code"] == "highlight_invalid"
    empty = await ana.call("PATCH", path, json={"remove_item_ids": turned})
    assert (empty.status_code, empty.json()["code"]) == (400, "highlight_empty")
    assert len((await ana.call("GET", path)).json()["items"]) == 2, "what is refused changes nothing"


async def test_highlights_have_the_order_their_owner_gives(ana: Person, bo: Person) -> None:
    story = await publish_story(ana)
    ids = {name: (await make(ana, story, title=name))["highlight_id"] for name in "abc"}
    assert await titles(bo, ana) == ["c", "b", "a"], "the latest first"

    await ana.call("PUT", "/highlights/order", json={"highlight_ids": [ids["a"], ids["c"], bo.account_id]})

    assert await titles(bo, ana) == ["a", "c", "b"]
    await make(ana, story, title="d")
    assert await titles(bo, ana) == ["d", "a", "c", "b"]


async def test_only_ones_own_live_stories_can_be_highlighted(ana: Person, bo: Person) -> None:
    foreign, gone = await publish_story(bo), await publish_story(ana)
    await ana.call("DELETE", f"/stories/{gone['story_id']}")
    good = await publish_story(ana)

    for bad in (foreign["story_id"], gone["story_id"], "9223372036854775807"):
        answer = await ana.call(
            "POST", "/highlights", json={"title": "x", "story_ids": [good["story_id"], bad]}
        )
        assert (answer.status_code, answer.json()["code"]) == (404, "story_not_found")
    assert await titles(ana, ana) == []


async def test_who_may_see_a_highlight(ana: Person, bo: Person, cy: Person) -> None:
    await bo.call("PUT", f"/accounts/{ana.account_id}/follow")
    await ana.call("PUT", f"/close-friends/{bo.account_id}")
    shut = await make(ana, await publish_story(ana, audience="close_friends"), title="friends")
    opened = await make(ana, await publish_story(ana), title="all")

    assert await titles(bo, ana) == ["all", "friends"]
    assert await titles(cy, ana) == ["all"]
    assert await status(cy, "GET", f"/highlights/{shut['highlight_id']}") == 404

    await ana.call("PATCH", "/accounts/me", json={"is_private": True})
    assert await titles(cy, ana) == []
    assert await status(cy, "GET", f"/highlights/{opened['highlight_id']}") == 404
    assert await titles(bo, ana) == ["all", "friends"]
    for method, body in (("DELETE", None), ("PATCH", {"title": "mine"})):
        assert await status(bo, method, f"/highlights/{opened['highlight_id']}", json=body) == 404


async def test_the_media_of_a_story_cannot_be_posted_or_deleted(ana: Person) -> None:
    """The picture of a story cannot become a post or an avatar behind the story's back."""
    media_id = await upload(ana)
    assert await status(ana, "POST", "/stories", json={"media_id": media_id}) == 201

    assert await status(ana, "POST", "/posts", json={"media_ids": [media_id]}) == 400
    assert await status(ana, "DELETE", f"/media/{media_id}") == 409


@pytest.mark.parametrize("title", ["", " ", "x" * 31, "a\x00b"])
async def test_odd_titles_are_refused(ana: Person, title: str) -> None:
    story = await publish_story(ana)

    answer = await ana.call("POST", "/highlights", json={"title": title, "story_ids": [story["story_id"]]})

    assert answer.status_code == 400
