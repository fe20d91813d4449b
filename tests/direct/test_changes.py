"""Replies, reactions, edits and unsent messages; and what members' devices hear of them."""

from typing import Any

import pytest

from tests.direct.support import (
    Device,
    code,
    handle,
    id_of,
    open_group,
    open_pair,
    query,
    send,
    status,
    stored_events,
    texts,
    thread_of,
)
from tests.support import Person
from tintype.wiring import Rooms

Friends = tuple[Person, Person, Person]


async def one(person: Person, thread_id: str, message_id: str) -> dict[str, Any]:
    answer = await person.call("GET", f"/direct/threads/{thread_id}/messages/{message_id}")
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_a_reply_quotes_what_it_answers(friends: Friends) -> None:
    ana, bo, _ = friends
    thread_id, device = await open_pair(ana, bo), Device(ana)
    first = await device.send(thread_id, "dinner?")

    reply = await Device(bo).send(thread_id, "yes", reply_to=first["message_id"])

    shown = await one(ana, thread_id, reply["message_id"])
    assert shown["reply_to"] == {
        "message_id": first["message_id"],
        "account_id": ana.account_id,
        "text": "dinner?",
    }
    assert await device.put(thread_id, f"{first['message_id']}/unsent") == 204
    shown = await one(ana, thread_id, reply["message_id"])
    assert shown["reply_to"] == {"message_id": first["message_id"], "account_id": None, "text": ""}


async def test_nobody_replies_to_a_message_of_another_thread(friends: Friends) -> None:
    ana, bo, cy = friends
    elsewhere = await Device(ana).send(await open_pair(ana, cy))
    thread_id = await open_pair(ana, bo)

    answer = Device(ana).try_send(thread_id, "so", reply_to=elsewhere["message_id"])

    assert await code(answer) == "message_not_found"


async def test_everybody_has_one_reaction_to_a_message(friends: Friends) -> None:
    ana, bo, _ = friends
    thread_id, device = await open_pair(ana, bo), Device(bo)
    message_id = (await Device(ana).send(thread_id))["message_id"]

    assert await device.put(thread_id, f"{message_id}/reaction", emoji="🔥") == 204
    assert await device.put(thread_id, f"{message_id}/reaction", emoji="❤️") == 204
    assert (await one(ana, thread_id, message_id))["reactions"] == [
        {"account_id": bo.account_id, "emoji": "❤️"}
    ]
    assert await device.put(thread_id, f"{message_id}/reaction", emoji="words") == 400
    assert await device.put(thread_id, f"{message_id}/reaction", emoji=None) == 204
    assert (await one(ana, thread_id, message_id))["reactions"] == []


async def test_an_author_edits_for_fifteen_minutes(
    friends: Friends, rooms: Rooms, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana, bo, _ = friends
    thread_id, device = await open_pair(ana, bo), Device(ana)
    message_id = (await device.send(thread_id, "helo"))["message_id"]

    assert await device.put(thread_id, f"{message_id}/text", text="hello") == 204
    shown = await one(bo, thread_id, message_id)
    assert (shown["text"], shown["edited_at"] is not None) == ("hello", True)
    assert await Device(bo).put(thread_id, f"{message_id}/text", text="mine") == 403

    monkeypatch.setattr("tintype.direct.change_message.EDIT_WITHIN_S", 0)
    assert await device.put(thread_id, f"{message_id}/text", text="too late") == 409
    assert await texts(bo, thread_id) == ["hello"]


async def test_nothing_is_left_of_an_unsent_message(friends: Friends, rooms: Rooms) -> None:
    ana, bo, _ = friends
    thread_id, device = await open_pair(ana, bo), Device(ana)
    message_id = (await device.send(thread_id, "secret"))["message_id"]
    await Device(bo).put(thread_id, f"{message_id}/reaction", emoji="🔥")
    await handle(rooms, await stored_events(rooms))
    assert await Device(bo).put(thread_id, f"{message_id}/unsent") == 403

    assert await device.put(thread_id, f"{message_id}/unsent") == 204
    await handle(rooms, await stored_events(rooms))

    assert (await one(bo, thread_id, message_id))["kind"] == "unsent"
    near = thread_of(thread_id)
    rows = await query(rooms, near, f"SELECT text FROM messages WHERE thread_id = {thread_id}")
    assert [row["text"] for row in rows] == [""]
    assert await query(rooms, near, "SELECT FROM message_reactions") == []
    for person in (ana, bo):
        log = await query(rooms, id_of(person), "SELECT payload FROM sync_updates")
        assert not [row for row in log if "secret" in str(row["payload"])]


async def test_a_change_that_is_sent_twice_is_made_once(friends: Friends, rooms: Rooms) -> None:
    ana, bo, _ = friends
    thread_id, device = await open_pair(ana, bo), Device(bo)
    message_id = (await Device(ana).send(thread_id))["message_id"]
    path = f"/direct/threads/{thread_id}/messages/{message_id}/reaction"
    body = device.change(thread_id, emoji="🔥")
    assert await status(bo, "PUT", path, json=body) == 204
    assert await status(bo, "PUT", path, json=device.change(thread_id, emoji=None) | {"counter": 2}) == 204

    assert await status(bo, "PUT", path, json=body) == 204

    assert (await one(ana, thread_id, message_id))["reactions"] == []
    assert await code(bo.call("PUT", path, json=body | {"local_id": "new"})) == "counter_used"


async def test_every_members_devices_hear_of_what_happens_once(friends: Friends, rooms: Rooms) -> None:
    ana, bo, cy = friends
    thread_id, device = await open_group(ana, bo, cy), Device(ana)
    sent = await device.send(thread_id, "hello")
    await device.put(thread_id, f"{sent['message_id']}/reaction", emoji="🔥")
    await bo.call("PUT", f"/direct/threads/{thread_id}/seen", json={"number": 1})
    await ana.call("DELETE", f"/direct/threads/{thread_id}/members/{cy.account_id}")
    events = await stored_events(rooms)
    await handle(rooms, events)
    await handle(rooms, [*reversed(events)])

    page = await rooms.sync.read(id_of(bo), 0, 50)
    kinds = [each.kind for each in page.updates]
    assert sorted(kinds) == [
        "direct.message",
        "direct.message_changed",
        "direct.seen",
        "direct.thread",
        "direct.thread",
    ]
    told = next(each for each in page.updates if each.kind == "direct.message")
    assert b'"text":"hello"' in bytes(told.payload)
    # Handled after cy was removed: cy hears that they are out, and nothing that happened meanwhile.
    await device.send(thread_id, "without cy")
    await handle(rooms, await stored_events(rooms))
    removed = await rooms.sync.read(id_of(cy), 0, 50)
    assert {each.kind for each in removed.updates} == {"direct.thread", "direct.message"}
    assert "without cy" not in str(removed.updates)


async def test_updates_pass_by_those_whom_a_block_parts(friends: Friends, rooms: Rooms) -> None:
    ana, bo, cy = friends
    thread_id = await open_group(ana, bo, cy)
    await bo.call("PUT", f"/blocks/{cy.account_id}")
    await Device(cy).send(thread_id, "not for bo")
    await handle(rooms, await stored_events(rooms))

    for person, is_told in ((ana, True), (cy, True), (bo, False)):
        page = await rooms.sync.read(id_of(person), 0, 50)
        assert ("direct.message" in {each.kind for each in page.updates}) == is_told


async def test_messages_disappear_by_the_clock_and_then_for_good(friends: Friends, rooms: Rooms) -> None:
    ana, bo, _ = friends
    thread_id, device = await open_pair(ana, bo), Device(ana)
    path = f"/direct/threads/{thread_id}"
    assert await status(bo, "PATCH", path, json={"disappear_s": 59}) == 400
    assert (await bo.call("PATCH", path, json={"disappear_s": 60})).json()["disappear_s"] == 60
    body = device.change(thread_id, text="soon gone")
    first = (await send(ana, thread_id, body)).json()
    assert (await one(bo, thread_id, first["message_id"]))["expires_at"] is not None
    await handle(rooms, await stored_events(rooms))

    near = thread_of(thread_id)
    await query(rooms, near, "UPDATE messages SET expires_at = now()")
    assert await texts(bo, thread_id) == []
    assert await status(bo, "GET", f"{path}/messages/{first['message_id']}") == 404

    await rooms.direct.sweep()
    assert await query(rooms, near, "SELECT FROM messages") == []
    for person in (ana, bo):
        log = await query(rooms, id_of(person), "SELECT payload FROM sync_updates")
        assert not [row for row in log if "soon gone" in str(row["payload"])]
    assert (await send(ana, thread_id, body)).json() == first
    assert await texts(bo, thread_id) == []
