"""Notifications quote the comments they are about, as far as the recipient may see them now."""

from typing import Any

from tests.notifications.support import handle, id_of, like, list_notifications
from tests.support import Person
from tintype.base.ids import CommentId, PostId
from tintype.comments import CommentAdded, CommentLiked
from tintype.notifications.comment_quotes import MAX_LENGTH, shorten
from tintype.wiring import Rooms


async def test_a_comment_its_reply_and_a_like_of_it_are_quoted(rooms: Rooms, ana: Person, bo: Person) -> None:
    post = await ana.publish()
    comment = await _say(rooms, bo, post, "Where\nis  this?", author=ana)
    liked = CommentLiked(
        CommentId(int(comment)), PostId(int(post["post_id"])), id_of(bo), id_of(ana), 1, True
    )
    await handle(rooms, liked)

    assert [(each["kind"], each["comment_text"]) for each in await list_notifications(ana)] == [
        ("comment", "Where is this?")
    ]
    assert [(each["kind"], each["comment_text"]) for each in await list_notifications(bo)] == [
        ("comment_like", "Where is this?")
    ]


async def test_a_comment_that_moderators_hid_is_not_quoted(rooms: Rooms, ana: Person, bo: Person) -> None:
    comment = await _say(rooms, bo, await ana.publish(), "buy this", author=ana)

    await rooms.comments.hide(CommentId(int(comment)))

    assert all(each["comment_text"] is None for each in await list_notifications(ana))


async def test_a_like_of_a_post_quotes_nothing(ana: Person, bo: Person, rooms: Rooms) -> None:
    post = await ana.publish()
    await handle(rooms, like(post, ana, bo, 1))

    assert [each["comment_text"] for each in await list_notifications(ana)] == [None]


def test_a_long_comment_is_shortened() -> None:
    assert shorten("word " * 100) == ("word " * 100)[: MAX_LENGTH - 1].rstrip() + "…"
    assert shorten("x" * MAX_LENGTH) == "x" * MAX_LENGTH


async def _say(rooms: Rooms, person: Person, post: dict[str, Any], text: str, *, author: Person) -> str:
    answer = await person.call("POST", f"/posts/{post['post_id']}/comments", json={"text": text})
    assert answer.status_code == 201, answer.text
    comment_id: str = answer.json()["comment_id"]
    added = CommentAdded(
        comment_id=CommentId(int(comment_id)),
        post_id=PostId(int(post["post_id"])),
        post_author_id=id_of(author),
        account_id=id_of(person),
    )
    await handle(rooms, added)
    return comment_id
