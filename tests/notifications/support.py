"""Helpers for tests of notifications: run handlers on events, read the list."""

from typing import Any

from tests.support import Person
from tintype.base.ids import AccountId, PostId
from tintype.posts import PostLiked
from tintype.wiring import Rooms


def id_of(person: Person) -> AccountId:
    return AccountId(int(person.account_id))


def like(
    post: dict[str, Any], author: Person, by: Person, change_id: int, *, is_liked: bool = True
) -> PostLiked:
    return PostLiked(PostId(int(post["post_id"])), id_of(author), id_of(by), change_id, is_liked)


async def handle(rooms: Rooms, *events: Any) -> None:
    """Run every handler of the room on these events, in this order."""
    for event in events:
        for handler in rooms.notifications.handlers():
            if handler.event is type(event):
                await handler.run(event)


async def list_notifications(person: Person, **params: Any) -> list[dict[str, Any]]:
    answer = await person.call("GET", "/notifications", params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()["notifications"]


async def count_unread(person: Person) -> int:
    return (await person.call("GET", "/notifications/unread")).json()["unread_count"]


def actor_names(line: dict[str, Any]) -> list[str]:
    return [actor["username"] for actor in line["actors"]]
