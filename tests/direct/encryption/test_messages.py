"""Ciphertexts: in the device's order, once, in the current epoch, and nothing of them but bytes."""

import asyncio
from collections.abc import Sequence
from typing import Any, cast

import pytest
from httpx import AsyncClient

from tests.direct.encryption import mls_messages as mls
from tests.direct.encryption.mls_messages import TestDevice
from tests.direct.encryption.support import begin_group, code, register, send, send_commit
from tests.direct.support import (
    Device,
    handle,
    id_of,
    inbox,
    open_pair,
    query,
    stored_events,
    thread_of,
    unread,
)
from tests.support import Person, join
from tintype.direct import MessageSent
from tintype.wiring import Rooms

Friends = tuple[Person, Person, Person]


@pytest.fixture
async def devices(friends: Friends) -> Sequence[TestDevice]:
    return [await register(each) for each in friends]


async def page(person: Person, thread_id: str) -> list[dict[str, Any]]:
    return (await person.call("GET", f"/direct/threads/{thread_id}/messages")).json()["messages"]


async def test_a_ciphertext_is_stored_as_it_came_with_epoch_and_device(devices: Sequence[TestDevice]) -> None:
    a, b, _ = devices
    thread_id = await begin_group(a, b)
    content = mls.text(mls.ciphertext(thread_id, epoch=1))

    sent = await send(a, thread_id, epoch=1, ciphertext=content)

    assert sent.status_code == 201, sent.text
    [shown] = await page(b.person, thread_id)
    assert (shown["kind"], shown["text"], shown["number"]) == ("encrypted", "", 1)
    assert shown["sealed"] == {
        "ciphertext": content, "epoch": 1, "device_id": a.device_id, "has_attachment": False
    }  # fmt: skip
    [entry] = [each for each in await inbox(b.person) if each["thread_id"] == thread_id]
    assert (entry["is_encrypted"], entry["unread_count"], entry["last_message"]["text"]) == (True, 1, "")
    found = await b.person.call("GET", "/direct/search", params={"q": content[:20]})
    assert found.json()["messages"] == []


async def test_a_message_is_stored_once_and_in_the_devices_order(devices: Sequence[TestDevice]) -> None:
    a, b, _ = devices
    thread_id = await begin_group(a, b)
    body = {"local_id": "same", "ciphertext": mls.text(mls.ciphertext(thread_id, epoch=1))}

    answers = await asyncio.gather(*(send(a, thread_id, epoch=1, counter=1, **body) for _ in range(3)))

    assert len({each.text for each in answers}) == 1
    a.counters[thread_id] = 1
    assert code(await send(a, thread_id, epoch=1, counter=3)) == "earlier_missing"
    assert code(await send(a, thread_id, epoch=1, counter=1)) == "counter_used"
    await send_commit(b, thread_id, epoch=1, leaf_index=1, path=b.path())
    assert (await send(a, thread_id, epoch=1, counter=1, **body)).text == answers[0].text  # as the first time
    a.counters[thread_id] = 1
    assert code(await send(a, thread_id, epoch=1)) == "epoch_stale"
    assert (await send(a, thread_id, epoch=2)).json()["number"] == 2  # the refused one has used no count


async def test_messages_that_do_not_fit_are_refused(devices: Sequence[TestDevice]) -> None:
    a, b, c = devices
    thread_id = await begin_group(a, b)
    large = mls.text(mls.ciphertext(thread_id, epoch=1, size=65_000) + bytes(600))[: (65_536 * 4 + 2) // 3]
    for wrong in (
        mls.text(mls.ciphertext(thread_id, epoch=2)),
        mls.text(mls.ciphertext(thread_id, epoch=1, group=2)),
        mls.text(mls.commit(thread_id, epoch=1, leaf_index=0)),
        "AAAA",
        "",
        large,
    ):
        answer = await send(a, thread_id, epoch=1, ciphertext=wrong)
        assert (answer.status_code, code(answer)) in {(400, "ciphertext_invalid"), (400, "encoding_invalid")}
    assert code(await send(c, thread_id, epoch=1)) == "thread_not_found"
    borrowed = TestDevice(b.person, a.device_id)
    assert code(await send(borrowed, thread_id, epoch=1)) == "device_not_in_group"
    plain = await open_pair(a.person, b.person)
    assert code(await send(a, plain, epoch=0, group_number=0)) == "thread_not_encrypted"


async def test_reactions_and_edits_count_as_no_new_message(
    devices: Sequence[TestDevice], rooms: Rooms
) -> None:
    a, b, _ = devices
    thread_id = await begin_group(a, b)
    await send(a, thread_id, epoch=1)
    await b.person.call("PUT", f"/direct/threads/{thread_id}/seen", json={"number": 1})

    changed = await send(a, thread_id, epoch=1, is_change=True)

    assert changed.json()["number"] == 1
    assert (await unread(b.person))["threads"] == 0
    assert [each["kind"] for each in await page(b.person, thread_id)] == ["encrypted_change", "encrypted"]
    events = [each for each in await stored_events(rooms) if isinstance(each, MessageSent) and each.is_change]
    assert len(events) == 1
    assert await rooms.direct.list_recipients(events) == []
    await handle(rooms, await stored_events(rooms))
    updates = (await b.person.call("GET", "/sync", params={"since": 0})).json()["updates"]
    sealed = [each["payload"] for each in updates if each["kind"] == "direct.message"]
    assert {each["kind"] for each in sealed} == {"encrypted", "encrypted_change"}
    assert all(each["ciphertext"] and each["text"] == "" for each in sealed)


async def test_unsending_and_disappearing_delete_the_ciphertext(
    devices: Sequence[TestDevice], rooms: Rooms
) -> None:
    a, b, _ = devices
    thread_id = await begin_group(a, b)
    message_id = (await send(a, thread_id, epoch=1)).json()["message_id"]
    await handle(rooms, await stored_events(rooms))

    assert await Device(a.person).put(thread_id, f"{message_id}/unsent") == 204

    await handle(rooms, await stored_events(rooms))
    [shown] = await page(b.person, thread_id)
    assert (shown["kind"], shown["sealed"]) == ("unsent", None)
    rows = await query(rooms, thread_of(thread_id), "SELECT FROM messages WHERE ciphertext IS NOT NULL")
    assert rows == []
    logged = await query(
        rooms, id_of(b.person), "SELECT payload FROM sync_updates WHERE payload LIKE '%ciphertext%'"
    )
    assert logged == []
    await a.person.call("PATCH", f"/direct/threads/{thread_id}", json={"disappear_s": 60})
    await send(a, thread_id, epoch=1)
    await query(
        rooms, thread_of(thread_id), "UPDATE messages SET expires_at = now() WHERE expires_at IS NOT NULL"
    )
    assert len(await page(b.person, thread_id)) == 1
    await rooms.direct.sweep()
    assert (
        len(await query(rooms, thread_of(thread_id), f"SELECT FROM messages WHERE thread_id = {thread_id}"))
        == 1
    )


async def test_strangers_send_requests_and_a_decline_is_not_told(
    client: AsyncClient, friends: Friends
) -> None:
    stranger = await join(client, "stranger")
    device, other = await register(stranger), await register(friends[0])
    thread_id = await begin_group(device, other)
    for _ in range(5):
        assert (await send(device, thread_id, epoch=1)).status_code == 201
    assert code(await send(device, thread_id, epoch=1)) == "request_pending"
    assert [each["is_encrypted"] for each in await inbox(friends[0], "requests")] == [True]

    await friends[0].call("DELETE", f"/direct/threads/{thread_id}/acceptance")

    assert code(await send(device, thread_id, epoch=1)) == "request_pending"
    leaves = (await stranger.call("GET", f"/direct/threads/{thread_id}/encryption")).json()["leaves"]
    assert [each["is_gone"] for each in leaves] == [False, False]


async def test_a_block_closes_the_encrypted_thread_as_well(devices: Sequence[TestDevice]) -> None:
    a, b, _ = devices
    thread_id = await begin_group(a, b)

    await b.person.call("PUT", f"/blocks/{a.person.account_id}")

    assert code(await send(a, thread_id, epoch=1)) == "thread_not_found"
    assert (await a.person.call("GET", f"/direct/threads/{thread_id}/encryption")).status_code == 404


async def test_a_report_carries_the_reporters_word_marked_as_that(
    devices: Sequence[TestDevice], rooms: Rooms
) -> None:
    a, b, _ = devices
    thread_id = await begin_group(a, b)
    message_id = (await send(a, thread_id, epoch=1)).json()["message_id"]
    body = {
        "kind": "message",
        "object_id": message_id,
        "reason": "spam",
        "claimed_text": "what Ana wrote",
    }

    answer = await b.person.call("POST", "/reports", json=body)

    assert answer.status_code == 204, answer.text
    found = [row["evidence"] for number in rooms.shards.map.owners for row in await _evidence(rooms, number)]
    assert len(found) == 1
    assert '"claimed_text":"what Ana wrote"' in found[0]
    assert '"text":""' in found[0]


async def _evidence(rooms: Rooms, number: int) -> Any:
    async with rooms.shards.shard(number).begin() as tx:
        connection = cast("Any", tx.connection)  # asyncpg ships without types
        return await connection.fetch("SELECT evidence FROM moderation_cases")
