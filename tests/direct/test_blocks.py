"""Blocks between people who have threads together."""

import pytest

from tests.direct.support import (
    Device,
    code,
    handle,
    id_of,
    inbox,
    open_group,
    open_pair,
    status,
    stored_events,
    texts,
    unread,
)
from tests.support import Person
from tintype.wiring import Rooms

Friends = tuple[Person, Person, Person]


async def test_a_block_hides_the_thread_from_both_at_once_and_its_end_brings_it_back(
    friends: Friends,
) -> None:
    ana, bo, _ = friends
    thread_id = await open_pair(ana, bo)
    await Device(ana).send(thread_id)

    assert await status(bo, "PUT", f"/blocks/{ana.account_id}") == 204

    for person in (ana, bo):
        assert await code(Device(person).try_send(thread_id)) == "thread_not_found"
        assert await status(person, "GET", f"/direct/threads/{thread_id}/messages") == 404
        assert await status(person, "PUT", f"/direct/threads/{thread_id}/seen", json={"number": 1}) == 404
        assert await inbox(person) == []
        assert await unread(person) == {"threads": 0, "requests": 0}
    with_bo = {"account_ids": [bo.account_id]}
    assert await code(ana.call("POST", "/direct/threads", json=with_bo)) == "account_not_found"

    assert await status(bo, "DELETE", f"/blocks/{ana.account_id}") == 204
    await Device(ana).send(thread_id, "again")
    assert await texts(bo, thread_id) == ["hi", "again"]


async def test_a_block_that_the_thread_has_not_heard_of_hides_it_all_the_same(
    friends: Friends, rooms: Rooms, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process of the block died before it reached the thread; its event does it later."""
    ana, bo, _ = friends
    thread_id = await open_pair(ana, bo)
    await Device(ana).send(thread_id)

    async def die(_: object) -> None:
        """Do nothing more."""

    monkeypatch.setattr(rooms.graph.block_changed, "notify", die)
    await bo.call("PUT", f"/blocks/{ana.account_id}")
    assert await status(ana, "GET", f"/direct/threads/{thread_id}") == 404
    assert await inbox(bo) == []

    await handle(rooms, await stored_events(rooms))
    assert await code(Device(ana).try_send(thread_id)) == "thread_not_found"


async def test_blocks_of_both_are_independent_and_come_in_any_order(friends: Friends, rooms: Rooms) -> None:
    ana, bo, _ = friends
    thread_id = await open_pair(ana, bo)
    await bo.call("PUT", f"/blocks/{ana.account_id}")
    await rooms.graph.block(id_of(ana), id_of(bo))
    await bo.call("DELETE", f"/blocks/{ana.account_id}")
    assert await code(Device(ana).try_send(thread_id)) == "thread_not_found"

    events = await stored_events(rooms)
    await handle(rooms, [*reversed(events), *events])
    assert await code(Device(ana).try_send(thread_id)) == "thread_not_found"

    await ana.call("DELETE", f"/blocks/{bo.account_id}")
    await Device(ana).send(thread_id)


async def test_in_a_group_people_who_block_each_other_do_not_read_each_other(friends: Friends) -> None:
    ana, bo, cy = friends
    thread_id = await open_group(ana, bo, cy)
    await bo.call("PUT", f"/blocks/{cy.account_id}")
    await Device(cy).send(thread_id, "to all")
    await Device(bo).send(thread_id, "to others")

    assert await texts(ana, thread_id) == ["to all", "to others"]
    assert await texts(bo, thread_id) == ["", "to others"]
    assert await texts(cy, thread_id) == ["to all", ""]
    shown = (await bo.call("GET", f"/direct/threads/{thread_id}/messages")).json()["messages"][-1]
    assert (shown["is_hidden"], shown["author"]) == (True, None)
