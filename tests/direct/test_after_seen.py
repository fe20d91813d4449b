"""Messages that disappear some time after everybody else has seen them."""

from datetime import datetime
from typing import Any

from httpx import AsyncClient

from tests.direct.support import (
    Device,
    befriend,
    get_thread,
    open_group,
    open_pair,
    query,
    status,
    texts,
    thread_of,
)
from tests.support import Person, join
from tintype.wiring import Rooms

Friends = tuple[Person, Person, Person]
AFTER_SEEN = {"disappear_s": 3_600, "disappears_after": "seen"}
FIVE_WEEKS_S = 35 * 86_400


async def message(person: Person, thread_id: str, sent: dict[str, Any]) -> dict[str, Any]:
    answer = await person.call("GET", f"/direct/threads/{thread_id}/messages/{sent['message_id']}")
    assert answer.status_code == 200, answer.text
    return answer.json()


async def see(person: Person, thread_id: str, sent: dict[str, Any]) -> None:
    body = {"number": sent["number"]}
    assert await status(person, "PUT", f"/direct/threads/{thread_id}/seen", json=body) == 204


def lasts_s(shown: dict[str, Any]) -> float:
    """From when a message was sent to its end."""
    ends, began = (datetime.fromisoformat(shown[each]) for each in ("expires_at", "created_at"))
    return (ends - began).total_seconds()


async def test_the_time_begins_when_the_last_of_the_others_has_seen_it(
    friends: Friends, rooms: Rooms
) -> None:
    ana, bo, cy = friends
    thread_id, device = await open_group(ana, bo, cy), Device(ana)
    await bo.call("PATCH", f"/direct/threads/{thread_id}", json=AFTER_SEEN)
    shown = await get_thread(ana, thread_id)
    assert (shown["disappear_s"], shown["disappears_after"]) == (3_600, "seen")
    sent = await device.send(thread_id, "wait for both")
    quoting = await device.send(thread_id, "me too", reply_to=sent["message_id"])

    await see(ana, thread_id, sent)
    await see(bo, thread_id, sent)
    for each in (sent, quoting):
        waiting = await message(bo, thread_id, each)
        assert waiting["after_seen_s"] == 3_600
        assert 28 * 86_400 < lasts_s(waiting) < FIVE_WEEKS_S

    await see(cy, thread_id, sent)
    ending = await message(bo, thread_id, sent)
    assert ending["after_seen_s"] is None
    assert 3_500 < lasts_s(ending) < 86_400
    assert (await message(bo, thread_id, quoting))["after_seen_s"] == 3_600

    await query(
        rooms, thread_of(thread_id), "UPDATE messages SET expires_at = now() WHERE after_seen_s IS NULL"
    )
    assert await texts(cy, thread_id) == ["me too"]
    await rooms.direct.sweep()
    assert len(await query(rooms, thread_of(thread_id), "SELECT FROM messages")) == 1


async def test_who_leaves_or_answers_is_not_waited_for(friends: Friends, rooms: Rooms) -> None:
    ana, bo, cy = friends
    thread_id, device = await open_group(ana, bo, cy), Device(ana)
    await bo.call("PATCH", f"/direct/threads/{thread_id}", json=AFTER_SEEN)
    sent = await device.send(thread_id, "hello")
    await Device(bo).send(thread_id, "an answer is as good")
    await rooms.direct.sweep()
    assert (await message(bo, thread_id, sent))["after_seen_s"] == 3_600

    await cy.call("DELETE", f"/direct/threads/{thread_id}/members/{cy.account_id}")
    await rooms.direct.sweep()

    assert (await message(bo, thread_id, sent))["after_seen_s"] is None


async def test_a_request_that_was_read_does_not_begin_the_time(rooms: Rooms, ana: Person, cy: Person) -> None:
    thread_id = await open_pair(ana, cy)
    await ana.call("PATCH", f"/direct/threads/{thread_id}", json=AFTER_SEEN)
    sent = await Device(ana).send(thread_id, "you do not know me")
    await see(cy, thread_id, sent)
    await rooms.direct.sweep()
    assert (await message(ana, thread_id, sent))["after_seen_s"] == 3_600

    assert await status(cy, "PUT", f"/direct/threads/{thread_id}/acceptance") == 204
    await rooms.direct.sweep()
    assert (await message(ana, thread_id, sent))["after_seen_s"] is None


async def test_large_groups_wait_a_day_for_everybody(friends: Friends, client: AsyncClient) -> None:
    ana, bo, cy = friends
    others = [await join(client, f"guest{number}") for number in range(6)]
    await befriend(ana, *others)
    thread_id, device = await open_group(ana, bo, cy, *others), Device(ana)
    await ana.call("PATCH", f"/direct/threads/{thread_id}", json=AFTER_SEEN)

    first = await device.send(thread_id, "to nine")
    for sent in (first, await device.send(thread_id, "again", reply_to=first["message_id"])):
        shown = await message(bo, thread_id, sent)
        assert shown["after_seen_s"] is None
        assert 86_000 < lasts_s(shown) - 3_600 < 2 * 86_400


async def test_turning_it_off_leaves_what_was_sent(friends: Friends) -> None:
    ana, bo, _ = friends
    thread_id, device = await open_pair(ana, bo), Device(ana)
    path = f"/direct/threads/{thread_id}"
    await ana.call("PATCH", path, json=AFTER_SEEN)
    sent = await device.send(thread_id, "ends")
    await ana.call("PATCH", path, json={"disappear_s": 0})
    kept = await device.send(thread_id, "stays")

    await see(bo, thread_id, kept)

    assert (await message(bo, thread_id, kept))["expires_at"] is None
    assert lasts_s(await message(bo, thread_id, sent)) < 86_400
