"""Requests of strangers, and who may write at all."""

from tests.direct.support import Device, code, get_thread, inbox, open_group, open_pair, status, texts, unread
from tests.support import Person


async def test_a_strangers_message_waits_among_the_requests(ana: Person, bo: Person) -> None:
    thread_id = await open_pair(ana, bo)
    assert await inbox(bo, "requests") == []
    await Device(ana).send(thread_id, "hello?")

    assert await inbox(bo) == []
    assert [each["thread_id"] for each in await inbox(bo, "requests")] == [thread_id]
    assert await unread(bo) == {"threads": 0, "requests": 1}
    assert await texts(bo, thread_id) == ["hello?"]

    assert await status(bo, "PUT", f"/direct/threads/{thread_id}/acceptance") == 204
    assert [each["thread_id"] for each in await inbox(bo)] == [thread_id]
    assert await inbox(bo, "requests") == []


async def test_who_is_followed_by_the_recipient_is_no_stranger(ana: Person, bo: Person) -> None:
    await bo.call("PUT", f"/accounts/{ana.account_id}/follow")

    await Device(ana).send(await open_pair(ana, bo))

    assert await unread(bo) == {"threads": 1, "requests": 0}


async def test_a_stranger_can_send_a_few_messages_until_they_are_accepted(ana: Person, bo: Person) -> None:
    thread_id, device = await open_pair(ana, bo), Device(ana)
    for number in range(5):
        await device.send(thread_id, f"{number}")

    assert await code(device.try_send(thread_id)) == "request_pending"

    await bo.call("PUT", f"/direct/threads/{thread_id}/acceptance")
    await device.send(thread_id, "at last")


async def test_who_answers_a_request_accepts_it(ana: Person, bo: Person) -> None:
    thread_id = await open_pair(ana, bo)
    await Device(ana).send(thread_id)

    await Device(bo).send(await open_pair(bo, ana), "hello ana")

    assert [each["thread_id"] for each in await inbox(bo)] == [thread_id]
    assert await texts(ana, thread_id) == ["hi", "hello ana"]


async def test_a_declined_request_is_gone_and_its_sender_does_not_learn_of_it(
    ana: Person, bo: Person
) -> None:
    thread_id, device = await open_pair(ana, bo), Device(ana)
    await device.send(thread_id)
    before = await get_thread(ana, thread_id)

    assert await status(bo, "DELETE", f"/direct/threads/{thread_id}/acceptance") == 204
    await device.send(thread_id, "anybody?")

    assert await inbox(bo, "requests") == []
    assert await status(bo, "GET", f"/direct/threads/{thread_id}") == 404
    after = await get_thread(ana, thread_id)
    assert after["members"][-1] == before["members"][-1]

    assert await open_pair(bo, ana) == thread_id
    await Device(bo).send(thread_id, "sorry, yes")
    assert [each["thread_id"] for each in await inbox(bo)] == [thread_id]


async def test_a_reader_of_a_request_leaves_no_seen_marker(ana: Person, bo: Person) -> None:
    thread_id = await open_pair(ana, bo)
    await Device(ana).send(thread_id)

    assert await status(bo, "PUT", f"/direct/threads/{thread_id}/seen", json={"number": 1}) == 204

    theirs = [each for each in (await get_thread(ana, thread_id))["members"] if each["is_invited"]]
    assert (theirs[0]["seen_number"], theirs[0]["seen_at"]) == (0, None)


async def test_a_setting_says_who_may_write_at_all(ana: Person, bo: Person, cy: Person) -> None:
    await bo.call("PUT", f"/accounts/{cy.account_id}/follow")
    body = {"audience": "following", "preview": "name"}
    assert (await bo.call("PUT", "/direct/settings", json=body)).json() == body
    assert (await bo.call("GET", "/direct/settings")).json() == body

    with_bo = {"account_ids": [bo.account_id]}
    assert await code(ana.call("POST", "/direct/threads", json=with_bo)) == "may_not_write"
    assert await status(cy, "POST", "/direct/threads", json=with_bo) == 201

    await bo.call("PUT", "/direct/settings", json=body | {"audience": "nobody"})
    await Device(cy).send(await open_pair(cy, bo), "we know each other")
    in_group = with_bo | {"local_id": "group"}
    assert await code(cy.call("POST", "/direct/threads", json=in_group)) == "may_not_write"


async def test_a_group_of_strangers_is_a_request(ana: Person, bo: Person) -> None:
    thread_id = await open_group(ana, bo)

    assert [each["thread_id"] for each in await inbox(bo, "requests")] == [thread_id]
    assert await status(bo, "DELETE", f"/direct/threads/{thread_id}/acceptance") == 204
    assert (await get_thread(ana, thread_id))["member_count"] == 1
