"""Captions and comments follow one rule for mentions: whom they reach, and when there are too many."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from httpx import AsyncClient

from tests.posts.people import block, id_of, run_sql
from tests.posts.test_publish import publish
from tests.support import Person, join
from tintype.base.text import MAX_MENTIONS
from tintype.comments import CommentAdded
from tintype.posts import PostPublished
from tintype.wiring import Rooms

NOBODY = [f"@nobody_{number}" for number in range(MAX_MENTIONS)]
Write = Callable[[Rooms, Person, str], Awaitable[tuple[Any, tuple[int, ...]]]]


async def write_caption(rooms: Rooms, author: Person, text: str) -> tuple[Any, tuple[int, ...]]:
    answer = await publish(author, caption=text)
    rows = await run_sql(
        rooms, id_of(author), "SELECT payload FROM common.outbox WHERE event = 'post_published' ORDER BY id"
    )
    return answer, PostPublished.decode(rows[-1]["payload"]).mention_ids if rows else ()


async def write_comment(rooms: Rooms, author: Person, text: str) -> tuple[Any, tuple[int, ...]]:
    post = await author.publish()
    answer = await author.call("POST", f"/posts/{post['post_id']}/comments", json={"text": text})
    rows = await run_sql(
        rooms, id_of(author), "SELECT payload FROM common.outbox WHERE event = 'comment_added' ORDER BY id"
    )
    return answer, CommentAdded.decode(rows[-1]["payload"]).mention_ids if rows else ()


@pytest.mark.parametrize("write", [write_caption, write_comment])
@pytest.mark.parametrize(
    ("text", "is_bo_mentioned"),
    [
        ("@bo, and @BO again", True),
        ("write to bo@example.org", False),
        ("@nobody_here", False),
        (" ".join(["@bo"] * (MAX_MENTIONS + 1)), True),
        (" ".join([*NOBODY[1:], "@bo"]), True),
    ],
)
async def test_a_mention_reaches_the_person_it_names(
    rooms: Rooms, ana: Person, bo: Person, write: Write, text: str, *, is_bo_mentioned: bool
) -> None:
    answer, mention_ids = await write(rooms, ana, text)

    assert answer.status_code == 201, answer.text
    assert mention_ids == ((id_of(bo),) if is_bo_mentioned else ())


@pytest.mark.parametrize("write", [write_caption, write_comment])
async def test_too_many_mentions_are_refused_and_never_cut_silently(
    rooms: Rooms, ana: Person, bo: Person, write: Write
) -> None:
    answer, _ = await write(rooms, ana, " ".join([*NOBODY, "@bo"]))

    assert (answer.status_code, answer.json()["code"]) == (400, "too_many_mentions")


@pytest.mark.parametrize("write", [write_caption, write_comment])
async def test_a_mention_of_someone_who_blocked_the_writer_stays_plain_text(
    rooms: Rooms, client: AsyncClient, ana: Person, write: Write
) -> None:
    cleo = await join(client, "cleo")
    await block(rooms, cleo, ana)

    answer, mention_ids = await write(rooms, ana, "hello @cleo")

    assert (answer.status_code, mention_ids) == (201, ())


async def test_a_stored_comment_with_too_many_mentions_can_still_be_approved(
    rooms: Rooms, ana: Person, bo: Person
) -> None:
    post = await ana.publish()
    await ana.call("PUT", "/accounts/me/comment-filters", json={"words": ["hello"]})
    path = f"/posts/{post['post_id']}/comments"
    held = (await bo.call("POST", path, json={"text": "hello"})).json()
    text = " ".join(["@ana", *NOBODY])
    await run_sql(rooms, id_of(ana), f"UPDATE comments SET text = '{text}' WHERE id = {held['comment_id']}")

    answer = await ana.call("PUT", f"/comments/{held['comment_id']}/approval")

    assert answer.status_code == 204
    rows = await run_sql(rooms, id_of(ana), "SELECT payload FROM common.outbox WHERE event = 'comment_added'")
    assert [CommentAdded.decode(row["payload"]).mention_ids for row in rows] == [(id_of(ana),)]
