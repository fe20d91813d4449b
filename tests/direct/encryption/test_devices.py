"""Devices and key packages: whose they are, who is handed one, how often, and when they go."""

import asyncio
from typing import Any

import pytest

from tests.direct.encryption import mls_messages as mls
from tests.direct.encryption.mls_messages import TestDevice
from tests.direct.encryption.support import begin_group, code, get_group, open_thread, register, send, upload
from tests.direct.support import handle, id_of, open_pair, query, stored_events
from tests.support import Person
from tintype.accounts import SessionsEnded
from tintype.wiring import Rooms

Friends = tuple[Person, Person, Person]


async def claim(by: Person, *whom: Person, **more: Any) -> Any:
    body = {"account_ids": [each.account_id for each in whom], **more}
    return await by.call("POST", "/direct/encryption/key-packages/claims", json=body)


async def test_each_key_package_is_handed_out_once_and_the_last_resort_again_and_again(
    friends: Friends,
) -> None:
    ana, bo, _ = friends
    await register(bo, packages=3)

    answers = await asyncio.gather(*(claim(ana, bo) for _ in range(5)))

    packages = [each.json()["key_packages"][0] for each in answers]
    once = [each["key_package"] for each in packages if not each["is_last_resort"]]
    last = [each["key_package"] for each in packages if each["is_last_resort"]]
    assert (len(once), len(set(once)), len(last), len(set(last))) == (3, 3, 2, 1)
    listed = (await bo.call("GET", "/direct/encryption/devices")).json()["devices"][0]
    assert (listed["key_packages"], listed["has_last_resort"], listed["is_current"]) == (0, True, True)


async def test_a_key_package_must_be_the_devices_own_and_signed_by_it(friends: Friends) -> None:
    ana, bo, _ = friends
    device, other = await register(ana), await register(bo)
    unsigned = TestDevice(ana, device.device_id)  # another key
    signed = mls.framed(device.key_package())
    wrong = [
        mls.framed(other.key_package()),
        mls.framed(unsigned.key_package()),
        mls.framed(device.key_package(identity=f"{bo.account_id}.{other.device_id}")),
        mls.framed(device.key_package(days=400)),
        mls.framed(device.key_package(days=-1)),
        signed[:-1] + bytes([signed[-1] ^ 1]),
        device.key_package(),
        b"",
    ]
    path = f"/direct/encryption/devices/{device.device_id}/key-packages"

    answers = [await ana.call("POST", path, json={"key_packages": [mls.text(each)]}) for each in wrong]

    assert {each.status_code for each in answers} == {400}
    assert {code(each) for each in answers} <= {"key_package_invalid", "encoding_invalid"}
    assert (await bo.call("POST", path, json={"key_packages": []})).status_code == 404


async def test_devices_and_key_packages_have_limits(friends: Friends) -> None:
    ana, _, _ = friends
    device = await register(ana, packages=60)

    assert code(await upload(device, 50)) == "too_many_key_packages"
    for number in range(9):
        await register(ana, f"device {number}", packages=0)
    body = {"name": "one more", "signature_key": mls.text(device.public_key)}
    assert code(await ana.call("POST", "/direct/encryption/devices", json=body)) == "too_many_devices"
    for wrong in ({"name": ""}, {"name": "x" * 61}, {"signature_key": "AAAA"}):
        assert (await ana.call("POST", "/direct/encryption/devices", json=body | wrong)).status_code == 400


async def test_key_packages_are_for_people_who_may_write(friends: Friends) -> None:
    ana, bo, cy = friends
    await register(bo)
    assert (await claim(ana, bo)).status_code == 201

    settings = {"audience": "nobody", "preview": "text"}
    await bo.call("PUT", "/direct/settings", json=settings)
    assert code(await claim(ana, bo)) == "may_not_write"
    assert (await claim(bo, bo)).status_code == 201  # one's own
    await bo.call("PUT", "/direct/settings", json=settings | {"audience": "everyone"})
    await bo.call("PUT", f"/blocks/{cy.account_id}")
    assert (await claim(cy, bo)).status_code == 404
    thread_id = await open_pair(ana, bo)
    await bo.call("PUT", "/direct/settings", json=settings)
    assert (await claim(ana, bo, thread_id=thread_id)).status_code == 201  # they are in a thread
    assert (await claim(cy, bo, thread_id=thread_id)).status_code == 404


async def test_nobody_begins_an_encrypted_thread_with_somebody_who_cannot_read_it(friends: Friends) -> None:
    ana, bo, cy = friends
    device = await register(ana)

    assert code(await open_thread(device, bo)) == "encryption_unavailable"
    await register(bo)
    assert code(await open_thread(device, bo, cy, name="")) == "encryption_unavailable"
    assert (await open_thread(device, bo)).status_code == 201
    stranger = TestDevice(ana, str(int(device.device_id) + 1))
    assert code(await open_thread(stranger, bo, name="x")) == "device_not_found"


@pytest.mark.parametrize("way", ["removed", "session ended", "all sessions ended"])
async def test_a_device_that_is_gone_must_leave_every_tree(friends: Friends, rooms: Rooms, way: str) -> None:
    ana, bo, _ = friends
    phone, other = await register(ana), await register(bo)
    thread_id = await begin_group(phone, other)
    assert (await send(phone, thread_id, epoch=1)).status_code == 201

    if way == "removed":
        path = f"/direct/encryption/devices/{other.device_id}"
        assert (await bo.call("DELETE", path)).status_code == 204
        assert (await bo.call("DELETE", path)).status_code == 404
    else:
        rows = await query(rooms, id_of(bo), "SELECT session_id FROM encryption_devices")
        sessions = (str(rows[0]["session_id"]),) if way == "session ended" else ()
        await handle(rooms, [SessionsEnded(id_of(bo), sessions)])
        await handle(rooms, await stored_events(rooms))

    assert [each["is_gone"] for each in (await get_group(ana, thread_id))["leaves"]] == [False, True]
    assert code(await send(phone, thread_id, epoch=1)) == "commit_needed"
    assert code(await send(other, thread_id, epoch=1)) == "device_not_in_group"
    assert await query(rooms, id_of(bo), "SELECT FROM key_packages") == []


async def test_sessions_that_go_on_keep_their_devices(friends: Friends, rooms: Rooms) -> None:
    _, bo, _ = friends
    await register(bo)

    await handle(rooms, [SessionsEnded(id_of(bo), ("1",))])

    assert len((await bo.call("GET", "/direct/encryption/devices")).json()["devices"]) == 1


async def test_idle_devices_and_expired_key_packages_go(friends: Friends, rooms: Rooms) -> None:
    ana, bo, _ = friends
    await register(ana)
    await register(bo)
    await query(
        rooms,
        id_of(ana),
        "UPDATE encryption_devices SET seen_at = now() - interval '91 days'"
        f" WHERE account_id = {ana.account_id}",
    )
    await query(
        rooms,
        id_of(bo),
        "UPDATE key_packages SET expires_at = now() - interval '1 second'"
        f" WHERE account_id = {bo.account_id}",
    )

    await rooms.direct.sweep()

    assert (await ana.call("GET", "/direct/encryption/devices")).json()["devices"] == []
    assert len((await bo.call("GET", "/direct/encryption/devices")).json()["devices"]) == 1
    left = await query(rooms, id_of(bo), f"SELECT FROM key_packages WHERE account_id = {bo.account_id}")
    assert left == []
