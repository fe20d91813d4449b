"""Photos of groups: set by admins, seen by members alone, and deleted with whatever replaces them."""

from typing import Any

import pytest
from httpx import AsyncClient

from tests.direct.support import (
    Device,
    code,
    get_thread,
    handle,
    id_of,
    inbox,
    open_group,
    open_pair,
    query,
    status,
    stored_events,
    thread_of,
)
from tests.support import Person
from tintype.wiring import Rooms

Friends = tuple[Person, Person, Person]


async def upload(person: Person) -> str:
    return (await person.upload()).json()["media_id"]


async def set_photo(person: Person, thread_id: str, media_id: str) -> Any:
    return await person.call("PUT", f"/direct/threads/{thread_id}/photo", json={"media_id": media_id})


async def test_an_admin_sets_the_photo_and_members_alone_see_it(
    friends: Friends, client: AsyncClient
) -> None:
    ana, bo, cy = friends
    thread_id, media_id = await open_group(ana, bo), await upload(ana)
    path = f"/direct/threads/{thread_id}/photo"
    assert await code(set_photo(bo, thread_id, await upload(bo))) == "not_thread_admin"
    assert await code(set_photo(cy, thread_id, await upload(cy))) == "thread_not_found"
    assert await code(set_photo(ana, thread_id, await upload(bo))) == "message_media_invalid"
    assert await code(set_photo(ana, await open_pair(ana, bo), media_id)) == "not_a_group"

    first, again = await set_photo(ana, thread_id, media_id), await set_photo(ana, thread_id, media_id)

    assert (first.status_code, again.status_code) == (200, 200)
    shown = (await get_thread(bo, thread_id))["photo"]
    assert shown["media_id"] == media_id
    url = shown["squares"]["150"]
    assert (await client.get(url)).status_code == 200
    assert (await client.get("/media/" + url.split("/", 3)[3])).status_code == 404
    assert (await inbox(bo))[0]["photo"]["media_id"] == media_id
    assert await status(bo, "DELETE", path) == 403

    assert await status(ana, "DELETE", path) == 204
    assert (await get_thread(bo, thread_id))["photo"] is None
    assert (await client.get(url)).status_code == 404


@pytest.mark.parametrize("way", ["at once", "by the event"])
async def test_a_photo_that_is_replaced_is_deleted(
    friends: Friends, rooms: Rooms, client: AsyncClient, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana, bo, _ = friends
    thread_id = await open_group(ana, bo)
    before = (await set_photo(ana, thread_id, await upload(ana))).json()["photo"]["squares"]["150"]
    with monkeypatch.context() as patched:
        if way == "by the event":  # the process dies after its commit
            patched.setattr("tintype.direct.message_media.MessageMedia.remove", _do_nothing)
        after = (await set_photo(ana, thread_id, await upload(ana))).json()["photo"]["squares"]["150"]
    if way == "by the event":
        await handle(rooms, await stored_events(rooms))

    assert (await client.get(before)).status_code == 404
    assert (await client.get(after)).status_code == 200
    await query(rooms, id_of(ana), "UPDATE message_media SET is_sent = false, attached_at = '2020-01-01'")
    await rooms.direct.sweep()  # keeps what the group shows
    assert (await client.get(after)).status_code == 200

    await query(rooms, thread_of(thread_id), "UPDATE threads SET photo_id = NULL")
    await query(rooms, id_of(ana), "UPDATE message_media SET is_sent = false")
    await rooms.direct.sweep()
    assert (await client.get(after)).status_code == 404


async def _do_nothing(*_: object) -> None:
    """Stand for a process that is gone."""


async def test_the_photo_goes_with_the_account_that_set_it_and_videos_are_none(
    friends: Friends, rooms: Rooms
) -> None:
    ana, bo, _ = friends
    thread_id = await open_group(ana, bo)
    await set_photo(ana, thread_id, await upload(ana))
    await Device(bo).send(thread_id, "still here")

    while await rooms.direct.personal_data.erase(id_of(ana)):
        pass

    assert await rooms.direct.personal_data.count_left(id_of(ana)) == 0
    assert (await get_thread(bo, thread_id))["photo"] is None
