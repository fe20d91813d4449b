"""Moderators hide, restore and delete posts."""

import pytest
from httpx import AsyncClient

from tests.moderation.support import appoint, decide, list_cases, report
from tests.support import Person
from tintype.wiring import Rooms


@pytest.fixture
async def mia(rooms: Rooms, client: AsyncClient) -> Person:
    return await appoint(rooms, client, "mia")


async def test_a_hidden_post_is_invisible_to_others_and_its_author_is_notified(
    ana: Person, bo: Person, mia: Person
) -> None:
    post = await ana.publish("Buy this")
    path = f"/posts/{post['post_id']}"
    await report(bo, "post", post["post_id"])
    (case,) = await list_cases(mia)
    assert case["evidence_text"] == "Buy this"
    [picture] = case["evidence_urls"]
    assert picture.endswith(post["media"][0]["urls"]["640"].removeprefix("/media/"))

    assert (await decide(mia, case, "hide")).json()["object_state"] == "hidden"
    assert (await bo.call("GET", path)).status_code == 404
    (line,) = (await ana.call("GET", "/notifications")).json()["notifications"]
    assert (line["kind"], line["object_id"]) == ("warning", case["case_id"])
    (decision,) = (await ana.call("GET", "/decisions")).json()["decisions"]
    assert (decision["outcome"], decision["object_id"]) == ("hidden", post["post_id"])

    await decide(mia, case, "restore")
    assert (await bo.call("GET", path)).status_code == 200


async def test_a_deleted_post_stays_deleted(ana: Person, bo: Person, mia: Person) -> None:
    post = await ana.publish()
    await report(bo, "post", post["post_id"])
    (case,) = await list_cases(mia)

    await decide(mia, case, "delete")

    assert (await ana.call("GET", f"/posts/{post['post_id']}")).status_code == 404
    answer = await decide(mia, case, "restore")
    assert (answer.status_code, answer.json()["code"]) == (409, "object_deleted")


async def test_a_post_that_cannot_be_seen_cannot_be_reported(ana: Person, bo: Person) -> None:
    post = await ana.publish()
    await ana.call("PUT", f"/posts/{post['post_id']}/archive")

    answer = await report(bo, "post", post["post_id"])

    assert (answer.status_code, answer.json()["code"]) == (404, "object_not_found")
