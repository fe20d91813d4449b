"""The inbox: the newest message first, what is unread, the archive; and that it follows its threads whatever comes."""

import random
from typing import Any

import pytest

from tests.direct.support import (
    Device,
    get_thread,
    handle,
    id_of,
    inbox,
    open_group,
    open_pair,
    query,
    status,
    stored_events,
    unread,
)
from tests.support import Person, let_pass
from tintype.wiring import Rooms

Friends = tuple[Person, Person, Person]


async def test_the_thread_with_the_newest_message_comes_first(friends: Friends) -> None:
    ana, bo, cy = friends
    with_bo, with_cy = await open_pair(ana, bo), await open_pair(ana, cy)
    device = Device(bo)
    await let_pass((await device.send(with_bo, "one"))["message_id"])
    await let_pass((await Device(cy).send(with_cy, "two"))["message_id"])
    assert [each["thread_id"] for each in await inbox(ana)] == [with_cy, with_bo]

    await device.send(with_bo, "three")

    entries = await inbox(ana)
    assert [each["thread_id"] for each in entries] == [with_bo, with_cy]
    assert [each["unread_count"] for each in entries] == [2, 1]
    assert entries[0]["last_message"]["text"] == "three"
    assert [each["username"] for each in entries[0]["people"]] == ["bo"]
    assert await unread(ana) == {"threads": 2, "requests": 0}


async def test_pages_of_the_inbox_show_every_thread_once(friends: Friends) -> None:
    ana, bo, cy = friends
    groups = [await open_group(ana, bo, cy, name=f"{number}") for number in range(5)]

    found: list[str] = []
    params: dict[str, Any] = {"limit": 2}
    while True:
        page = (await bo.call("GET", "/direct/threads", params=params)).json()
        found += [each["thread_id"] for each in page["threads"]]
        if not page["has_more"]:
            break
        params["cursor"] = page["next_cursor"]

    assert sorted(found) == sorted(groups)


async def test_seeing_a_message_counts_down_and_never_back(friends: Friends) -> None:
    ana, bo, _ = friends
    thread_id, device = await open_pair(ana, bo), Device(ana)
    for _ in range(3):
        await device.send(thread_id)
    path = f"/direct/threads/{thread_id}/seen"

    assert await status(bo, "PUT", path, json={"number": 2}) == 204
    assert (await inbox(bo))[0]["unread_count"] == 1
    assert await status(bo, "PUT", path, json={"number": 1}) == 204
    assert (await inbox(bo))[0]["unread_count"] == 1
    assert await status(bo, "PUT", path, json={"number": 1_000}) == 204
    assert (await inbox(bo))[0]["unread_count"] == 0

    await device.send(thread_id)
    assert (await inbox(bo))[0]["unread_count"] == 1
    theirs = [
        each for each in (await get_thread(ana, thread_id))["members"] if each["person"]["username"] == "bo"
    ]
    assert theirs[0]["seen_number"] == 3


async def test_who_writes_has_read_what_came_before(friends: Friends) -> None:
    ana, bo, _ = friends
    thread_id = await open_pair(ana, bo)
    await Device(ana).send(thread_id)

    await Device(bo).send(thread_id)

    assert (await inbox(bo))[0]["unread_count"] == 0
    assert (await inbox(ana))[0]["unread_count"] == 1


async def test_an_archived_thread_is_in_the_archive_and_a_muted_one_does_not_count(friends: Friends) -> None:
    ana, bo, _ = friends
    thread_id = await open_pair(ana, bo)
    await Device(ana).send(thread_id)
    path = f"/direct/threads/{thread_id}"

    assert await status(bo, "PUT", f"{path}/archive") == 204
    assert await inbox(bo) == []
    assert [each["thread_id"] for each in await inbox(bo, "archive")] == [thread_id]
    assert [each["thread_id"] for each in await inbox(ana)] == [thread_id]
    assert await status(bo, "DELETE", f"{path}/archive") == 204

    assert await unread(bo) == {"threads": 1, "requests": 0}
    assert await status(bo, "PUT", f"{path}/mute", json={}) == 204
    assert await unread(bo) == {"threads": 0, "requests": 0}
    assert (await inbox(bo))[0]["muted_until"] is not None
    assert await status(bo, "DELETE", f"{path}/mute") == 204
    assert await unread(bo) == {"threads": 1, "requests": 0}


async def rows_of(rooms: Rooms, *people: Person) -> list[tuple[Any, ...]]:
    """The inbox rows of people."""
    found: list[tuple[Any, ...]] = []
    for each in people:
        rows = await query(
            rooms,
            id_of(each),
            "SELECT account_id, thread_id, state, is_blocked, change_id, last_id, last_number, seen_number "
            f"FROM inbox WHERE account_id = {each.account_id} ORDER BY thread_id",
        )
        found += [tuple(row.values()) for row in rows]
    return found


async def make_history(ana: Person, bo: Person, cy: Person) -> None:
    """Threads with messages, seen markers, somebody who left, a block that was lifted."""
    pair, group = await open_pair(ana, bo), await open_group(ana, bo, cy)
    phone, desk = Device(ana), Device(bo)
    for _ in range(3):
        await phone.send(pair)
        await phone.send(group)
    await desk.send(group)
    await bo.call("PUT", f"/direct/threads/{pair}/seen", json={"number": 2})
    await cy.call("DELETE", f"/direct/threads/{group}/members/{cy.account_id}")
    await phone.send(group)
    await bo.call("PUT", f"/blocks/{ana.account_id}")
    await bo.call("DELETE", f"/blocks/{ana.account_id}")


async def test_events_that_come_twice_and_in_any_order_change_nothing(friends: Friends, rooms: Rooms) -> None:
    await make_history(*friends)
    await handle(rooms, await stored_events(rooms))
    expected = await rows_of(rooms, *friends)
    events = await stored_events(rooms)

    chance = random.Random(3)  # noqa: S311 - the same order in every run
    for _ in range(3):
        chance.shuffle(events)
        await handle(rooms, [*events, *events[:5]])

    assert await rows_of(rooms, *friends) == expected


@pytest.mark.parametrize("way", ["events", "repair"])
async def test_inboxes_that_were_never_written_come_from_the_events_or_the_repair(
    friends: Friends, rooms: Rooms, way: str
) -> None:
    """The processes died after their commits, before they wrote any inbox."""
    await make_history(*friends)
    await handle(rooms, await stored_events(rooms))
    expected = await rows_of(rooms, *friends)
    for person in friends:
        await query(rooms, id_of(person), f"DELETE FROM inbox WHERE account_id = {person.account_id}")

    if way == "events":
        await handle(rooms, [*reversed(await stored_events(rooms))])
    else:
        await rooms.direct.repair_inboxes()

    assert await rows_of(rooms, *friends) == expected
