"""Each message once, in its device's order, whatever arrives twice, late or at the same time."""

import asyncio
import random

from httpx import AsyncClient

from tests.direct.support import (
    Device,
    code,
    get_thread,
    id_of,
    open_group,
    open_pair,
    query,
    send,
    status,
    texts,
    thread_of,
)
from tests.support import Person, join
from tintype.wiring import Rooms

Friends = tuple[Person, Person, Person]


async def test_a_message_that_is_sent_twice_is_stored_once_and_answered_alike(friends: Friends) -> None:
    ana, bo, _ = friends
    thread_id = await open_pair(ana, bo)
    body = Device(ana).change(thread_id, text="once")

    answers = await asyncio.gather(*(send(ana, thread_id, body) for _ in range(5)))

    assert {each.status_code for each in answers} == {201}
    assert len({each.text for each in answers}) == 1
    assert await texts(bo, thread_id) == ["once"]


async def test_the_answer_stays_the_same_when_the_message_was_unsent_since(friends: Friends) -> None:
    ana, bo, _ = friends
    thread_id, device = await open_pair(ana, bo), Device(ana)
    body = device.change(thread_id, text="oops")
    first = (await send(ana, thread_id, body)).json()
    device.counters[thread_id] = 1
    assert await device.put(thread_id, f"{first['message_id']}/unsent") == 204

    assert (await send(ana, thread_id, body)).json() == first
    assert await texts(bo, thread_id) == [""]


async def test_the_answer_stays_the_same_when_the_sender_could_not_send_it_any_more(
    friends: Friends, rooms: Rooms
) -> None:
    ana, bo, _ = friends
    thread_id, post = await open_pair(ana, bo), await ana.publish()
    body = Device(ana).change(thread_id, post_id=post["post_id"])
    first = await send(ana, thread_id, body)
    await ana.call("DELETE", f"/posts/{post['post_id']}")
    assert (await send(ana, thread_id, body)).text == first.text

    await rooms.accounts.suspend(id_of(bo))
    assert (await send(ana, thread_id, body)).text == first.text
    await rooms.accounts.lift_suspension(id_of(bo))
    await rooms.graph.block(id_of(bo), id_of(ana))
    assert (await send(ana, thread_id, body)).text == first.text
    assert await code(Device(ana).try_send(thread_id)) == "thread_not_found"


async def test_a_later_message_waits_for_the_earlier_one(friends: Friends) -> None:
    ana, bo, _ = friends
    thread_id, device = await open_pair(ana, bo), Device(ana)
    first = device.change(thread_id, text="first")
    second = device.change(thread_id, text="second") | {"counter": 2}

    assert await code(send(ana, thread_id, second)) == "earlier_missing"
    assert (await send(ana, thread_id, first)).status_code == 201
    assert (await send(ana, thread_id, second)).status_code == 201

    assert await texts(bo, thread_id) == ["first", "second"]


async def test_a_count_is_used_for_one_change_and_a_refused_one_uses_none(friends: Friends) -> None:
    ana, bo, _ = friends
    thread_id, device = await open_pair(ana, bo), Device(ana)
    await device.send(thread_id, "one")
    used = device.change(thread_id, text="two") | {"counter": 1}

    assert await code(send(ana, thread_id, used)) == "counter_used"
    assert await code(device.try_send(thread_id, "x" * 4_001)) == "message_invalid"
    await device.send(thread_id, "two")

    assert (await get_thread(ana, thread_id, device_id=device.device_id))["last_counter"] == 2
    assert await texts(bo, thread_id) == ["one", "two"]


async def test_a_change_that_was_renumbered_after_all_is_still_the_same(friends: Friends) -> None:
    ana, bo, _ = friends
    thread_id, device = await open_pair(ana, bo), Device(ana)
    body = device.change(thread_id, text="once")
    await send(ana, thread_id, body)

    again = await send(ana, thread_id, body | {"counter": 2})

    assert again.status_code == 201
    assert await texts(bo, thread_id) == ["once"]
    assert (await get_thread(ana, thread_id, device_id=device.device_id))["last_counter"] == 1


async def test_the_devices_of_one_person_count_for_themselves(friends: Friends) -> None:
    ana, bo, _ = friends
    thread_id = await open_pair(ana, bo)

    await Device(ana).send(thread_id, "from the phone")
    await Device(ana).send(thread_id, "from the desk")

    assert await texts(bo, thread_id) == ["from the phone", "from the desk"]


async def test_every_message_of_many_senders_is_stored_once_in_its_devices_order(
    client: AsyncClient, rooms: Rooms
) -> None:
    """Twenty devices send five messages each, all twice, shuffled, and repeat what was refused."""
    people = [await join(client, f"sender{number:02}") for number in range(20)]
    thread_id = await open_group(people[0], *people[1:])
    chance = random.Random(7)  # noqa: S311 - the same order in every run
    devices = [Device(person, person.username) for person in people]

    async def drain(device: Device) -> None:
        bodies = [
            device.change(thread_id, text=f"{device.device_id} {number}") | {"counter": number}
            for number in range(1, 6)
        ]
        waiting = bodies * 2
        while waiting:
            chance.shuffle(waiting)
            answers = await asyncio.gather(*(send(device.person, thread_id, each) for each in waiting))
            # 503: on a busy machine so many at once do not all get a connection in time, and are sent again as well.
            assert {each.status_code for each in answers} <= {201, 409, 503}, [each.text for each in answers]
            waiting = [each for each, answer in zip(waiting, answers, strict=True) if answer.is_error]

    await asyncio.gather(*(drain(device) for device in devices))

    rows = await query(
        rooms,
        thread_of(thread_id),
        f"SELECT id, number, text FROM messages WHERE thread_id = {thread_id} ORDER BY id",
    )
    assert [row["number"] for row in rows] == list(range(1, 101))
    for device in devices:
        own = [row["text"] for row in rows if row["text"].startswith(f"{device.device_id} ")]
        assert own == [f"{device.device_id} {number}" for number in range(1, 6)]


async def test_a_send_is_one_statement_on_the_shard_of_the_thread(friends: Friends, rooms: Rooms) -> None:
    """The slow path would write the device's row by itself; the counter shows that the first one did it all."""
    ana, bo, _ = friends
    thread_id, device = await open_pair(ana, bo), Device(ana)
    await device.send(thread_id)

    counted = await query(
        rooms,
        thread_of(thread_id),
        "SELECT (SELECT count(DISTINCT xmin::text) FROM ("
        f"SELECT xmin FROM messages WHERE thread_id = {thread_id} UNION ALL "
        f"SELECT xmin FROM threads WHERE id = {thread_id} UNION ALL "
        f"SELECT xmin FROM thread_devices WHERE thread_id = {thread_id} UNION ALL "
        f"SELECT xmin FROM thread_mutations WHERE thread_id = {thread_id}) AS written) AS transactions",
    )

    assert counted[0]["transactions"] == 1


async def test_nobody_writes_who_is_not_in_the_thread(friends: Friends, client: AsyncClient) -> None:
    ana, bo, cy = friends
    thread_id = await open_group(ana, bo, cy)
    stranger = await join(client, "stranger")
    assert await status(ana, "DELETE", f"/direct/threads/{thread_id}/members/{bo.account_id}") == 204
    assert await status(cy, "DELETE", f"/direct/threads/{thread_id}/members/{cy.account_id}") == 204

    for person in (bo, cy, stranger):
        assert await code(Device(person).try_send(thread_id)) == "thread_not_found"
        assert await status(person, "GET", f"/direct/threads/{thread_id}") == 404
        assert await status(person, "GET", f"/direct/threads/{thread_id}/messages") == 404
    assert await texts(ana, thread_id) == []


async def test_somebody_who_is_away_gets_no_messages(friends: Friends, rooms: Rooms) -> None:
    ana, bo, _ = friends
    thread_id, device = await open_pair(ana, bo), Device(ana)
    await device.send(thread_id, "before")

    await rooms.accounts.suspend(id_of(bo))
    assert await code(device.try_send(thread_id)) == "recipient_unavailable"
    assert await texts(ana, thread_id) == ["before"]

    await rooms.accounts.lift_suspension(id_of(bo))
    await device.send(thread_id, "after")
