"""Presence: who is active, for those who follow each other and both show it."""

from typing import Any

import pytest
from httpx import AsyncClient

from tests.notifications.support import id_of
from tests.realtime.devices import connect
from tests.realtime.live_nats import LiveNats
from tests.support import Person, eventually, join
from tintype.wiring import Rooms
from tintype.worker import Worker

pytestmark = pytest.mark.slow


async def presence_of(viewer: Person, *people: Person) -> dict[str, Any]:
    ids = ",".join(each.account_id for each in people)
    answer = await viewer.call("GET", "/presence", params={"account_ids": ids})
    assert answer.status_code == 200, answer.text
    return {each["account_id"]: each for each in answer.json()["presence"]}


async def befriend(one: Person, other: Person) -> None:
    await one.call("PUT", f"/accounts/{other.account_id}/follow")
    await other.call("PUT", f"/accounts/{one.account_id}/follow")


async def is_active(viewer: Person, person: Person) -> bool:
    return bool((await presence_of(viewer, person))[person.account_id]["is_active"])


async def test_those_who_follow_each_other_see_who_is_active(
    live_worker: Worker,
    live_rooms: Rooms,
    live_nats: LiveNats,
    live_client: AsyncClient,
    ana: Person,
    bo: Person,
) -> None:
    cleo = await join(live_client, "cleo")
    await befriend(ana, bo)
    await cleo.call("PUT", f"/accounts/{ana.account_id}/follow")
    assert (await presence_of(bo, ana, cleo)) == {
        ana.account_id: {"account_id": ana.account_id, "is_active": False, "last_active_at": None}
    }

    async with connect(live_nats, ana, device="phone"):
        async with connect(live_nats, ana, device="laptop"):
            await eventually(lambda: is_active(bo, ana), what="ana is active")
        await live_rooms.realtime.schedules()[0].run()
        assert await is_active(bo, ana)  # still with one device
        assert await presence_of(cleo, ana) == {}  # a follower, not followed back

    async def is_gone() -> bool:
        return not await is_active(bo, ana)

    await eventually(is_gone, what="ana is not active any more")
    assert (await presence_of(bo, ana))[ana.account_id]["last_active_at"] is not None


async def test_who_hides_their_presence_sees_nobodys_and_a_block_hides_it(
    live_worker: Worker, live_rooms: Rooms, live_nats: LiveNats, ana: Person, bo: Person
) -> None:
    await befriend(ana, bo)
    answer = await ana.call("PUT", "/presence/settings", json={"is_shown": False})
    assert answer.status_code == 204, answer.text
    assert (await ana.call("GET", "/presence/settings")).json() == {"is_shown": False}

    assert await presence_of(bo, ana) == {}
    assert await presence_of(ana, bo) == {}

    await ana.call("PUT", "/presence/settings", json={"is_shown": True})
    assert list(await presence_of(bo, ana)) == [ana.account_id]
    assert (await bo.call("PUT", f"/blocks/{ana.account_id}")).status_code == 204
    assert await presence_of(ana, bo) == {}


async def test_those_who_write_to_each_other_see_who_is_active(
    live_rooms: Rooms, live_client: AsyncClient, ana: Person, bo: Person
) -> None:
    await ana.call("PUT", f"/accounts/{bo.account_id}/follow")
    opened = await bo.call("POST", "/direct/threads", json={"account_ids": [ana.account_id]})
    thread_id = opened.json()["thread_id"]  # at once no request: ana follows bo
    assert await presence_of(bo, ana) == {}
    body = {"device_id": "d", "local_id": "l", "counter": 1, "text": "hello"}
    assert (await bo.call("POST", f"/direct/threads/{thread_id}/messages", json=body)).status_code == 201

    assert list(await presence_of(bo, ana)) == [ana.account_id]
    assert list(await presence_of(ana, bo)) == [bo.account_id]

    stranger = await join(live_client, "stranger")
    asked = await stranger.call("POST", "/direct/threads", json={"account_ids": [ana.account_id]})
    request = asked.json()["thread_id"]
    await stranger.call("POST", f"/direct/threads/{request}/messages", json=body)
    assert await presence_of(stranger, ana) == {}
    assert await presence_of(ana, stranger) == {}
    await ana.call("PUT", f"/direct/threads/{request}/acceptance")
    assert list(await presence_of(stranger, ana, bo)) == [ana.account_id]

    await ana.call("PUT", "/presence/settings", json={"is_shown": False})
    assert await presence_of(stranger, ana) == {}
    await ana.call("PUT", "/presence/settings", json={"is_shown": True})
    await ana.call("PUT", f"/blocks/{stranger.account_id}")
    assert await presence_of(stranger, ana) == {}
    assert await presence_of(ana, stranger) == {}


async def test_a_device_that_watches_hears_of_changes_until_it_may_not(
    live_worker: Worker, live_rooms: Rooms, live_nats: LiveNats, ana: Person, bo: Person
) -> None:
    await befriend(ana, bo)
    async with connect(live_nats, bo) as watcher:
        assert await watcher.subscribe(f"/u/{bo.account_id}/replies")
        assert await watcher.subscribe(f"/u/{bo.account_id}/presence")
        await watcher.command("w", "presence.watch", account_ids=[ana.account_id])
        assert (await watcher.next())[1]["result"]["presence"][0]["is_active"] is False

        async with connect(live_nats, ana):
            topic, signal = await watcher.next()
            assert (topic, signal["account_id"], signal["is_active"]) == (
                f"/u/{bo.account_id}/presence",
                ana.account_id,
                True,
            )
        assert (await watcher.next())[1]["is_active"] is False

        await ana.call("PUT", "/presence/settings", json={"is_shown": False})
        async with connect(live_nats, ana) as phone:
            assert await phone.subscribe(f"/u/{ana.account_id}/replies")
            await phone.command("seen", "ping")
            assert (await phone.next())[1]["id"] == "seen"
        await watcher.command("after", "ping")
        assert (await watcher.next())[1]["id"] == "after"


async def test_a_choice_is_exported_and_erased(live_rooms: Rooms, ana: Person) -> None:
    await live_rooms.realtime.presence.choose(id_of(ana), is_shown=False)
    holder = live_rooms.realtime.personal_data

    assert [each.content async for each in holder.export(id_of(ana))] == [{"is_shown": False}]
    assert await holder.erase(id_of(ana)) == 1
    assert await holder.count_left(id_of(ana)) == 0
