"""Events about posts, end to end: from the request through the worker to the list."""

import pytest

from tests.notifications.support import actor_names, count_unread, list_notifications
from tests.support import Person, eventually
from tintype.worker import Worker


@pytest.mark.slow
async def test_a_like_is_notified_and_an_unlike_retracts_it(working: Worker, ana: Person, bo: Person) -> None:
    post = await ana.publish()

    await bo.call("PUT", f"/posts/{post['post_id']}/like")
    await _told(ana, [("like", ["bo"])])
    await bo.call("DELETE", f"/posts/{post['post_id']}/like")
    await _told(ana, [])

    assert await count_unread(ana) == 0


@pytest.mark.slow
async def test_a_mention_is_notified_and_an_edit_retracts_it(
    working: Worker, ana: Person, bo: Person
) -> None:
    post = await ana.publish("With @bo by the river")
    await _told(bo, [("mention", ["ana"])])

    await ana.call("PATCH", f"/posts/{post['post_id']}", json={"caption": "By the river"})

    await _told(bo, [])


async def test_an_archived_post_leaves_the_lists(working: Worker, ana: Person, bo: Person) -> None:
    post = await ana.publish("With @bo")
    await bo.call("PUT", f"/posts/{post['post_id']}/like")
    await _told(ana, [("like", ["bo"])])
    await _told(bo, [("mention", ["ana"])])

    await ana.call("PUT", f"/posts/{post['post_id']}/archive")

    await _told(ana, [])
    await _told(bo, [])
    assert (await count_unread(ana), await count_unread(bo)) == (0, 0)


async def _told(person: Person, expected: list[tuple[str, list[str]]]) -> None:
    async def is_so() -> bool:
        return [(each["kind"], actor_names(each)) for each in await list_notifications(person)] == expected

    await eventually(is_so, what=f"{person.username} is notified of {expected}")
