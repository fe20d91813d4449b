"""Moderators hide, restore and delete comments."""

from typing import Any

import pytest
from httpx import AsyncClient

from tests.moderation.support import appoint, decide, list_cases, report
from tests.support import Person
from tintype.wiring import Rooms


@pytest.fixture
async def mia(rooms: Rooms, client: AsyncClient) -> Person:
    return await appoint(rooms, client, "mia")


async def test_a_hidden_comment_is_invisible_and_can_be_restored_or_deleted(
    ana: Person, bo: Person, mia: Person
) -> None:
    post = await ana.publish()
    said = await bo.call("POST", f"/posts/{post['post_id']}/comments", json={"text": "Rude words"})
    comment_id = said.json()["comment_id"]
    await report(ana, "comment", comment_id, reason="bullying")
    (case,) = await list_cases(mia, kind="comment")
    assert (case["evidence_text"], case["owner"]["username"]) == ("Rude words", "bo")

    assert (await decide(mia, case, "hide")).status_code == 201
    assert await _texts(ana, post) == []
    await decide(mia, case, "restore")
    assert await _texts(ana, post) == ["Rude words"]
    await decide(mia, case, "delete")
    assert await _texts(ana, post) == []


async def _texts(person: Person, post: dict[str, Any]) -> list[str]:
    answer = await person.call("GET", f"/posts/{post['post_id']}/comments")
    return [each["text"] for each in answer.json()["comments"] if each["text"]]
