"""Changes that cross each other on their way between two shards."""

import asyncio
import random

import pytest
from httpx import AsyncClient

from tests.graph.graph_state import (
    announced,
    deliver,
    deliver_all,
    losing,
    read_graph,
    set_private,
    set_status,
    sign_up_people,
)
from tests.support import eventually
from tintype.accounts import AccountNotFound
from tintype.graph import BlockChanged, FollowChanged, FollowDecided
from tintype.graph.retention import KEEP_ENDED
from tintype.wiring import Rooms
from tintype.worker import Worker


def always() -> bool:
    return True


@pytest.mark.slow
async def test_following_somebody_who_has_just_become_private_becomes_a_request(
    rooms: Rooms, client: AsyncClient
) -> None:
    ana, bo = await sign_up_people(client, "ana", "bo")
    await rooms.accounts.get(ana)  # the cached card says public
    await set_private(rooms, ana, is_private=True, quietly=True)

    assert await rooms.graph.follow(bo, ana) == "requested"

    world = await read_graph(rooms)
    world.check()
    assert world.truth == {(bo, ana): "requested"}


@pytest.mark.slow
async def test_a_request_to_somebody_who_has_just_become_public_becomes_a_follow(
    rooms: Rooms, client: AsyncClient
) -> None:
    ana, bo = await sign_up_people(client, "ana", "bo")
    await set_private(rooms, ana, is_private=True)
    await rooms.accounts.get(ana)
    await set_private(rooms, ana, is_private=False, quietly=True)

    assert await rooms.graph.follow(bo, ana) == "active"

    world = await read_graph(rooms)
    world.check()
    assert world.truth == {(bo, ana): "active"}


@pytest.mark.slow
async def test_a_correction_that_fails_at_once_is_made_by_its_event(
    rooms: Rooms, client: AsyncClient
) -> None:
    ana, bo = await sign_up_people(client, "ana", "bo")
    await rooms.accounts.get(ana)
    await set_private(rooms, ana, is_private=True, quietly=True)
    calls = iter([False, True])  # the mirror arrives, the correction does not

    with losing(rooms, lambda: next(calls)):
        await rooms.graph.follow(bo, ana)
    assert (await read_graph(rooms)).truth == {(bo, ana): "active"}
    assert (await read_graph(rooms)).mirror == {(bo, ana): "requested"}

    await deliver_all(rooms)
    world = await read_graph(rooms)
    world.check()
    assert world.truth == {(bo, ana): "requested"}


@pytest.mark.slow
async def test_a_late_correction_does_not_touch_what_came_after(rooms: Rooms, client: AsyncClient) -> None:
    ana, bo = await sign_up_people(client, "ana", "bo")
    await rooms.graph.follow(bo, ana)
    first = next(each for each in (await announced(rooms)).values() if isinstance(each, FollowChanged))
    await rooms.graph.unfollow(bo, ana)
    await rooms.graph.follow(bo, ana)

    await deliver(rooms, FollowDecided(bo, ana, first.change_id, "none"))

    assert (await read_graph(rooms)).truth == {(bo, ana): "active"}


@pytest.mark.slow
async def test_nobody_follows_across_a_block_that_is_not_mirrored_yet(
    rooms: Rooms, client: AsyncClient
) -> None:
    ana, bo = await sign_up_people(client, "ana", "bo")
    with losing(rooms, always):
        await rooms.graph.block(ana, bo)

    with pytest.raises(AccountNotFound):
        await rooms.graph.follow(bo, ana)

    assert (await read_graph(rooms)).truth == (await read_graph(rooms)).mirror == {}
    await deliver_all(rooms)
    (await read_graph(rooms)).check()


@pytest.mark.slow
async def test_a_block_severs_even_when_its_event_arrives_after_it_was_lifted(
    rooms: Rooms, client: AsyncClient
) -> None:
    ana, bo = await sign_up_people(client, "ana", "bo")
    await rooms.graph.follow(bo, ana)
    with losing(rooms, always):
        await rooms.graph.block(ana, bo)
        await rooms.graph.unblock(ana, bo)
    assert (await read_graph(rooms)).truth == {(bo, ana): "active"}
    block, unblock = [each for each in (await announced(rooms)).values() if isinstance(each, BlockChanged)]

    await deliver(rooms, unblock)
    world = await read_graph(rooms)
    world.check()
    assert world.truth == {}

    await rooms.graph.follow(bo, ana)
    await deliver(rooms, block)
    world = await read_graph(rooms)
    world.check()
    assert world.truth == {(bo, ana): "active"}


@pytest.mark.slow
async def test_a_follow_that_arrives_after_the_block_is_taken_back(rooms: Rooms, client: AsyncClient) -> None:
    ana, bo = await sign_up_people(client, "ana", "bo")
    with losing(rooms, always):
        await rooms.graph.follow(bo, ana)
        await rooms.graph.block(ana, bo)
    follow = next(each for each in (await announced(rooms)).values() if isinstance(each, FollowChanged))

    await deliver(rooms, follow)

    assert (await read_graph(rooms)).truth == {}
    await deliver_all(rooms, reverse=True)
    (await read_graph(rooms)).check()


@pytest.mark.slow
async def test_nobody_follows_an_account_that_is_being_deleted(rooms: Rooms, client: AsyncClient) -> None:
    ana, bo = await sign_up_people(client, "ana", "bo")
    with losing(rooms, always):
        await rooms.graph.follow(bo, ana)
    await set_status(rooms, ana, "leaving")

    await deliver_all(rooms)

    world = await read_graph(rooms)
    world.check()
    assert world.truth == {}


@pytest.mark.slow
async def test_following_while_the_account_turns_private_and_public_ends_with_both_sides_agreed(
    rooms: Rooms, client: AsyncClient
) -> None:
    ana, *others = await sign_up_people(client, "ana", "bo", "cy", "dee", "eli")
    chance = random.Random(3)  # noqa: S311 - a schedule

    async def waver() -> None:
        for turn in range(12):
            await set_private(rooms, ana, is_private=turn % 2 == 0)
            await asyncio.sleep(0.01 * chance.random())

    async def use(each: int) -> None:
        for _ in range(10):
            await rooms.graph.follow(others[each], ana)
            await rooms.graph.unfollow(others[each], ana)
        await rooms.graph.follow(others[each], ana)

    await asyncio.gather(waver(), *(use(each) for each in range(4)))

    await deliver_all(rooms)
    world = await read_graph(rooms)
    world.check()
    assert world.truth == {(each, ana): "active" for each in others}


@pytest.mark.slow
async def test_following_unfollowing_and_blocking_at_once_ends_with_both_sides_agreed(
    rooms: Rooms, client: AsyncClient
) -> None:
    ana, bo = await sign_up_people(client, "ana", "bo")

    async def follow() -> None:
        try:
            await rooms.graph.follow(bo, ana)
        except AccountNotFound:
            return

    await asyncio.gather(
        *(follow() for _ in range(12)),
        *(rooms.graph.unfollow(bo, ana) for _ in range(6)),
        *(rooms.graph.block(ana, bo) for _ in range(4)),
        *(rooms.graph.unblock(ana, bo) for _ in range(4)),
    )

    await deliver_all(rooms)
    (await read_graph(rooms)).check()


@pytest.mark.slow
async def test_a_dead_letter_of_weeks_ago_does_not_bring_a_follow_back(
    rooms: Rooms, client: AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana, bo = await sign_up_people(client, "ana", "bo")
    await rooms.graph.follow(bo, ana)
    await rooms.graph.unfollow(bo, ana)
    event = next(each for each in (await announced(rooms)).values() if isinstance(each, FollowChanged))
    monkeypatch.setattr("tintype.graph.retention.KEEP_ENDED", -KEEP_ENDED)  # a fortnight later …
    monkeypatch.setattr("tintype.graph.follower_mirror.OLD", -KEEP_ENDED)
    await rooms.graph.sweep_ended()

    await deliver(rooms, event)

    assert event.is_following
    world = await read_graph(rooms)
    world.check()
    assert world.mirror == {}


async def test_requests_to_a_public_account_are_approved_even_when_its_event_was_lost(
    rooms: Rooms, client: AsyncClient
) -> None:
    ana, bo = await sign_up_people(client, "ana", "bo")
    await set_private(rooms, ana, is_private=True)
    await rooms.graph.follow(bo, ana)
    await set_private(rooms, ana, is_private=False, quietly=True)

    await rooms.graph.approve_forgotten()

    world = await read_graph(rooms)
    world.check()
    assert world.truth == {(bo, ana): "active"}


@pytest.mark.slow
async def test_the_worker_applies_what_could_not_be_mirrored_at_once(
    rooms: Rooms, client: AsyncClient, clean_streams: None, working: Worker
) -> None:
    ana, bo, cy = await sign_up_people(client, "ana", "bo", "cy")
    await rooms.graph.follow(cy, bo)
    with losing(rooms, always):
        await rooms.graph.follow(bo, ana)
        await rooms.graph.block(bo, cy)

    async def is_settled() -> bool:
        world = await read_graph(rooms)
        return world.truth == world.mirror == {(bo, ana): "active"} and world.blocked_by == {(bo, cy)}

    await eventually(is_settled, what="both sides agree")
    (await read_graph(rooms)).check()
