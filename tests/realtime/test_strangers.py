"""Strangers at the gateway: whoever is not in a thread hears nothing of it and changes nothing in it."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from httpx import AsyncClient

from tests.direct.support import Device as Sender
from tests.direct.support import befriend, open_group, open_pair
from tests.realtime.devices import Device, connect, is_refused, token_of
from tests.realtime.live_nats import LiveNats
from tests.support import Person, eventually, join, set_status
from tintype.base.ids import AccountId
from tintype.wiring import Rooms
from tintype.worker import Worker

pytestmark = pytest.mark.slow
People = tuple[Person, Person, Person]
MakeStranger = Callable[[People], Awaitable[str]]


@pytest.fixture
async def people(live_client: AsyncClient, ana: Person, bo: Person) -> People:
    """Three people who follow each other."""
    cy = await join(live_client, "cy")
    await befriend(ana, bo, cy)
    return ana, bo, cy


async def _never_a_member(people: People) -> str:
    ana, _, cy = people
    return await open_pair(ana, cy)


async def _blocked(people: People) -> str:
    ana, bo, _ = people
    thread_id = await open_pair(ana, bo)
    assert (await ana.call("PUT", f"/blocks/{bo.account_id}")).is_success
    return thread_id


async def _blocking(people: People) -> str:
    ana, bo, _ = people
    thread_id = await open_pair(ana, bo)
    assert (await bo.call("PUT", f"/blocks/{ana.account_id}")).is_success
    return thread_id


async def _removed(people: People) -> str:
    ana, bo, cy = people
    thread_id = await open_group(ana, bo, cy)
    await Sender(bo).send(thread_id, "while I was here")
    removed = await ana.call("DELETE", f"/direct/threads/{thread_id}/members/{bo.account_id}")
    assert removed.is_success, removed.text
    return thread_id


async def _left(people: People) -> str:
    ana, bo, cy = people
    thread_id = await open_group(ana, bo, cy)
    left = await bo.call("DELETE", f"/direct/threads/{thread_id}/members/{bo.account_id}")
    assert left.is_success, left.text
    return thread_id


@pytest.mark.parametrize("make", [_never_a_member, _blocked, _blocking, _removed, _left])
async def test_a_stranger_hears_nothing_of_a_thread_and_changes_nothing_in_it(
    live_worker: Worker, live_rooms: Rooms, live_nats: LiveNats, people: People, make: MakeStranger
) -> None:
    ana, bo, _ = people
    async with connect(live_nats, bo) as stranger, connect(live_nats, ana) as phone:
        assert await _granted(stranger, ana) == []
        assert await stranger.subscribe(f"/u/{bo.account_id}/#")  # last: a refused one ends the one before
        thread_id = await make(people)
        assert await phone.subscribe(f"/u/{ana.account_id}/#")

        sent = await Sender(ana).try_send(thread_id, "for friends")
        if sent.is_success:
            await _hears(phone, "direct.message", "for friends")
        await phone.command("typing", "typing", thread_id=thread_id)
        await _reply_to(phone, "typing")
        await _try_to_write(stranger, thread_id)

        await _forge(stranger, ana, thread_id)
        await stranger.command("last", "ping")
        heard = [content async for content in _until_reply(stranger, "last")]
        assert "for friends" not in str(heard)
        assert {"thread_id": thread_id, "account_id": ana.account_id, "is_typing": True} not in heard
        logged = (await bo.call("GET", "/sync", params={"since": 0})).json()
        assert "for friends" not in str(logged)
        assert "forged" not in str((await ana.call("GET", "/sync", params={"since": 0})).json())


async def _granted(stranger: Device, other: Person) -> list[str]:
    """The topics of somebody else that a device is granted."""
    root = f"/u/{other.account_id}"
    topics = [
        "#",
        "/#",
        "/+/#",
        "/u/#",
        "/u/+",
        "/u/+/+",
        "+/u/#",
        root,
        f"{root}/#",
        f"{root}/+",
        *(f"{root}/{leaf}" for leaf in ("updates", "replies", "typing", "presence", "feed", "commands")),
        "$SYS/#",
        "$MQTT/#",
        "$MQTT/sub/#",
        "$MQTT/sess/#",
        "$MQTT/rmsgs/#",
        "$JS/#",
        "$JS/API/#",
        "$JSC/#",
        "$G/#",
        "$share/group/#",
        f"$share/group{root}/updates",
        "_INBOX/#",
    ]
    granted = [topic for topic in topics if await stranger.subscribe(topic)]
    own = f"/u/{stranger.person.account_id}"
    return granted + [
        topic for topic in (f"{own}/#", f"{own}/updates") if await stranger.subscribe(topic, qos=1)
    ]


async def _try_to_write(stranger: Device, thread_id: str) -> None:
    """Every command about the thread is refused."""
    where = {"thread_id": thread_id, "device_id": "phone", "counter": 1}
    message = {**where, "message_id": thread_id}
    for number, (kind, payload) in enumerate(
        [
            ("direct.send", {**where, "text": "forged"}),
            ("direct.edit", {**message, "text": "forged"}),
            ("direct.unsend", message),
            ("direct.react", {**message, "emoji": "🔥"}),
            ("direct.seen", {"thread_id": thread_id, "number": 1}),
            ("typing", {"thread_id": thread_id}),
        ]
    ):
        await stranger.command(f"try{number}", kind, **payload)
        reply = await _reply_to(stranger, f"try{number}")
        assert reply.get("error", {}).get("code") == "thread_not_found", (kind, reply)


async def _forge(stranger: Device, other: Person, thread_id: str) -> None:
    """Publish on topics of somebody else; NATS acknowledges what it drops."""
    body = f'{{"id":"forged","kind":"direct.send","payload":{{"thread_id":"{thread_id}","text":"forged"}}}}'
    for leaf in ("commands", "updates", "replies", "typing", "presence"):
        for qos in (0, 1):
            await stranger.mqtt.publish(f"/u/{other.account_id}/{leaf}", body, qos=qos, retain=qos == 1)


async def _reply_to(device: Device, command_id: str) -> dict[str, Any]:
    return [content async for content in _until_reply(device, command_id)][-1]


async def _until_reply(device: Device, command_id: str) -> AsyncIterator[dict[str, Any]]:
    """What a device hears, up to the reply to a command."""
    while True:
        topic, content = await device.next()
        yield content
        if topic.endswith("/replies") and content["id"] == command_id:
            return


async def _hears(device: Device, kind: str, text: str) -> None:
    """Wait until a device hears of a message; nothing forged comes before it."""
    while True:
        _, content = await device.next()
        assert "forged" not in str(content)
        if content.get("kind") == kind and content["payload"]["text"] == text:
            return


async def test_in_a_group_a_block_keeps_the_messages_and_typing_of_both_from_each_other(
    live_worker: Worker, live_rooms: Rooms, live_nats: LiveNats, people: People
) -> None:
    ana, bo, cy = people
    thread_id = await open_group(ana, bo, cy)
    async with connect(live_nats, bo) as blocked:
        assert await blocked.subscribe(f"/u/{bo.account_id}/#")
        assert (await ana.call("PUT", f"/blocks/{bo.account_id}")).is_success

        await Sender(ana).send(thread_id, "not for bo")
        async with connect(live_nats, ana) as phone:
            assert await phone.subscribe(f"/u/{ana.account_id}/replies")
            await phone.command("typing", "typing", thread_id=thread_id)
            await _reply_to(phone, "typing")
        await Sender(cy).send(thread_id, "for all")

        seen: list[Any] = []
        while "for all" not in str(seen):
            seen.append((await blocked.next())[1])
        assert "not for bo" not in str(seen)
        assert not [each for each in seen if each.get("account_id") == ana.account_id]


async def test_guests_and_people_who_may_not_sign_in_do_not_get_in(
    live_worker: Worker, live_rooms: Rooms, live_nats: LiveNats, ana: Person, bo: Person
) -> None:
    token = await token_of(bo)
    assert (await ana.client.post("/api/v1/realtime/token")).status_code == 401
    assert (await ana.client.get("/api/v1/sync")).status_code == 401
    guests: list[dict[str, Any]] = [
        {"username": None, "password": None},
        {"username": None, "password": None, "identifier": token["client_id_prefix"] + "phone"},
        {"username": token["username"], "password": ""},
        {"username": "", "password": token["password"]},
        {"username": "guest", "password": "guest"},
    ]
    for each in guests:
        assert await is_refused(live_nats, ana, **each), each

    await set_status(live_rooms, AccountId(int(bo.account_id)), "suspended")
    assert (await bo.call("POST", "/realtime/token")).status_code in {401, 403}
    reused = {"username": token["username"], "password": token["password"]}
    assert await is_refused(live_nats, ana, identifier=token["client_id_prefix"] + "phone", **reused)


async def test_a_token_is_of_no_use_to_anybody_but_its_session_and_none_after_its_end(
    live_worker: Worker, live_rooms: Rooms, live_nats: LiveNats, ana: Person, bo: Person
) -> None:
    token = await token_of(ana)
    stolen = {"username": token["username"], "password": token["password"]}
    own_prefix = (await token_of(bo))["client_id_prefix"]
    async with connect(live_nats, ana, device="phone") as phone:
        assert await phone.subscribe(f"/u/{ana.account_id}/replies")
        assert await is_refused(live_nats, bo, identifier=own_prefix + "phone", **stolen)
        assert await is_refused(live_nats, bo, identifier=f"{ana.account_id}-1-phone", **stolen)
        await phone.command("still here", "ping")
        assert (await phone.next())[1]["id"] == "still here"

        await ana.call("DELETE", "/sessions/current")
        await phone.is_cut()

    async def is_out() -> bool:
        return await is_refused(live_nats, bo, identifier=token["client_id_prefix"] + "phone", **stolen)

    await eventually(is_out, what="a token of an ended session admits nobody")


async def test_a_retained_message_of_a_device_is_told_to_nobody(
    live_worker: Worker, live_rooms: Rooms, live_nats: LiveNats, ana: Person, bo: Person
) -> None:
    async with connect(live_nats, bo) as stranger:
        assert await stranger.subscribe(f"/u/{bo.account_id}/replies")
        await stranger.mqtt.publish(f"/u/{ana.account_id}/updates", b'{"forged":1}', qos=1, retain=True)
        await stranger.command("after", "ping")
        await _reply_to(stranger, "after")

    async with connect(live_nats, ana) as phone:
        assert await phone.subscribe(f"/u/{ana.account_id}/#")
        await phone.command("first", "ping")
        assert (await phone.next())[1]["id"] == "first"
