"""Events about comments, end to end: from the request through the worker to the list."""

from typing import Any

import pytest

from tests.notifications.support import count_unread, list_notifications
from tests.support import Person, eventually
from tintype.worker import Worker


@pytest.mark.slow
async def test_comments_replies_and_their_likes_are_notified_and_retracted_with_the_comment(
    working: Worker, ana: Person, bo: Person
) -> None:
    post = await ana.publish()
    comment = await _say(bo, post, "Where is this?")
    await _told(ana, ["comment"])
    reply = await _say(ana, post, "In the woods, @bo", reply_to=comment["comment_id"])
    await _told(bo, ["reply"])
    await ana.call("PUT", f"/comments/{comment['comment_id']}/like")
    await _told(bo, ["comment_like", "reply"])

    await ana.call("DELETE", f"/comments/{reply['comment_id']}")
    await _told(bo, ["comment_like"])
    await bo.call("DELETE", f"/comments/{comment['comment_id']}")

    await _told(ana, [])
    await _told(bo, [])
    assert (await count_unread(ana), await count_unread(bo)) == (0, 0)


async def _say(person: Person, post: dict[str, Any], text: str, **more: str) -> dict[str, Any]:
    answer = await person.call("POST", f"/posts/{post['post_id']}/comments", json={"text": text, **more})
    assert answer.status_code == 201, answer.text
    return answer.json()


async def _told(person: Person, expected: list[str]) -> None:
    async def is_so() -> bool:
        return sorted(each["kind"] for each in await list_notifications(person)) == expected

    await eventually(is_so, what=f"{person.username} is notified of {expected}")
