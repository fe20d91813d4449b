"""Follows whose events arrive in batches, and follows that cross changes of the same accounts."""

import asyncio
from typing import Any

import pytest
from httpx import AsyncClient

from shardwright.routing import Query, Shard, Shards
from tests.graph.graph_state import announced, losing, read_graph, sign_up_people
from tintype.accounts import AccountNotFound
from tintype.graph import FollowChanged
from tintype.graph.store import QUERIES
from tintype.wiring import Rooms


@pytest.mark.slow
async def test_a_batch_repairs_only_the_follows_that_were_not_mirrored(
    rooms: Rooms, client: AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana, bo, *people = await sign_up_people(client, "ana", "bo", "cy", "di", "ed", "flo")
    for number, person in enumerate(people):
        with losing(rooms, lambda number=number: number % 2 == 1):  # its process dies after the commit
            await rooms.graph.follow(person, ana)
            await rooms.graph.follow(person, bo)
    mirrored: list[int] = []
    real = Shard.fetch_one

    async def fetch_one(shard: Shard, query: Query, /, **params: Any) -> Any:
        if query is QUERIES.mirror_follow_at_once:
            mirrored.append(params["follower_id"])
        return await real(shard, query, **params)

    monkeypatch.setattr(Shard, "fetch_one", fetch_one)
    events = [each for each in (await announced(rooms)).values() if isinstance(each, FollowChanged)]
    handler = next(each for each in rooms.graph.handlers() if each.event is FollowChanged)
    assert handler.run_many is not None

    await handler.run_many([*events, *events])
    assert sorted(mirrored) == sorted([*people[1::2]] * 2)
    world = await read_graph(rooms)
    world.check()
    assert world.truth == {(person, each): "active" for person in people for each in (ana, bo)}

    mirrored.clear()
    await handler.run_many(events)
    assert mirrored == []
    assert (await rooms.accounts.get(ana)).follower_count == len(people)


async def test_a_follow_whose_process_is_about_to_mirror_it_is_left_to_that_process(
    rooms: Rooms, client: AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana, bo = await sign_up_people(client, "ana", "bo")
    mirrored: list[int] = []
    has_committed, was_asked = asyncio.Event(), asyncio.Event()
    fetch_one, gather = Shard.fetch_one, Shards.gather

    async def mirror_late(shard: Shard, query: Query, /, **params: Any) -> Any:
        if query is QUERIES.mirror_follow_at_once:
            mirrored.append(params["follower_id"])
            has_committed.set()
            await was_asked.wait()
        return await fetch_one(shard, query, **params)

    async def answer_and_mirror(shards: Shards, query: Query, ids: Any, /, **params: Any) -> Any:
        found = await gather(shards, query, ids, **params)
        if query is QUERIES.gather_mirrored and not was_asked.is_set():
            was_asked.set()
            await following
        return found

    monkeypatch.setattr(Shard, "fetch_one", mirror_late)
    monkeypatch.setattr(Shards, "gather", answer_and_mirror)
    following = asyncio.create_task(rooms.graph.follow(ana, bo))
    await has_committed.wait()
    events = [each for each in (await announced(rooms)).values() if isinstance(each, FollowChanged)]

    await rooms.graph.ensure_mirrored(events)

    assert len(events) == 1
    assert mirrored == [ana], "by the process that made it, and by no handler"
    (await read_graph(rooms)).check()


@pytest.mark.slow
async def test_nobody_follows_whom_they_block_at_the_same_moment(rooms: Rooms, client: AsyncClient) -> None:
    ana, *people = await sign_up_people(client, "ana", "bo", "cy", "di", "ed", "flo")

    async def follow(person: Any) -> None:
        for _ in range(6):
            try:
                await rooms.graph.follow(ana, person)
            except AccountNotFound:
                return

    async def block(person: Any) -> None:
        await rooms.graph.block(ana, person)

    await asyncio.gather(*(act(person) for person in people for act in (follow, block, follow)))

    world = await read_graph(rooms)
    world.check()
    assert world.truth == {}
    assert world.blocks == {(ana, person) for person in people}
