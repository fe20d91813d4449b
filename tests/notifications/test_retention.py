"""Retention, export, erasure, and counts that stay exact under concurrency."""

import asyncio
import random
from datetime import UTC, datetime, timedelta

import pytest
from httpx import AsyncClient

from shardwright.routing import Query
from tests.notifications.push_service import Browser
from tests.notifications.support import count_unread, handle, id_of, like, list_notifications
from tests.support import Person, join
from tintype.accounts import StatusChanged
from tintype.base.ids import AccountId
from tintype.graph import BlockChanged
from tintype.wiring import Rooms

ACTS_OF = Query.parse(
    "acts_of",
    """
    SELECT kind FROM notification_acts WHERE actor_id = :account_id OR account_id = :account_id
    UNION ALL SELECT 'trace' FROM notification_traces WHERE source_id = :account_id OR recipient_id = :account_id
    """,
)

CLOSE = Query.parse("close", "UPDATE accounts SET status = 'gone' WHERE id = :account_id")


async def test_notifications_older_than_ninety_days_are_deleted_and_subtracted_from_the_unread_count(
    rooms: Rooms, ana: Person, bo: Person
) -> None:
    await handle(rooms, like(await ana.publish(), ana, bo, 1))

    await rooms.notifications.sweep(datetime.now(UTC) + timedelta(days=89))
    assert await count_unread(ana) == 1
    await rooms.notifications.sweep(datetime.now(UTC) + timedelta(days=94))

    assert (await list_notifications(ana), await count_unread(ana)) == ([], 0)
    assert await rooms.notifications.personal_data.count_left(id_of(bo)) == 0  # the trace went as well


async def test_erasing_an_account_deletes_its_activities_from_other_lists(
    rooms: Rooms, client: AsyncClient, ana: Person, bo: Person
) -> None:
    cleo = await join(client, "cleo")
    of_ana, of_cleo, of_bo = await ana.publish(), await cleo.publish(), await bo.publish()
    await handle(
        rooms,
        like(of_ana, ana, bo, 1),
        like(of_ana, ana, cleo, 1),
        like(of_cleo, cleo, bo, 1),
        like(of_cleo, cleo, bo, 2, is_liked=False),
        like(of_bo, bo, ana, 1),
    )
    await Browser("https://push.example.com/x").subscribe(bo)
    assert await rooms.notifications.personal_data.count_left(id_of(bo)) > 0

    await _erase(rooms, id_of(bo))

    assert await rooms.notifications.personal_data.count_left(id_of(bo)) == 0
    assert [each["actor_count"] for each in await list_notifications(ana)] == [1]
    assert await _rows_about(rooms, id_of(bo)) == 0

    await rooms.accounts.begin_deletion(id_of(bo))
    late = [like(of_bo, bo, cleo, 1), like(of_bo, bo, ana, 2, is_liked=False)]
    await handle(
        rooms, *late, StatusChanged(id_of(ana), "suspended"), BlockChanged(id_of(bo), id_of(cleo), 3, True)
    )
    await rooms.notifications.warn(id_of(bo), object_id=1, act_id=1)
    assert await rooms.notifications.personal_data.count_left(id_of(bo)) == 0


async def test_an_export_holds_the_list_without_names_of_others(
    rooms: Rooms, ana: Person, bo: Person
) -> None:
    post = await ana.publish()
    await handle(rooms, like(post, ana, bo, 1))

    (record,) = [each async for each in rooms.notifications.personal_data.export(id_of(ana))]

    assert record.file == "notifications.json"
    assert (record.content["kind"], record.content["post_id"]) == ("like", post["post_id"])
    assert "bo" not in str(record.content).split()


@pytest.mark.slow
async def test_counts_equal_rows_after_many_concurrent_likes_reads_and_unlikes(
    rooms: Rooms, client: AsyncClient, ana: Person
) -> None:
    posts = [await ana.publish(str(number)) for number in range(3)]
    fans = [await join(client, f"fan{number}") for number in range(6)]
    chance = random.Random(4)  # noqa: S311 - a schedule
    events = [
        like(post, ana, fan, change, is_liked=change != 2)
        for post in posts
        for fan in fans
        for change in (1, 2, 3)[: chance.randint(1, 3)]
    ]
    chance.shuffle(events)

    async def read_now_and_then() -> None:
        for _ in range(5):
            await ana.call("POST", "/notifications/read", json={})
            await asyncio.sleep(0.02)

    await asyncio.gather(read_now_and_then(), *(handle(rooms, each) for each in events))

    liked = {(each.post_id, each.account_id) for each in events if each.is_liked}
    final = {
        key
        for key in liked
        if max(each.change_id for each in events if (each.post_id, each.account_id) == key) != 2
    }
    shown = await list_notifications(ana, limit=50)
    assert sum(each["actor_count"] for each in shown) == len(final)
    assert await count_unread(ana) == sum(not each["is_read"] for each in shown)


async def test_late_events_of_an_erased_account_leave_no_rows(rooms: Rooms, ana: Person, bo: Person) -> None:
    photo = await ana.publish()
    await handle(rooms, like(photo, ana, bo, 1))
    await rooms.shards.owner(id_of(bo)).execute(CLOSE, account_id=id_of(bo))
    await rooms.accounts.invalidate(id_of(bo))
    await _erase(rooms, id_of(bo))

    await handle(rooms, like(photo, ana, bo, 2, is_liked=False))

    assert await rooms.shards.owner(id_of(ana)).fetch(ACTS_OF, account_id=id_of(bo)) == []


async def _erase(rooms: Rooms, account_id: AccountId) -> None:
    while await rooms.notifications.personal_data.erase(account_id):
        pass


async def _rows_about(rooms: Rooms, account_id: AccountId) -> int:
    found = await rooms.shards.everywhere().fetch(ACTS_OF, account_id=account_id)
    return len(found.complete())
