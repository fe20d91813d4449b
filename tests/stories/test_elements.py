"""Texts, drawings and stickers over a story: stored as sent, bounded, and shown as each viewer may see them."""

from typing import Any

import pytest

from tests.notifications.support import handle, list_notifications
from tests.stories.support import id_of, publish_story, status, story_id, upload
from tests.support import Person
from tintype.stories import StoryPublished
from tintype.wiring import Rooms

PLACED: dict[str, Any] = {"x": 0.25, "y": 0.75, "rotation": -12.5, "scale": 1.5}
TEXT: dict[str, Any] = {
    "type": "text",
    **PLACED,
    "text": "Golden hour",
    "font": "poster",
    "colour": "#d9b467",
    "plate": "soft",
}
DRAWING: dict[str, Any] = {
    "type": "drawing",
    "strokes": [{"colour": "#ff0000", "width": 0.02, "points": [0, 0, 500, 10000]}],
}
PLACE: dict[str, Any] = {"type": "place", **PLACED, "place_id": "p1", "name": "The old pier", "tone": "dark"}


async def see(viewer: Person, story: dict[str, Any]) -> list[dict[str, Any]]:
    answer = await viewer.call("GET", f"/stories/{story['story_id']}")
    assert answer.status_code == 200, answer.text
    return answer.json()["elements"]


async def test_elements_are_shown_where_the_author_put_them_in_their_order(
    friends: tuple[Person, Person],
) -> None:
    ana, bo = friends

    story = await publish_story(ana, elements=[DRAWING, TEXT, PLACE], alt_text="a pier")

    assert await see(bo, story) == [DRAWING, TEXT | {"align": "center"}, PLACE]


@pytest.mark.parametrize(
    "elements",
    [
        [TEXT | {"x": 1.2}],
        [TEXT | {"scale": 9}],
        [TEXT | {"rotation": 200}],
        [TEXT | {"colour": "red"}],
        [TEXT | {"text": "x" * 301}],
        [TEXT | {"text": "  "}],
        [TEXT | {"font": "comic"}],
        [TEXT | {"onclick": "alert(1)"}],
        [{"type": "script", "text": "x"}],
        [DRAWING, DRAWING],
        [{"type": "drawing", "strokes": [{"colour": "#ff0000", "width": 0.02, "points": [1, 2, 3]}]}],
        [{"type": "drawing", "strokes": [{"colour": "#ff0000", "width": 0.02, "points": [1, 10_001]}]}],
        [{"type": "poll", "choices": ["yes", "yes "]}],
        [{"type": "poll", "choices": ["only one"]}],
        [{"type": "countdown", "title": "then", "ends_at": "2020-01-01T00:00:00Z"}],
        [{"type": "countdown", "title": "then", "ends_at": "2999-01-01T00:00:00Z"}],
        [TEXT] * 41,
        [{"type": "drawing", "strokes": [DRAWING["strokes"][0] | {"points": [10_000] * 1_000}] * 20}],
    ],
)
async def test_what_is_out_of_bounds_is_refused(ana: Person, elements: list[Any]) -> None:
    answer = await ana.call("POST", "/stories", json={"media_id": "1", "elements": elements})

    assert answer.status_code in {400, 422}, answer.text
    assert "media" not in answer.json()["code"], "it was refused for its elements"


async def test_a_mention_sticker_notifies_and_is_shown_to_those_who_may_see_the_mentioned(
    rooms: Rooms, friends: tuple[Person, Person], cy: Person
) -> None:
    ana, bo = friends
    sticker = {"type": "mention", **PLACED, "account_id": cy.account_id, "tone": "brass"}
    story = await publish_story(ana, elements=[sticker])
    await handle(rooms, StoryPublished(story_id(story), id_of(ana), (id_of(cy),)))

    assert await see(bo, story) == [sticker | {"username": "cy"}]
    assert [each["kind"] for each in await list_notifications(cy)] == ["story_mention"]
    await cy.call("PUT", f"/blocks/{bo.account_id}")
    assert await see(bo, story) == []
    twice = [sticker, sticker]
    body = {"media_id": await upload(ana), "elements": twice}
    assert await status(ana, "POST", "/stories", json=body) == 400


async def test_a_shared_post_is_judged_for_each_viewer_whenever_the_story_is_read(
    friends: tuple[Person, Person], cy: Person
) -> None:
    ana, bo = friends
    await ana.call("PUT", f"/accounts/{cy.account_id}/follow")
    post = await cy.publish("High tide")
    card = {"type": "post", **PLACED, "post_id": post["post_id"]}
    story = await publish_story(ana, elements=[card])

    async def shown(viewer: Person) -> str | None:
        (element,) = await see(viewer, story)
        return element["post"] and element["post"]["post_id"]

    (element,) = await see(bo, story)
    assert (element["post"]["username"], element["post"]["caption"]) == ("cy", "High tide")
    assert (await bo.client.get(element["post"]["image_url"])).status_code == 200

    await cy.call("PATCH", "/accounts/me", json={"is_private": True})
    assert (await shown(ana), await shown(bo)) == (post["post_id"], None), "only followers see a private post"
    await cy.call("PATCH", "/accounts/me", json={"is_private": False, "allows_story_shares": False})
    assert (await shown(ana), await shown(bo)) == (None, None), "the post's author does not allow it"
    refused = await ana.call("POST", "/stories", json={"media_id": await upload(ana), "elements": [card]})
    assert refused.json()["code"] == "shared_post_not_found"
    await cy.call("PATCH", "/accounts/me", json={"allows_story_shares": True})
    assert await shown(bo) == post["post_id"]
    await cy.call("PUT", f"/blocks/{bo.account_id}")
    assert (await shown(ana), await shown(bo)) == (post["post_id"], None)
    await cy.call("DELETE", f"/posts/{post['post_id']}")
    assert (await shown(ana), await shown(bo)) == (None, None)


async def test_a_highlight_keeps_the_elements_and_final_counts(friends: tuple[Person, Person]) -> None:
    ana, bo = friends
    poll = {"type": "poll", **PLACED, "question": "Dawn or dusk?", "choices": ["Dawn", "Dusk"]}
    story = await publish_story(ana, elements=[TEXT, poll])
    body = {"title": "kept", "story_ids": [story["story_id"]]}
    kept = (await ana.call("POST", "/highlights", json=body)).json()

    await bo.call("PUT", f"/stories/{story['story_id']}/vote", json={"choice": 1})
    await ana.call("DELETE", f"/stories/{story['story_id']}")

    (item,) = (await bo.call("GET", f"/highlights/{kept['highlight_id']}")).json()["items"]
    assert [each["type"] for each in item["elements"]] == ["text", "poll"]
    assert item["elements"][1]["counts"] == [0, 1]


async def test_moderators_read_everything_that_is_written_on_a_story(
    rooms: Rooms, friends: tuple[Person, Person]
) -> None:
    ana, bo = friends
    question = {"type": "question", "prompt": "Buy this?"}
    story = await publish_story(ana, text="Below", elements=[TEXT, question, PLACE])

    _, words, _ = await rooms.stories.inspect(story_id(story), viewer=id_of(bo))

    assert words.splitlines() == ["Below", "Golden hour", "Buy this?", "The old pier"]


async def test_repeating_a_request_publishes_once_and_another_body_is_refused(ana: Person) -> None:
    body = {"media_id": await upload(ana), "elements": [TEXT]}
    headers = {"Idempotency-Key": "one"}

    first = await ana.call("POST", "/stories", json=body, headers=headers)
    again = await ana.call("POST", "/stories", json=body, headers=headers)
    other = await ana.call("POST", "/stories", json=body | {"elements": [PLACE]}, headers=headers)

    assert first.json()["story_id"] == again.json()["story_id"]
    assert other.json()["code"] == "idempotency_key_reused"
