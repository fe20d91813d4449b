"""Threads: one for each pair, and groups with admins and members who come and go."""

import asyncio

from httpx import AsyncClient

from tests.direct.support import (
    Device,
    code,
    get_thread,
    inbox,
    open_group,
    open_pair,
    status,
    texts,
)
from tests.support import Person, join
from tintype.wiring import Rooms

Friends = tuple[Person, Person, Person]


async def test_two_people_have_one_thread_whoever_opens_it_and_however_often(
    friends: Friends, rooms: Rooms
) -> None:
    ana, bo, _ = friends

    opened = await asyncio.gather(
        *(open_pair(ana, bo) for _ in range(5)), *(open_pair(bo, ana) for _ in range(5))
    )

    assert len(set(opened)) == 1
    stored = [
        await rooms.shards.shard(number).raw.fetch("SELECT id FROM threads")
        for number in rooms.shards.map.owners
    ]
    assert sum(len(rows) for rows in stored) == 1


async def test_nobody_has_a_thread_with_themselves_or_with_nobody(ana: Person) -> None:
    async def open_with(account_id: str) -> str:
        return await code(ana.call("POST", "/direct/threads", json={"account_ids": [account_id]}))

    assert await open_with(ana.account_id) == "thread_invalid"
    assert await open_with("23058430092136") == "account_not_found"


async def test_a_group_is_created_once_for_each_local_id(friends: Friends) -> None:
    ana, bo, cy = friends

    made = await asyncio.gather(*(open_group(ana, bo, cy, name="Trip", local_id="trip-1") for _ in range(5)))

    assert len(set(made)) == 1
    thread = await get_thread(bo, made[0])
    assert (thread["kind"], thread["name"], thread["member_count"]) == ("group", "Trip", 3)
    assert [each["person"]["username"] for each in thread["members"] if each["is_admin"]] == ["ana"]


async def test_whoever_joins_later_reads_from_then_on(friends: Friends) -> None:
    ana, bo, cy = friends
    thread_id, device = await open_group(ana, bo), Device(ana)
    await device.send(thread_id, "before cy")

    await ana.call("POST", f"/direct/threads/{thread_id}/members", json={"account_ids": [cy.account_id]})
    await device.send(thread_id, "hello cy")

    assert await texts(cy, thread_id) == ["hello cy"]
    assert await texts(bo, thread_id) == ["before cy", "hello cy"]
    assert (await inbox(cy))[0]["unread_count"] == 1


async def test_who_is_added_again_does_not_read_what_they_missed(friends: Friends) -> None:
    ana, bo, cy = friends
    thread_id, device = await open_group(ana, bo, cy), Device(ana)
    await ana.call("DELETE", f"/direct/threads/{thread_id}/members/{cy.account_id}")
    await device.send(thread_id, "while cy was away")
    assert await inbox(cy) == []

    await ana.call("POST", f"/direct/threads/{thread_id}/members", json={"account_ids": [cy.account_id]})

    assert await texts(cy, thread_id) == []
    assert [each["thread_id"] for each in await inbox(cy)] == [thread_id]


async def test_only_admins_change_a_group_and_it_always_has_one(friends: Friends) -> None:
    ana, bo, cy = friends
    thread_id = await open_group(ana, bo, cy)
    path = f"/direct/threads/{thread_id}"

    assert await code(bo.call("PATCH", path, json={"name": "Ours"})) == "not_thread_admin"
    assert await code(bo.call("DELETE", f"{path}/members/{cy.account_id}")) == "not_thread_admin"
    assert await code(bo.call("PUT", f"{path}/admins/{bo.account_id}")) == "not_thread_admin"

    assert await status(ana, "DELETE", f"{path}/members/{ana.account_id}") == 204
    admins = [each for each in (await get_thread(bo, thread_id))["members"] if each["is_admin"]]
    assert len(admins) == 1
    assert await status(ana, "GET", path) == 404


async def test_a_pair_has_no_name_and_nobody_leaves_it(friends: Friends) -> None:
    ana, bo, cy = friends
    path = f"/direct/threads/{await open_pair(ana, bo)}"

    assert await code(ana.call("PATCH", path, json={"name": "Us"})) == "not_a_group"
    assert await code(ana.call("DELETE", f"{path}/members/{ana.account_id}")) == "not_a_group"
    body = {"account_ids": [cy.account_id]}
    assert await code(ana.call("POST", f"{path}/members", json=body)) == "not_a_group"


async def test_a_group_has_at_most_250_people(client: AsyncClient, ana: Person) -> None:
    bo = await join(client, "bo")
    many = [str(number << 23) for number in range(1, 251)]

    body = {"account_ids": [bo.account_id, *many], "local_id": "crowd"}
    assert await code(ana.call("POST", "/direct/threads", json=body)) == "too_many_members"
