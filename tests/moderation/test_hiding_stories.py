"""A moderator's decision about a story applies to its copies in highlights, which outlive it."""

import pytest
from httpx import AsyncClient

from tests.moderation.support import appoint, decide, list_cases, report
from tests.stories.support import list_stories, publish_story, status, tray_usernames
from tests.support import Person
from tintype.wiring import Rooms


@pytest.fixture
async def mia(rooms: Rooms, client: AsyncClient) -> Person:
    return await appoint(rooms, client, "mia")


async def test_only_the_author_sees_a_hidden_story_and_its_copies(
    ana: Person, bo: Person, mia: Person
) -> None:
    await bo.call("PUT", f"/accounts/{ana.account_id}/follow")
    story = await publish_story(ana, text="Buy this")
    body = {"title": "kept", "story_ids": [story["story_id"]]}
    kept = (await ana.call("POST", "/highlights", json=body)).json()
    assert (await report(bo, "story", story["story_id"])).status_code == 204
    (case,) = await list_cases(mia)
    assert (case["kind"], case["evidence_text"]) == ("story", "Buy this")

    assert (await decide(mia, case, "hide")).json()["object_state"] == "hidden"

    assert await tray_usernames(bo) == []
    assert await list_stories(bo, ana) == []
    assert await status(bo, "GET", f"/highlights/{kept['highlight_id']}") == 404
    mine = (await ana.call("GET", f"/stories/{story['story_id']}")).json()
    assert mine["is_hidden"] is True
    again = await ana.call("POST", "/highlights", json=body)
    assert again.status_code == 404, "no new copy of what is hidden"

    await decide(mia, case, "restore")
    assert await tray_usernames(bo) == ["ana"]
    assert await status(bo, "GET", f"/highlights/{kept['highlight_id']}") == 200


async def test_deleting_a_story_deletes_its_copies(ana: Person, bo: Person, mia: Person) -> None:
    story = await publish_story(ana)
    body = {"title": "kept", "story_ids": [story["story_id"]]}
    kept = (await ana.call("POST", "/highlights", json=body)).json()
    await ana.call("DELETE", f"/stories/{story['story_id']}")
    assert (await report(bo, "story", story["story_id"])).status_code == 204, "its copy can be seen"
    (case,) = await list_cases(mia)

    await decide(mia, case, "delete")

    for person in (ana, bo):
        assert await status(person, "GET", f"/highlights/{kept['highlight_id']}") == 404
    assert (await bo.client.get(story["media_url"])).status_code == 404


async def test_a_story_that_cannot_be_seen_cannot_be_reported(ana: Person, bo: Person) -> None:
    story = await publish_story(ana, audience="close_friends")

    answer = await report(bo, "story", story["story_id"])

    assert (answer.status_code, answer.json()["code"]) == (404, "object_not_found")
