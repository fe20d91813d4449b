"""The list over HTTP: grouped, deduplicated, in order, and only what may still be seen."""

import asyncio
import random

import pytest
from httpx import AsyncClient

from tests.notifications.support import actor_names, count_unread, handle, id_of, like, list_notifications
from tests.support import Person, eventually, join
from tintype.base.ids import CommentId, PostId
from tintype.comments import CommentAdded, CommentLiked, CommentRemoved
from tintype.graph import BlockChanged
from tintype.posts import PostEdited, PostPublished, PostRemoved
from tintype.wiring import Rooms
from tintype.worker import Worker


@pytest.mark.slow
async def test_a_follow_is_notified_by_the_worker_and_an_unfollow_retracts_it(
    working: Worker, ana: Person, bo: Person
) -> None:
    await bo.call("PUT", f"/accounts/{ana.account_id}/follow")

    async def is_notified() -> bool:
        return [(each["kind"], actor_names(each)) for each in await list_notifications(ana)] == [
            ("follow", ["bo"])
        ]

    await eventually(is_notified, what="ana is notified of her follower")
    await bo.call("DELETE", f"/accounts/{ana.account_id}/follow")

    async def is_gone() -> bool:
        return await list_notifications(ana) == [] and await count_unread(ana) == 0

    await eventually(is_gone, what="the follow is taken back")


async def test_likes_of_one_post_are_one_notification_with_the_latest_first(
    rooms: Rooms, client: AsyncClient, ana: Person
) -> None:
    post = await ana.publish()
    fans = [await join(client, f"fan{number}") for number in range(5)]

    for number, fan in enumerate(fans, start=1):
        await handle(rooms, like(post, ana, fan, number))

    (line,) = await list_notifications(ana)
    assert (line["kind"], line["actor_count"], line["others_count"]) == ("like", 5, 2)
    assert actor_names(line) == ["fan4", "fan3", "fan2"]
    assert line["post"]["post_id"] == post["post_id"]
    assert line["post"]["thumbnail_url"].endswith(post["media"][0]["urls"]["150"].removeprefix("/media/"))
    assert (line["is_read"], line["recency"], await count_unread(ana)) == (False, "today", 1)


@pytest.mark.slow
async def test_changes_may_arrive_twice_and_in_any_order(
    rooms: Rooms, client: AsyncClient, ana: Person
) -> None:
    post = await ana.publish()
    fans = [await join(client, f"fan{number}") for number in range(3)]
    # fan0 ends with a like, fan1 without one, fan2 with one
    endings = [7, 8, 3]
    changes = [
        like(post, ana, fan, change, is_liked=change % 2 == 1)
        for fan, last in zip(fans, endings, strict=True)
        for change in range(1, last + 1)
    ] * 2

    for seed in range(3):
        shuffled = random.Random(seed).sample(changes, len(changes))  # noqa: S311 - a schedule
        await asyncio.gather(*(handle(rooms, change) for change in shuffled))

        (line,) = await list_notifications(ana)
        assert sorted(actor_names(line)) == ["fan0", "fan2"]
        assert (line["actor_count"], await count_unread(ana)) == (2, 1)


async def test_a_like_that_arrives_after_its_unlike_is_ignored(rooms: Rooms, ana: Person, bo: Person) -> None:
    post = await ana.publish()

    await handle(rooms, like(post, ana, bo, 2, is_liked=False), like(post, ana, bo, 1))

    assert (await list_notifications(ana), await count_unread(ana)) == ([], 0)


async def test_nobody_is_notified_of_their_own_activities(rooms: Rooms, ana: Person) -> None:
    post = await ana.publish()

    await handle(rooms, like(post, ana, ana, 1))

    assert await list_notifications(ana) == []


async def test_an_activity_after_reading_opens_a_new_notification(
    rooms: Rooms, client: AsyncClient, ana: Person, bo: Person
) -> None:
    post, cleo = await ana.publish(), await join(client, "cleo")
    await handle(rooms, like(post, ana, bo, 1))
    (first,) = await list_notifications(ana)

    assert (await ana.call("PUT", f"/notifications/{first['notification_id']}/read")).status_code == 204
    assert await count_unread(ana) == 0
    await handle(rooms, like(post, ana, cleo, 1))

    assert [(actor_names(each), each["is_read"]) for each in await list_notifications(ana)] == [
        (["cleo"], False),
        (["bo"], True),
    ]
    assert await count_unread(ana) == 1
    await handle(rooms, like(post, ana, bo, 2, is_liked=False))
    assert [actor_names(each) for each in await list_notifications(ana)] == [["cleo"]]


async def test_marking_up_to_a_notification_leaves_newer_ones_unread(
    rooms: Rooms, ana: Person, bo: Person
) -> None:
    posts = [await ana.publish(str(number)) for number in range(4)]
    for post in posts:
        await handle(rooms, like(post, ana, bo, 1))
    listed = await list_notifications(ana)

    await ana.call("POST", "/notifications/read", json={"up_to": listed[1]["notification_id"]})

    assert [each["is_read"] for each in await list_notifications(ana)] == [False, True, True, True]
    assert await count_unread(ana) == 1
    await ana.call("POST", "/notifications/read", json={})
    assert await count_unread(ana) == 0


async def test_pages_have_no_gap_and_no_repeat(rooms: Rooms, ana: Person, bo: Person) -> None:
    posts = [await ana.publish(str(number)) for number in range(5)]
    for post in posts:
        await handle(rooms, like(post, ana, bo, 1))

    seen: list[str] = []
    cursor = None
    while True:
        params = {"limit": 2, **({"cursor": cursor} if cursor else {})}
        page = (await ana.call("GET", "/notifications", params=params)).json()
        seen += [each["post"]["post_id"] for each in page["notifications"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break

    assert seen == [post["post_id"] for post in reversed(posts)]


async def test_a_block_removes_both_from_each_others_lists(rooms: Rooms, ana: Person, bo: Person) -> None:
    of_ana, of_bo = await ana.publish(), await bo.publish()
    await handle(rooms, like(of_ana, ana, bo, 1), like(of_bo, bo, ana, 1))

    await handle(rooms, BlockChanged(id_of(ana), id_of(bo), 9, True))

    for person in (ana, bo):
        assert (await list_notifications(person), await count_unread(person)) == ([], 0)


async def test_a_deactivated_account_leaves_every_list(rooms: Rooms, ana: Person, bo: Person) -> None:
    post = await ana.publish()
    await handle(rooms, like(post, ana, bo, 1))

    await rooms.accounts.suspend(id_of(bo))

    assert (await list_notifications(ana), await count_unread(ana)) == ([], 0)
    await handle(rooms, like(post, ana, bo, 3))
    assert await count_unread(ana) == 0


async def test_a_comment_notifies_each_person_once(
    rooms: Rooms, client: AsyncClient, ana: Person, bo: Person
) -> None:
    cleo, dan = await join(client, "cleo"), await join(client, "dan")
    post = await ana.publish()
    comment = _comment(post, ana, by=bo, number=1, mentions=[ana, cleo, dan], answers=dan)

    await handle(rooms, comment, comment)

    kinds_by_name = {
        person.username: [each["kind"] for each in await list_notifications(person)]
        for person in (ana, bo, cleo, dan)
    }
    assert kinds_by_name == {"ana": ["comment"], "bo": [], "cleo": ["mention"], "dan": ["reply"]}
    assert (await list_notifications(ana))[0]["object_id"] == str(comment.comment_id)


async def test_two_comments_by_one_person_count_as_one_actor(rooms: Rooms, ana: Person, bo: Person) -> None:
    post = await ana.publish()
    first, second = (_comment(post, ana, by=bo, number=number) for number in (1, 2))

    await handle(rooms, first, second)
    assert [(each["actor_count"], actor_names(each)) for each in await list_notifications(ana)] == [
        (1, ["bo"])
    ]

    await handle(rooms, CommentRemoved(second.comment_id, second.post_id, id_of(bo)))
    assert [each["actor_count"] for each in await list_notifications(ana)] == [1]
    await handle(rooms, CommentRemoved(first.comment_id, first.post_id, id_of(bo)))
    assert (await list_notifications(ana), await count_unread(ana)) == ([], 0)


async def test_a_removed_comment_notifies_nobody_even_when_its_event_arrives_late(
    rooms: Rooms, ana: Person, bo: Person
) -> None:
    comment = _comment(await ana.publish(), ana, by=bo, number=1)

    await handle(rooms, CommentRemoved(comment.comment_id, comment.post_id, id_of(bo)), comment)

    assert await list_notifications(ana) == []


@pytest.mark.slow
async def test_a_comment_removed_while_people_are_being_notified_of_it_is_retracted(
    rooms: Rooms, ana: Person, bo: Person
) -> None:
    for number in range(10):
        comment = _comment(await ana.publish(), ana, by=bo, number=number)
        removed = CommentRemoved(comment.comment_id, comment.post_id, id_of(bo))

        await asyncio.gather(handle(rooms, comment), handle(rooms, removed))

        assert (await list_notifications(ana), await count_unread(ana)) == ([], 0)


async def test_a_like_of_a_comment_notifies_its_author(rooms: Rooms, ana: Person, bo: Person) -> None:
    post = await ana.publish()
    comment = _comment(post, ana, by=bo, number=1)
    liked = CommentLiked(comment.comment_id, comment.post_id, id_of(bo), id_of(ana), 1, True)

    await handle(rooms, liked)
    assert [each["kind"] for each in await list_notifications(bo)] == ["comment_like"]
    await handle(rooms, CommentLiked(comment.comment_id, comment.post_id, id_of(bo), id_of(ana), 2, False))
    assert await list_notifications(bo) == []


async def test_removing_a_tag_or_mention_from_a_post_retracts_its_notification(
    rooms: Rooms, client: AsyncClient, ana: Person, bo: Person
) -> None:
    cleo, post = await join(client, "cleo"), await ana.publish()
    post_id = PostId(int(post["post_id"]))
    published = PostPublished(post_id, id_of(ana), mention_ids=(id_of(bo),), tagged_ids=(id_of(cleo),))
    edited = PostEdited(post_id, id_of(ana), post_id + 1, tagged_ids=(id_of(bo),))

    for order in ([published, edited], [edited, published]):
        await handle(rooms, *order)

        assert [each["kind"] for each in await list_notifications(bo)] == ["tag"]
        assert await list_notifications(cleo) == []


async def test_nobody_is_notified_of_a_post_they_may_not_see(rooms: Rooms, ana: Person, bo: Person) -> None:
    post = await ana.publish()
    await _make_private(rooms, ana)
    named = PostPublished(PostId(int(post["post_id"])), id_of(ana), mention_ids=(id_of(bo),))

    await handle(rooms, named)

    assert (await list_notifications(bo), await count_unread(bo)) == ([], 0)


async def test_notifications_that_became_invisible_leave_the_list_when_it_is_read(
    rooms: Rooms, ana: Person, bo: Person
) -> None:
    post = await ana.publish()
    await handle(rooms, PostPublished(PostId(int(post["post_id"])), id_of(ana), mention_ids=(id_of(bo),)))
    assert await count_unread(bo) == 1

    await _make_private(rooms, ana)

    assert await list_notifications(bo) == []
    assert await count_unread(bo) == 0


async def test_what_a_suspended_person_did_last_is_not_told_of_in_a_notification_with_others(
    rooms: Rooms, client: AsyncClient, ana: Person, bo: Person
) -> None:
    cleo, post = await join(client, "cleo"), await ana.publish()
    of_bo, of_cleo = (_comment(post, ana, by=by, number=number) for number, by in enumerate((bo, cleo), 1))
    await handle(rooms, of_bo, of_cleo)
    assert [each["object_id"] for each in await list_notifications(ana)] == [str(of_cleo.comment_id)]

    await rooms.accounts.suspend(id_of(cleo))

    for _ in range(2):  # the first read retracts what it must not show
        (shown,) = await list_notifications(ana)
        assert (shown["object_id"], actor_names(shown)) == (str(of_bo.comment_id), ["bo"])


async def test_a_removed_post_leaves_every_list(
    rooms: Rooms, client: AsyncClient, ana: Person, bo: Person
) -> None:
    cleo, post = await join(client, "cleo"), await ana.publish()
    post_id = PostId(int(post["post_id"]))
    await handle(
        rooms,
        like(post, ana, bo, 1),
        PostPublished(post_id, id_of(ana), mention_ids=(id_of(cleo),)),
        _comment(post, ana, by=bo, number=1, answers=cleo),
    )
    assert [await count_unread(person) for person in (ana, cleo)] == [2, 2]

    await handle(rooms, PostRemoved(post_id, id_of(ana), post_id + 1, True))

    assert [await count_unread(person) for person in (ana, cleo)] == [0, 0]


async def test_a_notification_can_be_removed_by_its_recipient_alone(
    rooms: Rooms, ana: Person, bo: Person
) -> None:
    post = await ana.publish()
    await handle(rooms, like(post, ana, bo, 1))
    path = f"/notifications/{(await list_notifications(ana))[0]['notification_id']}"

    foreign = await bo.call("DELETE", path)
    assert (foreign.status_code, foreign.json()["code"]) == (404, "notification_not_found")
    assert (await bo.call("PUT", f"{path}/read")).status_code == 404
    assert (await ana.call("DELETE", path)).status_code == 204
    assert (await ana.call("DELETE", path)).status_code == 404
    assert await count_unread(ana) == 0


async def test_changes_of_a_list_are_published_on_nats(rooms: Rooms, ana: Person, bo: Person) -> None:
    subscription = await rooms.nats.subscribe(
        f"{rooms.settings.namespace}.notifications.{ana.account_id}.changed"
    )
    post = await ana.publish()

    await handle(rooms, like(post, ana, bo, 1))

    message = await subscription.next_msg(timeout=5)
    assert message.data.decode() == f'{{"account_id":"{ana.account_id}","unread_count":1}}'
    await subscription.unsubscribe()


def _comment(
    post: dict[str, str],
    author: Person,
    *,
    by: Person,
    number: int,
    mentions: list[Person] | None = None,
    answers: Person | None = None,
) -> CommentAdded:
    post_id = PostId(int(post["post_id"]))
    return CommentAdded(
        CommentId(post_id + number),
        post_id,
        id_of(author),
        id_of(by),
        CommentId(post_id + 500) if answers else None,
        id_of(answers) if answers else None,
        tuple(id_of(each) for each in mentions or ()),
    )


async def _make_private(rooms: Rooms, person: Person) -> None:
    async with rooms.shards.owner(id_of(person)).begin() as tx:
        await tx.connection.execute("UPDATE accounts SET is_private = true WHERE id = $1", id_of(person))
    await rooms.accounts.invalidate(id_of(person))
