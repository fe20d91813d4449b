"""The gateway: a device sees its own topics and nothing else, whoever it is and whatever it asks for."""

import secrets
import time
from typing import Any

import aiomqtt
import pytest

from tests.realtime.devices import Device, connect, is_refused, token_of
from tests.realtime.live_nats import LiveNats
from tests.support import PASSWORD, Person, join, set_status
from tintype.accounts import hash_token
from tintype.base.ids import AccountId
from tintype.base.secret_key import secret_key
from tintype.realtime.connect_tokens import ConnectTokens
from tintype.realtime.probe import may_connect
from tintype.sync import Update
from tintype.wiring import Rooms
from tintype.worker import Worker

pytestmark = pytest.mark.slow


async def test_a_device_hears_updates_of_its_own_account_and_of_no_other(
    live_worker: Worker, live_rooms: Rooms, live_nats: LiveNats, ana: Person, bo: Person
) -> None:
    async with connect(live_nats, ana) as phone, connect(live_nats, bo) as other:
        assert await phone.subscribe(f"/u/{ana.account_id}/#")
        assert await other.subscribe(f"/u/{bo.account_id}/#")

        for person in (bo, ana, bo):
            made = Update(
                AccountId(int(person.account_id)), secrets.token_hex(4), "test", {"to": person.username}
            )
            await live_rooms.sync.append([made])

        topic, first = await phone.next()
        assert (topic, first["seq"], first["payload"]) == (
            f"/u/{ana.account_id}/updates",
            1,
            {"to": "ana"},
        )
        assert [(await other.next())[1]["payload"]["to"] for _ in range(2)] == ["bo", "bo"]


async def test_forbidden_topics_are_refused(
    live_worker: Worker, live_rooms: Rooms, live_nats: LiveNats, ana: Person, bo: Person
) -> None:
    forbidden = [
        "#",
        "+/+/+/+",
        "/u/#",
        "/u/+/updates",
        f"/u/{bo.account_id}/#",
        f"/u/{bo.account_id}/updates",
        f"/u/{bo.account_id}/commands",
        f"/u/{ana.account_id}/commands",
        f"+/u/{ana.account_id}/updates",
        f"u/{ana.account_id}/updates",
        "$SYS/#",
        "$SYS/ACCOUNT/+/CONNECT",
        "$JS/#",
        "$JS/API/STREAM/NAMES",
        "$KV/#",
        "$MQTT/#",
        "_INBOX/#",
        f"{live_rooms.settings.namespace}/#",
        f"{live_rooms.settings.namespace}/events/#",
    ]
    async with connect(live_nats, ana) as phone:
        assert [topic for topic in forbidden if await phone.subscribe(topic)] == []
        # At QoS 1 each subscription would be a consumer of JetStream, which does not scale.
        assert not await phone.subscribe(f"/u/{ana.account_id}/updates", qos=1)
        assert await phone.subscribe(f"/u/{ana.account_id}/updates")


async def test_a_device_publishes_its_own_commands_and_nothing_else(
    live_worker: Worker, live_rooms: Rooms, live_nats: LiveNats, ana: Person, bo: Person
) -> None:
    heard: list[str] = []

    async def hear(message: Any) -> None:
        heard.append(message.subject)

    subscriptions = [
        await live_rooms.nats.subscribe(subject, cb=hear)
        for subject in (
            "/.u.*.updates",
            "/.u.*.replies",
            f"{live_rooms.settings.namespace}.events.forged",
            "forged.>",
        )
    ]
    async with connect(live_nats, ana) as phone, connect(live_nats, bo) as other:
        assert await phone.subscribe(f"/u/{ana.account_id}/replies")
        assert await other.subscribe(f"/u/{bo.account_id}/#")
        for topic in (
            f"/u/{bo.account_id}/updates",
            f"/u/{bo.account_id}/commands",
            f"/u/{ana.account_id}/updates",
            f"{live_rooms.settings.namespace}/events/forged",
            "forged/subject",
            "$JS/API/STREAM/DELETE/x",
            "$SYS/REQ/SERVER/PING",
        ):
            await phone.mqtt.publish(
                topic, b'{"id":"forged","kind":"ping"}', qos=1
            )  # acknowledged all the same
        await phone.command("mine", "ping")

        assert await phone.next() == (f"/u/{ana.account_id}/replies", {"id": "mine", "result": {}})
    assert heard == [f"/.u.{ana.account_id}.replies"]
    for each in subscriptions:
        await each.unsubscribe()


async def test_only_the_holder_of_a_session_connects_under_its_client_ids(
    live_worker: Worker, live_rooms: Rooms, live_nats: LiveNats, ana: Person, bo: Person
) -> None:
    of_ana, of_bo = await token_of(ana), await token_of(bo)
    session_id = int(of_ana["client_id_prefix"].split("-")[1])
    found = await live_rooms.authentication.authenticate(ana.token)
    assert found is not None
    tokens = ConnectTokens(secret_key(live_rooms.settings))
    old = tokens.issue(found[0], hash_token(ana.token), now=time.time() - 120).password
    foreign = ConnectTokens(b"another installation").issue(found[0], hash_token(ana.token)).password

    altered = of_ana["password"][:-1] + ("1" if of_ana["password"].endswith("0") else "0")

    async with connect(live_nats, ana, device="phone") as phone:
        assert await phone.subscribe(f"/u/{ana.account_id}/#")
        for stranger in (
            {"identifier": of_ana["client_id_prefix"] + "phone"},  # would evict ana's phone
            {"identifier": "anything"},
            {"identifier": f"{bo.account_id}-{session_id}-phone"},
            {"username": of_ana["username"]},
            {"username": of_ana["username"], "identifier": of_ana["client_id_prefix"] + "x"},
            {"password": of_ana["password"]},
            {"password": "wrong"},
            {"password": bo.token},
            {"password": None, "username": None},
            {"username": "tintype", "password": "wrong"},
            {"username": "system", "password": "wrong"},
        ):
            assert await is_refused(live_nats, bo, **stranger), stranger
        for password in (old, foreign, altered, of_bo["password"]):
            assert await is_refused(live_nats, ana, password=password)
        assert await is_refused(live_nats, ana, device="with space")
        assert await is_refused(live_nats, ana, device="x" * 41)

        await phone.command("still here", "ping")
        assert (await phone.next())[1] == {"id": "still here", "result": {}}


async def test_credentials_of_devices_do_not_open_the_protocol_of_nats(
    live_worker: Worker, live_nats: LiveNats, ana: Person
) -> None:
    token = await token_of(ana)
    address = live_nats.settings.nats[0]

    assert await may_connect(address, "tintype", "pass")
    assert not await may_connect(address, token["username"], token["password"])


async def _sign_out(_rooms: Rooms, person: Person) -> None:
    await person.call("DELETE", "/sessions/current")


async def _revoke(rooms: Rooms, person: Person) -> None:
    found = await rooms.authentication.authenticate(person.token)
    assert found is not None
    await rooms.authentication.end_session(found[0].account_id, found[0].session_id)


async def _suspend(rooms: Rooms, person: Person) -> None:
    await set_status(rooms, AccountId(int(person.account_id)), "suspended")


async def _deactivate(rooms: Rooms, person: Person) -> None:
    await set_status(rooms, AccountId(int(person.account_id)), "deactivated")


async def _leave(rooms: Rooms, person: Person) -> None:
    await set_status(rooms, AccountId(int(person.account_id)), "leaving")


@pytest.mark.parametrize("end", [_sign_out, _revoke, _suspend, _deactivate, _leave])
async def test_a_connection_is_cut_when_its_session_ends(
    live_worker: Worker, live_rooms: Rooms, live_nats: LiveNats, ana: Person, bo: Person, end: Any
) -> None:
    token = await token_of(ana)
    async with connect(live_nats, ana) as phone, connect(live_nats, bo) as other:
        assert await other.subscribe(f"/u/{bo.account_id}/#")

        await end(live_rooms, ana)

        await _is_cut_soon(phone, end.__name__.strip("_"))
        same = {name: token[name] for name in ("username", "password")}
        assert await _is_out(live_nats, token["client_id_prefix"] + "phone", **same)
        await other.command("untouched", "ping")
        assert (await other.next())[1]["id"] == "untouched"


async def _is_cut_soon(device: Device, after: str) -> None:
    """Wait for the cut, and print how long it took: a busy machine is no reason to fail."""
    started = time.perf_counter()
    await device.is_cut()
    print(f"cut {(time.perf_counter() - started) * 1000:.0f} ms after: {after}")  # noqa: T201 - read with -s


async def _is_out(server: LiveNats, identifier: str, **credentials: Any) -> bool:
    client = aiomqtt.Client("127.0.0.1", server.ports.mqtt_port, identifier=identifier, **credentials)
    try:
        async with client:
            return False
    except aiomqtt.MqttError:
        return True


async def test_a_new_password_cuts_the_other_devices_and_not_ones_own(
    live_worker: Worker, live_rooms: Rooms, live_nats: LiveNats, ana: Person
) -> None:
    answer = await ana.client.post("/api/v1/sessions", json={"username": "ana", "password": PASSWORD})
    assert answer.status_code == 201, answer.text
    ana.client.cookies.clear()
    elsewhere = Person(ana.client, ana.account_id, "ana", answer.json()["token"])
    async with connect(live_nats, ana) as phone, connect(live_nats, elsewhere) as other:
        assert await phone.subscribe(f"/u/{ana.account_id}/#")
        changed = await ana.call(
            "PUT",
            "/accounts/me/password",
            json={"current_password": PASSWORD, "new_password": "another horse battery"},
        )
        assert changed.status_code < 300, changed.text

        await _is_cut_soon(other, "new password")
        await phone.command("mine", "ping")
        assert (await phone.next())[1]["id"] == "mine"


async def test_an_api_token_hears_but_commands_only_with_every_scope(
    live_worker: Worker, live_rooms: Rooms, live_nats: LiveNats, ana: Person
) -> None:
    account_id = AccountId(int(ana.account_id))
    made = {
        scope: (
            await live_rooms.authentication.create_api_token(
                account_id, scope, scopes=[scope], known=["realtime", "posts:write"], days=1
            )
        )[1]
        for scope in ("realtime", "posts:write")
    }
    reader = Person(ana.client, ana.account_id, "ana", made["realtime"])
    writer = Person(ana.client, ana.account_id, "ana", made["posts:write"])

    assert (await writer.call("POST", "/realtime/token")).status_code == 403
    async with connect(live_nats, reader) as bot, connect(live_nats, ana) as phone:
        assert await bot.subscribe(f"/u/{ana.account_id}/#")
        assert await phone.subscribe(f"/u/{ana.account_id}/replies")
        await bot.command("refused", "ping")
        await phone.command("heard", "ping")
        assert (await phone.next())[1]["id"] == "heard"
        assert (await bot.next())[1]["id"] == "heard"


async def test_no_connection_outlives_its_permission(
    live_worker: Worker, live_rooms: Rooms, live_nats: LiveNats, ana: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_rooms.realtime._callout, "_longest_s", 2)
    async with connect(live_nats, ana) as phone:
        await phone.is_cut()


async def test_what_the_broker_keeps_of_devices_is_bounded(
    live_worker: Worker, live_rooms: Rooms, live_nats: LiveNats, ana: Person
) -> None:
    async with connect(live_nats, ana, clean_session=False):
        pass

    for schedule in live_rooms.realtime.schedules():
        await schedule.run()

    js = live_rooms.nats.jetstream()
    ages = {name: (await js.stream_info(name)).config.max_age for name in ("$MQTT_sess", "$MQTT_rmsgs")}
    assert ages == {"$MQTT_sess": 7 * 86_400, "$MQTT_rmsgs": 3_600}


async def test_live_connections_are_off_by_default(client: Any) -> None:
    person = await join(client, "cleo")

    answer = await person.call("POST", "/realtime/token")

    assert (answer.status_code, answer.json()["code"]) == (404, "realtime_off")
