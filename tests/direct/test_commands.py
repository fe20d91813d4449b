"""Commands of devices about direct messages: the same effect, once, whether they come over MQTT or HTTP."""

from typing import Any

import pytest

from tests.direct.support import Device, id_of, inbox, open_pair, send, texts
from tests.support import Person
from tintype.direct import ThreadNotFound
from tintype.realtime.commands import SentCommand
from tintype.realtime.errors import CommandInvalid
from tintype.wiring import Rooms

Friends = tuple[Person, Person, Person]


async def run(rooms: Rooms, person: Person, kind: str, command_id: str, **payload: Any) -> dict[str, Any]:
    return await rooms.realtime.commands.run(id_of(person), SentCommand(command_id, kind, payload))


async def test_a_message_sent_both_ways_is_one_message(friends: Friends, rooms: Rooms) -> None:
    ana, bo, _ = friends
    thread_id, device = await open_pair(ana, bo), Device(ana)
    body = device.change(thread_id, text="once")
    where = {"thread_id": thread_id, "device_id": device.device_id}

    sent = await run(rooms, ana, "direct.send", body["local_id"], **where, counter=1, text="once")
    again = (await send(ana, thread_id, body)).json()

    assert sent == {"message_id": again["message_id"], "number": 1}
    message = {**where, "message_id": sent["message_id"]}
    await run(rooms, ana, "direct.edit", "edit-1", **message, counter=2, text="twice")
    assert await texts(bo, thread_id) == ["twice"]
    await run(rooms, ana, "direct.react", "react-1", **message, counter=3, emoji="🔥")
    await run(rooms, bo, "direct.seen", "seen-1", thread_id=thread_id, number=1)
    assert (await inbox(bo))[0]["unread_count"] == 0
    await run(rooms, ana, "direct.unsend", "unsend-1", **message, counter=4)
    assert await texts(bo, thread_id) == [""]


async def test_commands_of_strangers_and_broken_ones_are_refused(friends: Friends, rooms: Rooms) -> None:
    ana, bo, cy = friends
    thread_id = await open_pair(ana, bo)
    where = {"device_id": "phone", "counter": 1, "text": "hi"}

    with pytest.raises(ThreadNotFound):
        await run(rooms, cy, "direct.send", "x", thread_id=thread_id, **where)
    with pytest.raises(CommandInvalid):
        await run(rooms, ana, "direct.send", "x", thread_id="9999999999999999999", **where)
    with pytest.raises(CommandInvalid):
        await run(rooms, ana, "direct.send", "x", thread_id=thread_id, **where, more=1)


async def test_typing_is_shown_to_the_others_in_the_thread(friends: Friends, rooms: Rooms) -> None:
    ana, bo, cy = friends
    thread_id = int(await open_pair(ana, bo))

    assert await rooms.direct.list_typing_members(id_of(ana), thread_id) == [id_of(bo)]
    assert str(thread_id) in {str(each) for each in await rooms.direct.thread_ids_of(id_of(bo))}
    with pytest.raises(ThreadNotFound):
        await rooms.direct.list_typing_members(id_of(cy), thread_id)
    await bo.call("PUT", f"/blocks/{ana.account_id}")
    with pytest.raises(ThreadNotFound):
        await rooms.direct.list_typing_members(id_of(ana), thread_id)
