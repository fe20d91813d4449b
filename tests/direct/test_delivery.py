"""Delivery of new messages: at once by the process that sends, and by the event's handler whatever happens to that."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from httpx import AsyncClient

from tests.direct.support import (
    Device,
    befriend,
    handle,
    id_of,
    inbox,
    open_group,
    open_pair,
    query,
    stored_events,
)
from tests.support import Person, join, let_pass
from tintype.direct import Direct
from tintype.direct.delivery import MessageDelivery
from tintype.sync import Update
from tintype.wiring import Rooms

Friends = tuple[Person, Person, Person]


async def told(person: Person) -> list[str | None]:
    """The texts of messages in somebody's update log, in its order; None for what was redacted."""
    page = (await person.call("GET", "/sync", params={"since": 0})).json()
    kinds = {"direct.message", "redacted"}
    return [each["payload"].get("text") for each in page["updates"] if each["kind"] in kinds]


def delivery_of(direct: Direct) -> MessageDelivery:
    return direct._sender._delivery


def recorded(rooms: Rooms, monkeypatch: pytest.MonkeyPatch) -> list[list[Update]]:
    """What is appended to logs from now on, call by call."""
    calls: list[list[Update]] = []
    append = rooms.sync.append

    async def record(updates: Iterable[Update], *, are_new: bool = False) -> None:
        calls.append([*updates])
        await append(calls[-1], are_new=are_new)

    monkeypatch.setattr(rooms.sync, "append", record)
    return calls


async def test_whoever_sends_finds_the_message_delivered_when_they_are_answered(friends: Friends) -> None:
    ana, bo, cy = friends
    pair, group, device = await open_pair(ana, bo), await open_group(ana, bo, cy), Device(ana)
    first = await device.send(pair, "one")
    await let_pass((await device.send(pair, "two", reply_to=first["message_id"]))["message_id"])
    await device.send(group, "three")

    assert await told(bo) == await told(ana) == ["one", "two", "three"]
    assert await told(cy) == ["three"]
    assert [each["unread_count"] for each in await inbox(bo)] == [1, 2]
    assert [each["unread_count"] for each in await inbox(ana)] == [0, 0]


async def test_the_handler_leaves_alone_what_its_process_has_delivered(
    friends: Friends, rooms: Rooms, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana, bo, _ = friends
    thread_id, device = await open_pair(ana, bo), Device(ana)
    await handle(rooms, await stored_events(rooms))
    await device.send(thread_id, "once")
    calls = recorded(rooms, monkeypatch)

    sent = [each for each in await stored_events(rooms) if type(each).__name__ == "MessageSent"]
    await handle(rooms, sent)

    assert [update for call in calls for update in call] == []
    assert await told(bo) == ["once"]
    found = await bo.call("GET", "/direct/search", params={"q": "once"})
    assert len(found.json()["messages"]) == 1  # words are indexed by the handler


async def _fail(*_: Any, **__: Any) -> Any:
    raise OSError("a server does not answer")


async def _find_no_row(*_: Any, **__: Any) -> Any:
    return set[tuple[int, int]]()


@pytest.mark.parametrize("broken", [_fail, _find_no_row])
async def test_what_could_not_be_delivered_at_once_the_handler_delivers(
    friends: Friends, rooms: Rooms, monkeypatch: pytest.MonkeyPatch, broken: Callable[..., Any]
) -> None:
    """The inbox of a member does not answer, or its row is not there yet."""
    ana, bo, _ = friends
    thread_id, device = await open_pair(ana, bo), Device(ana)
    with monkeypatch.context() as patch:
        patch.setattr(rooms.direct._feeder, "touch", broken)
        await device.send(thread_id, "late")
    assert [each["unread_count"] for each in await inbox(bo)] == []

    await handle(rooms, await stored_events(rooms))

    assert await told(bo) == ["late"]
    assert [each["unread_count"] for each in await inbox(bo)] == [1]


async def test_a_process_at_its_limit_writes_inboxes_and_leaves_the_logs_to_the_handler(
    friends: Friends, rooms: Rooms, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana, bo, _ = friends
    thread_id = await open_pair(ana, bo)
    monkeypatch.setattr("tintype.direct.delivery.BUSY", 0)

    await Device(ana).send(thread_id, "in a crowd")
    assert [each["unread_count"] for each in await inbox(bo)] == [1]
    assert await told(bo) == []

    await handle(rooms, await stored_events(rooms))
    assert await told(bo) == ["in a crowd"]


async def test_large_groups_are_left_to_the_handler(client: AsyncClient, rooms: Rooms) -> None:
    people = [await join(client, f"person{number}") for number in range(9)]
    for each in people[1:]:
        await each.call("PUT", f"/accounts/{people[0].account_id}/follow")
    thread_id = await open_group(people[0], *people[1:])

    await Device(people[0]).send(thread_id, "to all")
    assert await told(people[8]) == []

    await handle(rooms, await stored_events(rooms))
    assert [await told(each) for each in people] == [["to all"]] * 9


async def test_messages_of_a_busy_moment_are_written_together_and_in_order(
    client: AsyncClient, friends: Friends, rooms: Rooms, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana, bo, cy = friends
    await befriend(ana, bo, cy)
    threads = [await open_group(ana, bo, cy, local_id=f"group{number}") for number in range(4)]
    calls = recorded(rooms, monkeypatch)

    async def send_some(person: Person, thread_id: str) -> None:
        device = Device(person)
        for number in range(5):
            await device.send(thread_id, f"{person.username} {thread_id} {number}")

    await asyncio.gather(*(send_some(each, thread_id) for each in friends for thread_id in threads))

    assert len(calls) < 60 * 3
    for reader in friends:
        texts = await told(reader)
        assert len(texts) == 60
        for each in friends:
            for thread_id in threads:
                own = [text for text in texts if text and text.startswith(f"{each.username} {thread_id} ")]
                assert own == [f"{each.username} {thread_id} {number}" for number in range(5)]
    rows = [await query(rooms, id_of(each), "SELECT last_number FROM inbox") for each in friends]
    assert [row["last_number"] for some in rows for row in some if row["last_number"]] == [15] * 12


async def test_a_message_that_is_unsent_before_it_is_delivered_leaves_no_text_in_any_log(
    friends: Friends, rooms: Rooms, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process that sent it stalls between commit and delivery; meanwhile the message is taken back."""
    ana, bo, _ = friends
    thread_id, device = await open_pair(ana, bo), Device(ana)
    await handle(rooms, await stored_events(rooms))
    stalled: list[Any] = []

    async def stall(message: Any) -> None:
        stalled.append(message)

    with monkeypatch.context() as patch:
        patch.setattr(delivery_of(rooms.direct), "deliver", stall)
        message = await device.send(thread_id, "regretted")
    assert await device.put(thread_id, f"{message['message_id']}/unsent") == 204
    changed = [each for each in await stored_events(rooms) if type(each).__name__ == "MessageChanged"]
    await handle(rooms, changed)

    await delivery_of(rooms.direct).deliver(stalled[0])

    assert "regretted" not in str(await told(bo))
    assert "regretted" not in str(await told(ana))


async def test_what_is_unsent_is_emptied_in_the_logs_of_people_who_have_left_as_well(
    friends: Friends, rooms: Rooms
) -> None:
    ana, bo, cy = friends
    thread_id, device = await open_group(ana, bo, cy), Device(ana)
    message = await device.send(thread_id, "regretted")
    assert await told(cy) == ["regretted"]
    await ana.call("DELETE", f"/direct/threads/{thread_id}/members/{cy.account_id}")

    assert await device.put(thread_id, f"{message['message_id']}/unsent") == 204
    await handle(rooms, await stored_events(rooms))

    assert await told(cy) == await told(bo) == [None]
