"""Events that arrive in batches: many recipients and kinds in one statement per shard, exact under concurrency."""

import asyncio
import random
from typing import Any

import pytest
from httpx import AsyncClient

from shardwright.routing import Query, shard
from tests.notifications.support import count_unread, id_of, like, list_notifications
from tests.posts.people import crowd, run_sql
from tests.support import Person
from tintype.base.ids import AccountId
from tintype.graph import FollowChanged
from tintype.posts import PostLiked
from tintype.wiring import Rooms

ALL_TRACES = Query.parse("all_traces", "SELECT source_id, recipient_id FROM notification_traces")


async def handle_many(rooms: Rooms, events: list[Any]) -> None:
    handler = next(each for each in rooms.notifications.handlers() if each.event is type(events[0]))
    assert handler.run_many is not None
    await handler.run_many(events)


async def check_counts(rooms: Rooms, person: Person) -> None:
    """The stored counts of a list equal its rows."""
    account = person.account_id
    rows = await run_sql(
        rooms,
        id_of(person),
        "SELECT n.actor_count, (SELECT count(DISTINCT actor_id) FROM notification_acts AS a "
        f"WHERE a.notification_id = n.id) AS actors, n.is_read FROM notifications AS n WHERE account_id = {account}",
    )
    states = await run_sql(
        rooms, id_of(person), f"SELECT unread_count FROM notification_states WHERE account_id = {account}"
    )
    assert [row["actor_count"] for row in rows] == [row["actors"] for row in rows]
    assert states[0]["unread_count"] == sum(not row["is_read"] for row in rows)


async def test_a_batch_of_likes_reaches_every_author_once_per_post(
    rooms: Rooms, client: AsyncClient, ana: Person, bo: Person
) -> None:
    posts = [(author, await author.publish()) for author in (ana, ana, bo)]
    people = await crowd(client, 5)
    changes = [
        like(post, author, person, 10 * number + 1)
        for author, post in posts
        for number, person in enumerate(people)
    ]
    undone = [like(posts[0][1], ana, people[0], 2, is_liked=False)]

    await handle_many(rooms, [*changes, *undone, *changes])

    counts = {line["post"]["post_id"]: line["actor_count"] for line in await list_notifications(ana)}
    assert counts == {posts[0][1]["post_id"]: 4, posts[1][1]["post_id"]: 5}
    assert [line["actor_count"] for line in await list_notifications(bo)] == [5]
    for person in (ana, bo):
        await check_counts(rooms, person)


async def test_a_batch_leaves_out_what_its_recipients_do_not_want(
    rooms: Rooms, client: AsyncClient, ana: Person
) -> None:
    shown, archived = await ana.publish(), await ana.publish()
    muted, blocked, blocker, restricted, gone, welcome = await crowd(client, 6)
    await rooms.graph.block(id_of(ana), id_of(blocked))
    await rooms.graph.block(id_of(blocker), id_of(ana))
    await rooms.graph.restrict(id_of(ana), id_of(restricted))
    await rooms.graph.mute(id_of(ana), id_of(muted), posts=True, stories=False)
    await ana.call("PUT", f"/posts/{archived['post_id']}/archive")
    erased = AccountId(id_of(gone) + (1 << 23))  # of an existing shard, and never assigned
    people = (muted, blocked, blocker, restricted, welcome, ana)

    await handle_many(
        rooms,
        [
            *(like(post, ana, each, 5) for post in (shown, archived) for each in people),
            PostLiked(like(shown, ana, gone, 5).post_id, id_of(ana), erased, 5, is_liked=True),
        ],
    )

    [line] = await list_notifications(ana)
    assert [each["username"] for each in line["actors"]] == [welcome.username]
    assert line["post"]["post_id"] == shown["post_id"]
    traces = await rooms.shards.everywhere().fetch(ALL_TRACES)
    assert {(row["source_id"], row["recipient_id"]) for row in traces} == {(id_of(welcome), id_of(ana))}


@pytest.mark.slow
async def test_batches_at_once_in_any_order_leave_exact_counts(
    rooms: Rooms, client: AsyncClient, ana: Person, bo: Person
) -> None:
    posts = [(author, await author.publish()) for author in (ana, bo, ana)]
    people = await crowd(client, 6)
    chance = random.Random(13)  # noqa: S311 - a fixed seed, not a secret
    likes: list[PostLiked] = []
    for author, post in posts:
        for person in people:
            last = chance.randrange(1, 5)
            likes += [
                like(post, author, person, number, is_liked=number % 2 == 1) for number in range(1, last + 1)
            ]
    follows = [
        FollowChanged(id_of(person), id_of(author), change_id, is_following=change_id == 2)
        for person in people
        for author in (ana, bo)
        for change_id in (1, 2)
    ]

    async def read_now_and_then() -> None:
        for _ in range(10):
            for author in (ana, bo):
                await rooms.notifications.mark_all_read(id_of(author))

    def batches(events: list[Any]) -> list[list[Any]]:
        shuffled = chance.sample(events * 2, len(events) * 2)
        return [shuffled[start : start + 7] for start in range(0, len(shuffled), 7)]

    await asyncio.gather(
        *(handle_many(rooms, each) for each in (*batches(likes), *batches(follows))), read_now_and_then()
    )

    newest = {
        (each.author_id, each.post_id, each.account_id): each for each in likes
    }  # the last one is the newest
    for author in (ana, bo):
        await check_counts(rooms, author)
        rows = await run_sql(
            rooms,
            id_of(author),
            f"SELECT object_id, actor_id FROM notification_acts WHERE account_id = {author.account_id} "
            "AND kind = 'like' AND notification_id IS NOT NULL",
        )
        assert {(id_of(author), row["object_id"], row["actor_id"]) for row in rows} == {
            key for key, each in newest.items() if each.is_liked and key[0] == id_of(author)
        }
        assert await count_unread(author) >= 0


async def test_a_trace_recorded_a_moment_ago_is_not_sent_again(
    rooms: Rooms, ana: Person, bo: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = await ana.publish(), await ana.publish()
    sent: list[str] = []
    execute_on_shard = shard.execute_on_shard

    async def record(router: Any, number: int, query: Query, *rest: Any) -> Any:
        sent.append(query.name)
        return await execute_on_shard(router, number, query, *rest)

    monkeypatch.setattr(shard, "execute_on_shard", record)
    await handle_many(rooms, [like(first, ana, bo, 1)])
    await handle_many(rooms, [like(second, ana, bo, 2)])

    assert sent.count("add_activities") == 2
    assert sent.count("record_traces") == 1
    rows = await run_sql(
        rooms,
        id_of(bo),
        f"SELECT recipient_id FROM notification_traces WHERE source_id = {bo.account_id}",
    )
    assert [row["recipient_id"] for row in rows] == [id_of(ana)]
