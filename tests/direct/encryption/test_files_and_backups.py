"""Encrypted files and backups: opaque, limited, for their owners and members alone, exported and erased."""

from collections.abc import Sequence
from typing import Any

import pytest

from tests.direct.encryption.mls_messages import TestDevice
from tests.direct.encryption.support import begin_group, code, get_group, register, send
from tests.direct.support import Device, id_of, query
from tests.support import Person
from tintype.wiring import Rooms

Friends = tuple[Person, Person, Person]
BACKUP = "/direct/encryption/backup"


@pytest.fixture
async def devices(friends: Friends) -> Sequence[TestDevice]:
    return [await register(each) for each in friends]


async def upload(person: Person, content: bytes = b"sealed bytes") -> Any:
    headers = {"Content-Type": "application/octet-stream"}
    return await person.call("POST", "/direct/encryption/attachments", content=content, headers=headers)


async def files(rooms: Rooms, person: Person) -> int:
    found = rooms.media.storage.list_objects(f"encrypted/{person.account_id}")
    return len([each async for each in found])


async def test_a_file_is_for_members_and_goes_with_its_message(
    devices: Sequence[TestDevice], rooms: Rooms
) -> None:
    a, b, c = devices
    thread_id = await begin_group(a, b)
    attachment_id = (await upload(a.person)).json()["attachment_id"]

    sent = await send(a, thread_id, epoch=1, attachment_id=attachment_id)

    message_id = sent.json()["message_id"]
    path = f"/direct/threads/{thread_id}/encryption/messages/{message_id}/attachment"
    opened = await b.person.call("GET", path)
    assert (opened.status_code, opened.content) == (200, b"sealed bytes")
    assert (await c.person.call("GET", path)).status_code == 404
    assert code(await send(a, thread_id, epoch=1, attachment_id=attachment_id)) == "attachment_invalid"
    assert code(await send(b, thread_id, epoch=1, attachment_id=attachment_id)) == "attachment_invalid"
    assert await Device(a.person).put(thread_id, f"{message_id}/unsent") == 204
    assert code(await b.person.call("GET", path)) == "attachment_not_found"
    assert await files(rooms, a.person) == 0


async def test_files_without_a_message_are_deleted_and_others_kept(
    devices: Sequence[TestDevice], rooms: Rooms
) -> None:
    a, b, _ = devices
    thread_id = await begin_group(a, b)
    await upload(a.person)
    kept = (await upload(a.person)).json()["attachment_id"]
    await send(a, thread_id, epoch=1, attachment_id=kept)
    await query(
        rooms,
        id_of(a.person),
        "UPDATE encrypted_attachments SET created_at = now() - interval '2 days', is_sent = false",
    )

    await rooms.direct.sweep()

    rows = await query(rooms, id_of(a.person), "SELECT id, is_sent FROM encrypted_attachments")
    assert [(str(row["id"]), row["is_sent"]) for row in rows] == [(kept, True)]
    assert await files(rooms, a.person) == 1


async def test_files_count_towards_the_quota_and_are_not_empty(
    devices: Sequence[TestDevice], rooms: Rooms
) -> None:
    person = devices[0].person
    assert code(await upload(person, b"")) == "attachment_too_large"
    await rooms.media.usage.set_quota(id_of(person), 30)
    assert (await upload(person, bytes(20))).status_code == 201
    assert code(await upload(person, bytes(20))) == "storage_full"


async def test_a_backup_has_versions_and_parts_that_two_devices_may_write(friends: Friends) -> None:
    ana, bo, _ = friends
    part = {"backup_version": 1, "expected_version": 0, "content": "AAAA"}
    assert code(await ana.call("GET", BACKUP)) == "backup_not_found"
    assert code(await ana.call("PUT", f"{BACKUP}/parts/1.0", json=part)) == "backup_changed"
    begin = {"header": "AAAA", "expected_version": 0}
    assert (await ana.call("PUT", BACKUP, json=begin)).json() == {"version": 1}
    assert code(await ana.call("PUT", BACKUP, json=begin)) == "backup_changed"

    assert (await ana.call("PUT", f"{BACKUP}/parts/1.0", json=part)).json() == {"version": 1}
    assert code(await ana.call("PUT", f"{BACKUP}/parts/1.0", json=part)) == "backup_changed"
    again = part | {"expected_version": 1, "content": "BBBB"}
    assert (await ana.call("PUT", f"{BACKUP}/parts/1.0", json=again)).json() == {"version": 2}

    assert (await ana.call("GET", f"{BACKUP}/parts")).json()["parts"] == [
        {"name": "1.0", "version": 2, "content": "BBBB"}
    ]
    assert (await bo.call("GET", f"{BACKUP}/parts")).json()["parts"] == []
    assert (
        await ana.call("PUT", f"{BACKUP}/header", json={"header": "CCCC", "version": 1})
    ).status_code == 204
    assert (await ana.call("PUT", BACKUP, json=begin | {"expected_version": 1})).json() == {"version": 2}
    assert (await ana.call("GET", f"{BACKUP}/parts")).json()["parts"] == []
    assert (await ana.call("DELETE", BACKUP)).status_code == 204
    assert (await ana.call("GET", BACKUP)).status_code == 404


async def test_a_backup_has_a_largest_size(friends: Friends, monkeypatch: pytest.MonkeyPatch) -> None:
    ana, _, _ = friends
    await ana.call("PUT", BACKUP, json={"header": "AAAA", "expected_version": 0})
    monkeypatch.setattr("tintype.direct.encryption.backups.LARGEST_BACKUP", 5)
    part = {"backup_version": 1, "expected_version": 0, "content": "AAAA"}

    assert (await ana.call("PUT", f"{BACKUP}/parts/1.0", json=part)).status_code == 200
    assert code(await ana.call("PUT", f"{BACKUP}/parts/1.1", json=part)) == "backup_full"


async def test_what_the_server_has_is_exported_and_erased(
    devices: Sequence[TestDevice], rooms: Rooms
) -> None:
    a, b, _ = devices
    thread_id = await begin_group(a, b)
    attachment_id = (await upload(a.person)).json()["attachment_id"]
    await send(a, thread_id, epoch=1, attachment_id=attachment_id)
    await a.person.call("PUT", BACKUP, json={"header": "AAAA", "expected_version": 0})
    part = {"backup_version": 1, "expected_version": 0, "content": "AAAA"}
    await a.person.call("PUT", f"{BACKUP}/parts/1.0", json=part)

    records = [each async for each in rooms.direct.personal_data.export(id_of(a.person))]
    names = {each.file for each in records}
    while await rooms.direct.personal_data.erase(id_of(a.person)):
        pass

    assert names >= {
        "encryption_devices.json",
        "encrypted_attachments.json",
        "encryption_backup.json",
        "encryption_backup_parts.json",
    }
    left = ("inbox", "message_media", "encryption_devices", "key_packages", "encrypted_attachments")
    for table in (*left, "encryption_backups", "encryption_backup_parts"):
        mine = f"SELECT FROM {table} WHERE account_id = {a.person.account_id}"
        assert await query(rooms, id_of(a.person), mine) == [], table
    assert await rooms.direct.personal_data.count_left(id_of(a.person)) == 0
    assert await files(rooms, a.person) == 0
    leaves = (await get_group(b.person, thread_id))["leaves"]
    assert [(each["account_id"] == a.person.account_id, each["is_gone"]) for each in leaves] == [
        (False, True), (False, False)
    ]  # fmt: skip
    assert leaves[0]["account_id"] == "0"
