"""Counters and index of comments: exact under concurrency, and independent of the order of events."""

import asyncio
import random
from typing import Any

import pytest
from httpx import AsyncClient

from shardwright.routing import Query
from tests.comments.test_comments import comment_on
from tests.support import Person, join, on_server
from tintype.base.counter_reconciler import CounterReconciler
from tintype.base.ids import AccountId, CommentId
from tintype.base.settings import server_dsns
from tintype.comments import CommentAdded, CommentLiked, CommentRemoved
from tintype.comments.store import QUERIES
from tintype.wiring import Rooms

PEOPLE = 10
DRIFT = Query.parse("drift", "UPDATE posts SET comment_count = comment_count + 7 WHERE id = :id")


async def _rows(rooms: Rooms, sql: str) -> list[Any]:
    found: list[Any] = []
    for number, owner in rooms.shards.map.owners.items():
        dsn = server_dsns(rooms.settings)[owner]
        found += await on_server(dsn, f"SET search_path = s{number:04}", sql)
    return found


@pytest.mark.slow
async def test_counters_equal_rows_after_concurrent_changes(
    rooms: Rooms, client: AsyncClient, ana: Person
) -> None:
    post = await ana.publish()
    people = [await join(client, f"person{number}") for number in range(PEOPLE)]
    first = await comment_on(people[0], post, "first")

    async def act(person: Person, number: int) -> None:
        chance = random.Random(number)  # noqa: S311 - a schedule, not a secret
        mine: list[str] = []
        for step in range(12):
            match chance.randrange(5):
                case 0 | 1:
                    reply_to = chance.choice([*mine, first["comment_id"]])
                    made = await person.call(
                        "POST",
                        f"/posts/{post['post_id']}/comments",
                        json={"text": f"{number} {step}", "reply_to": reply_to},
                    )
                    mine += [made.json()["comment_id"]] if made.status_code == 201 else []
                case 2 if mine:
                    await person.call("DELETE", f"/comments/{mine.pop(0)}")
                case 3:
                    await person.call("PUT", f"/comments/{first['comment_id']}/like")
                case _:
                    await person.call("DELETE", f"/comments/{first['comment_id']}/like")

    await asyncio.gather(*(act(person, number) for number, person in enumerate(people)))

    counted = await _rows(
        rooms,
        "SELECT p.comment_count = (SELECT count(*) FROM comments AS c WHERE c.post_id = p.id AND c.state = 'visible') "
        "FROM posts AS p",
    )
    assert [bool(row[0]) for row in counted] == [True]
    threads = await _rows(
        rooms,
        "SELECT c.thread_count = (SELECT count(*) FROM comments AS r WHERE r.root_id = c.id AND r.state = 'visible'), "
        "c.like_count = (SELECT count(*) FROM comment_likes AS l WHERE l.comment_id = c.id) "
        "FROM comments AS c WHERE c.root_id IS NULL",
    )
    assert [tuple(row) for row in threads] == [(True, True)]
    orphans = await _rows(
        rooms,
        "SELECT id FROM comments AS c WHERE parent_id IS NOT NULL "
        "AND NOT EXISTS (SELECT FROM comments AS p WHERE p.id = c.parent_id)",
    )
    assert orphans == []


async def test_the_index_of_comments_accepts_events_twice_and_in_any_order(
    rooms: Rooms, ana: Person, bo: Person
) -> None:
    post = await ana.publish()
    said = await comment_on(bo, post, "gone soon")
    comment_id, post_id, by = (
        CommentId(int(said["comment_id"])),
        int(post["post_id"]),
        AccountId(int(bo.account_id)),
    )
    added = CommentAdded(comment_id, post_id, AccountId(int(ana.account_id)), by)  # pyright: ignore[reportArgumentType] - a plain number will do
    removed = CommentRemoved(comment_id, post_id, by)  # pyright: ignore[reportArgumentType] - likewise
    handlers = {each.event: each.run for each in rooms.comments.handlers()}

    for event in (removed, added, removed, added):
        await handlers[type(event)](event)

    rows = await rooms.shards.owner(by).fetch(QUERIES.page_own_comments, account_id=by, after=0, limit=10)
    assert rows == []


async def test_of_a_like_and_an_unlike_the_newer_wins(rooms: Rooms, ana: Person, bo: Person) -> None:
    post = await ana.publish()
    said = await comment_on(ana, post, "hello")
    comment_id, by = CommentId(int(said["comment_id"])), AccountId(int(bo.account_id))
    owner = AccountId(int(ana.account_id))
    liked = CommentLiked(comment_id, 1, owner, by, 10, is_liked=True)  # pyright: ignore[reportArgumentType] - a plain number will do
    unliked = CommentLiked(comment_id, 1, owner, by, 11, is_liked=False)  # pyright: ignore[reportArgumentType] - likewise
    handler = next(each.run for each in rooms.comments.handlers() if each.event is CommentLiked)

    for event in (unliked, liked, liked, unliked, liked):
        await handler(event)

    rows = await rooms.shards.owner(by).fetch(
        QUERIES.page_own_comment_likes, account_id=by, after=0, limit=10
    )
    assert rows == []


async def test_a_drifted_counter_is_found_and_repaired(rooms: Rooms, ana: Person, bo: Person) -> None:
    post = await ana.publish()
    await comment_on(bo, post, "one")
    await rooms.shards.owner(int(post["post_id"])).execute(DRIFT, id=int(post["post_id"]))

    [report] = await CounterReconciler(rooms.shards, rooms.comments.reconciled_counters()).run(fix=True)

    assert (report.drifted, report.repaired) == (1, 1)
    assert (await ana.call("GET", f"/posts/{post['post_id']}")).json()["comment_count"] == 1


async def test_of_equal_comments_at_once_one_is_stored(rooms: Rooms, ana: Person, bo: Person) -> None:
    post = await ana.publish()
    path = f"/posts/{post['post_id']}/comments"

    answers = await asyncio.gather(*(bo.call("POST", path, json={"text": "me too"}) for _ in range(8)))

    assert sorted(answer.status_code for answer in answers) == [201] + [409] * 7
    assert (await bo.call("GET", f"/posts/{post['post_id']}")).json()["comment_count"] == 1


async def test_of_requests_with_one_key_at_once_all_get_the_same_comment(ana: Person, bo: Person) -> None:
    post = await ana.publish()
    path, headers = f"/posts/{post['post_id']}/comments", {"Idempotency-Key": "once"}

    answers = await asyncio.gather(
        *(bo.call("POST", path, json={"text": "me too"}, headers=headers) for _ in range(8))
    )

    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json()["comment_id"] for answer in answers}) == 1
