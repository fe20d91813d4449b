"""Photos in messages: open to those who are in the thread, by links that they are given, and gone with the message."""

from typing import Any

import pytest
from httpx import AsyncClient

from tests.direct.support import (
    Device,
    code,
    handle,
    id_of,
    open_group,
    open_pair,
    query,
    send,
    stored_events,
    thread_of,
)
from tests.support import Person, join
from tintype.wiring import Rooms

Friends = tuple[Person, Person, Person]


async def upload(person: Person) -> str:
    answer = await person.upload()
    assert answer.status_code == 201, answer.text
    return answer.json()["media_id"]


async def last(person: Person, thread_id: str) -> dict[str, Any]:
    answer = await person.call("GET", f"/direct/threads/{thread_id}/messages", params={"limit": 1})
    assert answer.status_code == 200, answer.text
    return answer.json()["messages"][0]


async def test_a_photo_opens_by_the_link_of_a_member_and_not_without(
    friends: Friends, client: AsyncClient
) -> None:
    ana, bo, _ = friends
    thread_id = await open_pair(ana, bo)
    media_id = await upload(ana)

    await Device(ana).send(thread_id, "look", media_id=media_id)

    shown = await last(bo, thread_id)
    assert (shown["kind"], shown["text"], shown["media"]["media_id"]) == ("media", "look", media_id)
    url = shown["media"]["url"]
    assert (await client.get(url)).status_code == 200
    unsigned = "/media/" + url.split("/", 3)[3]
    assert (await client.get(unsigned)).status_code == 404
    assert (await client.get(unsigned, headers={"Authorization": f"Bearer {bo.token}"})).status_code == 404


async def test_a_photo_is_sent_once_and_is_the_senders_own(friends: Friends, client: AsyncClient) -> None:
    ana, bo, _ = friends
    thread_id, device = await open_pair(ana, bo), Device(ana)
    media_id = await upload(ana)
    body = device.change(thread_id, text="", media_id=media_id)

    first, again = await send(ana, thread_id, body), await send(ana, thread_id, body)

    assert (first.status_code, first.text) == (201, again.text)
    device.counters[thread_id] = 1
    assert await code(device.try_send(thread_id, media_id=media_id)) == "message_media_invalid"
    assert await code(Device(bo).try_send(thread_id, media_id=await upload(ana))) == "message_media_invalid"
    outsider = await join(client, "outsider")
    own = await upload(outsider)
    assert await code(Device(outsider).try_send(thread_id, media_id=own)) == "thread_not_found"
    post = await outsider.call("POST", "/posts", json={"media_ids": [own], "caption": "still free"})
    assert post.status_code == 201


@pytest.mark.parametrize("way", ["at once", "by the event"])
async def test_the_files_of_an_unsent_photo_are_closed(
    friends: Friends, rooms: Rooms, client: AsyncClient, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana, bo, _ = friends
    thread_id, device = await open_pair(ana, bo), Device(ana)
    message_id = (await device.send(thread_id, media_id=await upload(ana)))["message_id"]
    url = (await last(bo, thread_id))["media"]["url"]
    assert (await client.get(url)).status_code == 200

    if way == "by the event":  # the process dies after its commit
        with monkeypatch.context() as patched:
            patched.setattr("tintype.direct.message_media.MessageMedia.remove", _do_nothing)
            assert await device.put(thread_id, f"{message_id}/unsent") == 204
        await handle(rooms, await stored_events(rooms))
    else:
        assert await device.put(thread_id, f"{message_id}/unsent") == 204

    assert (await client.get(url)).status_code == 404
    assert (await last(bo, thread_id))["media"] is None
    assert await query(rooms, id_of(ana), "SELECT FROM message_media") == []


async def _do_nothing(*_: object) -> None:
    """Stand for a process that is gone."""


async def test_media_of_a_message_that_was_never_sent_are_deleted_and_others_kept(
    friends: Friends, rooms: Rooms, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana, bo, cy = friends
    thread_id = await open_group(ana, bo, cy)
    kept, dropped = await upload(ana), await upload(ana)
    monkeypatch.setattr("tintype.direct.message_media.MessageMedia.confirm", _do_nothing)
    device = Device(ana)
    await device.send(thread_id, media_id=kept)
    early = device.change(thread_id, media_id=dropped) | {"counter": 7}
    assert await code(send(ana, thread_id, early)) == "earlier_missing"
    monkeypatch.undo()
    await query(rooms, id_of(ana), "UPDATE message_media SET attached_at = now() - interval '2 days'")

    await rooms.direct.sweep()

    rows = await query(rooms, id_of(ana), "SELECT media_id, is_sent FROM message_media")
    assert [(str(row["media_id"]), row["is_sent"]) for row in rows] == [(kept, True)]
    assert (await last(bo, thread_id))["media"] is not None


async def test_media_disappear_with_their_message_and_are_exported_and_erased(
    friends: Friends, rooms: Rooms, client: AsyncClient
) -> None:
    ana, bo, _ = friends
    thread_id, device = await open_pair(ana, bo), Device(ana)
    for _ in range(2):
        await device.send(thread_id, media_id=await upload(ana))
    urls = [
        each["media"]["url"]
        for each in (await bo.call("GET", f"/direct/threads/{thread_id}/messages")).json()["messages"]
    ]
    records = [each async for each in rooms.direct.personal_data.export(id_of(ana))]
    assert len([each for each in records if each.media_folder]) == 2

    await query(
        rooms,
        thread_of(thread_id),
        f"UPDATE messages SET expires_at = now() WHERE thread_id = {thread_id} AND number = 2",
    )
    await rooms.direct.sweep()
    assert [(await client.get(url)).status_code for url in urls] == [404, 200]

    while await rooms.direct.personal_data.erase(id_of(ana)):
        pass
    assert await rooms.direct.personal_data.count_left(id_of(ana)) == 0
    assert [(await client.get(url)).status_code for url in urls] == [404, 404]
