"""Commands of devices: carried out at least once, answered, refused as over HTTP."""

from typing import Any

import pytest

from tests.realtime.devices import connect
from tests.realtime.live_nats import LiveNats
from tests.support import Person, set_status
from tintype.base.errors import Conflict, Unavailable
from tintype.base.ids import AccountId
from tintype.realtime import Command
from tintype.wiring import Rooms
from tintype.worker import Worker

pytestmark = pytest.mark.slow


async def test_a_command_is_carried_out_and_answered(
    live_worker: Worker, live_rooms: Rooms, live_nats: LiveNats, ana: Person
) -> None:
    seen: list[Command] = []

    async def add(command: Command) -> dict[str, Any]:
        seen.append(command)
        return {"sum": command.payload["a"] + command.payload["b"]}

    live_rooms.realtime.commands.register("test.add", add)
    async with connect(live_nats, ana) as phone:
        assert await phone.subscribe(f"/u/{ana.account_id}/replies")
        await phone.command("c1", "test.add", a=1, b=2)

        assert await phone.next() == (f"/u/{ana.account_id}/replies", {"id": "c1", "result": {"sum": 3}})
    assert seen == [Command(AccountId(int(ana.account_id)), "c1", "test.add", {"a": 1, "b": 2})]


async def test_refusals_have_the_codes_of_http_and_what_is_no_command_harms_nobody(
    live_worker: Worker, live_rooms: Rooms, live_nats: LiveNats, ana: Person
) -> None:
    async def refuse(_: Command) -> dict[str, Any]:
        raise Conflict("No.")

    live_rooms.realtime.commands.register("test.refuse", refuse)
    topic = f"/u/{ana.account_id}/commands"
    async with connect(live_nats, ana) as phone:
        assert await phone.subscribe(f"/u/{ana.account_id}/replies")
        for body in (
            b"",
            b"\xff",
            b"[]",
            b"null",
            b'{"kind":"ping"}',
            b'{"id":' + b"9" * 200 + b"}",
            b"{" * 10_000,
        ):
            await phone.mqtt.publish(topic, body, qos=1)
        await phone.mqtt.publish(topic, b'{"id":"c0","kind":"ping","extra":1}', qos=1)
        assert (await phone.next())[1]["error"]["code"] == "command_invalid"
        await phone.command("c1", "no.such")
        assert (await phone.next())[1]["error"]["code"] == "command_unknown"
        await phone.command("c2", "test.refuse")
        assert (await phone.next())[1] == {"id": "c2", "error": {"code": "conflict", "detail": "No."}}
        await phone.command("c3", "presence.watch", account_ids=[])
        assert (await phone.next())[1]["error"]["code"] == "command_invalid"


async def test_a_command_that_meets_a_fault_is_tried_again(
    live_worker: Worker, live_rooms: Rooms, live_nats: LiveNats, ana: Person
) -> None:
    attempts: list[str] = []

    async def stumble(command: Command) -> dict[str, Any]:
        attempts.append(command.id)
        if len(attempts) == 1:
            raise RuntimeError("unforeseen")
        if len(attempts) == 2:
            raise Unavailable
        return {"attempts": len(attempts)}

    live_rooms.realtime.commands.register("test.stumble", stumble)
    async with connect(live_nats, ana) as phone:
        assert await phone.subscribe(f"/u/{ana.account_id}/replies")
        await phone.command("c1", "test.stumble")

        assert (await phone.next())[1] == {"id": "c1", "result": {"attempts": 3}}
    assert attempts == ["c1", "c1", "c1"]


async def test_a_suspended_account_commands_nothing_even_with_a_command_under_way(
    live_rooms: Rooms, live_nats: LiveNats, ana: Person, live_worker: Worker
) -> None:
    heard = await live_rooms.nats.subscribe(f"/.u.{ana.account_id}.replies")
    await live_rooms.nats.flush()
    async with connect(live_nats, ana) as phone:
        await set_status(live_rooms, AccountId(int(ana.account_id)), "suspended")
        await phone.is_cut()

    # Published by the broker before the cut, handled after it.
    await live_rooms.nats.publish(f"/.u.{ana.account_id}.commands", b'{"id":"late","kind":"ping"}')

    assert b"not_signed_in" in (await heard.next_msg(timeout=30)).data
    await heard.unsubscribe()


async def test_typing_reaches_the_members_that_the_thread_has_and_no_others(
    live_worker: Worker, live_rooms: Rooms, live_nats: LiveNats, ana: Person, bo: Person
) -> None:
    members = [AccountId(int(ana.account_id)), AccountId(int(bo.account_id))]

    async def list_members(_by: AccountId, _thread_id: int) -> list[AccountId]:
        return members

    live_rooms.realtime.register_typing(list_members)
    async with connect(live_nats, ana) as phone, connect(live_nats, bo) as other:
        assert await phone.subscribe(f"/u/{ana.account_id}/#")
        assert await other.subscribe(f"/u/{bo.account_id}/#")
        await phone.command("t1", "typing", thread_id="7")

        signal = {"thread_id": "7", "account_id": ana.account_id, "is_typing": True}
        assert await other.next() == (f"/u/{bo.account_id}/typing", signal)
        assert (await phone.next())[1] == {"id": "t1", "result": {}}

        del members[1]  # bo left
        await phone.command("t2", "typing", thread_id="7", is_typing=False)
        assert (await phone.next())[1]["id"] == "t2"
        await other.command("b1", "ping")
        assert (await other.next())[1]["id"] == "b1"
