"""Six people do whatever they like to each other; a plain dictionary says what must have come of it."""

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import pytest
from httpx import AsyncClient

from shardwright.errors import ServerUnavailable
from tests.graph.graph_state import (
    GraphState,
    Pair,
    announced,
    deliver,
    deliver_all,
    losing,
    read_graph,
    set_private,
    sign_up_people,
)
from tintype.accounts import AccountNotFound
from tintype.base.ids import AccountId
from tintype.graph import RequestNotFound
from tintype.wiring import Rooms

NAMES = ("ana", "bo", "cy", "dee", "eli", "fay")
FOLLOWING = ("follow", "follow", "follow", "unfollow", "remove", "approve", "approve", "decline")
EVERYTHING = (*FOLLOWING, "block", "unblock", "unblock", "flip")


@dataclass
class Oracle:
    """The rules of the house in a few lines."""

    follows: dict[Pair, str] = field(default_factory=dict[Pair, str])
    blocks: set[Pair] = field(default_factory=set[Pair])
    private: set[AccountId] = field(default_factory=set[AccountId])
    ever_active: set[Pair] = field(default_factory=set[Pair])

    def act(self, verb: str, one: AccountId, other: AccountId) -> None:
        getattr(self, verb)(one, other)
        self.ever_active |= {pair for pair, state in self.follows.items() if state == "active"}

    def follow(self, one: AccountId, other: AccountId) -> None:
        if (one, other) not in self.blocks and (other, one) not in self.blocks:
            self.follows.setdefault((one, other), "requested" if other in self.private else "active")

    def unfollow(self, one: AccountId, other: AccountId) -> None:
        self.follows.pop((one, other), None)

    def remove(self, one: AccountId, other: AccountId) -> None:
        self.follows.pop((other, one), None)

    def approve(self, one: AccountId, other: AccountId) -> None:
        if (other, one) in self.follows:
            self.follows[other, one] = "active"

    def decline(self, one: AccountId, other: AccountId) -> None:
        if self.follows.get((other, one)) == "requested":
            self.remove(one, other)

    def block(self, one: AccountId, other: AccountId) -> None:
        self.blocks.add((one, other))
        self.unfollow(one, other)
        self.unfollow(other, one)

    def unblock(self, one: AccountId, other: AccountId) -> None:
        self.blocks.discard((one, other))

    def flip(self, one: AccountId, _: AccountId) -> None:
        self.private ^= {one}
        if one not in self.private:
            self.follows |= {pair: "active" for pair in self.follows if pair[1] == one}

    def check(self, world: GraphState) -> None:
        assert world.truth == self.follows
        assert world.blocks == self.blocks


async def act(rooms: Rooms, oracle: Oracle, verb: str, one: AccountId, other: AccountId) -> None:
    """The same deed in the house."""
    graph = rooms.graph
    verbs: dict[str, Callable[[AccountId, AccountId], Awaitable[object]]] = {
        "follow": graph.follow,
        "unfollow": graph.unfollow,
        "remove": graph.remove_follower,
        "approve": graph.approve,
        "decline": graph.decline,
        "block": graph.block,
        "unblock": graph.unblock,
    }
    if verb == "flip":
        await set_private(rooms, one, is_private=one not in oracle.private)
        return
    try:
        await verbs[verb](one, other)
    except (AccountNotFound, RequestNotFound):
        return


async def agree(rooms: Rooms, people: list[AccountId], world: GraphState) -> None:
    """A relation reads the same from the viewer's shard and from the target's."""
    for viewer in people:
        here = await rooms.graph.relations(viewer, people)
        for target in set(people) - {viewer}:
            there = await rooms.graph.relation_at(target, viewer)
            assert here[target] == there
            assert here[target].follows == (world.truth.get((viewer, target)) == "active")
            assert here[target].has_requested == (world.truth.get((viewer, target)) == "requested")
            assert here[target].follows_viewer == (world.truth.get((target, viewer)) == "active")
            assert here[target].blocks == ((viewer, target) in world.blocks)
            assert here[target].is_blocked == ((target, viewer) in world.blocks)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
async def test_every_change_is_mirrored_at_once_and_old_events_change_nothing(
    rooms: Rooms, client: AsyncClient, seed: int
) -> None:
    chance = random.Random(seed)  # noqa: S311 - a schedule
    people, oracle = await sign_up_people(client, *NAMES), Oracle()

    for step in range(120):
        verb, (one, other) = chance.choice(EVERYTHING), chance.sample(people, 2)
        await act(rooms, oracle, verb, one, other)
        oracle.act(verb, one, other)
        if step % 10 == 9:
            events = list((await announced(rooms)).values())
            for event in chance.choices(events, k=15):
                await deliver(rooms, event)
            world = await read_graph(rooms)
            world.check()
            oracle.check(world)
    await agree(rooms, people, await read_graph(rooms))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
async def test_late_events_repair_the_mirror_of_an_unreliable_shard(
    rooms: Rooms, client: AsyncClient, seed: int
) -> None:
    chance = random.Random(seed)  # noqa: S311 - a schedule
    people, oracle = await sign_up_people(client, *NAMES), Oracle()
    for each in people[:3]:
        await set_private(rooms, each, is_private=True)
        oracle.flip(each, each)

    with losing(rooms, lambda: chance.random() < 0.5):
        for step in range(100):
            verb, (one, other) = chance.choice(FOLLOWING), chance.sample(people, 2)
            await act(rooms, oracle, verb, one, other)
            oracle.act(verb, one, other)
            if step % 10 == 9:
                await deliver_some(rooms, chance)

    await deliver_all(rooms, reverse=True)
    world = await read_graph(rooms)
    world.check()
    oracle.check(world)
    await agree(rooms, people, world)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
async def test_blocks_and_privacy_hold_however_late_events_arrive(
    rooms: Rooms, client: AsyncClient, seed: int
) -> None:
    """What crosses may end as a request or not at all, but never as a follow that nobody allowed."""
    chance = random.Random(seed)  # noqa: S311 - a schedule
    people, oracle = await sign_up_people(client, *NAMES), Oracle()

    with losing(rooms, lambda: chance.random() < 0.4):
        for step in range(100):
            verb, (one, other) = chance.choice(EVERYTHING), chance.sample(people, 2)
            try:
                await act(rooms, oracle, verb, one, other)
            finally:
                oracle.act(verb, one, other)
            if step % 10 == 9:
                await deliver_some(rooms, chance)

    await deliver_all(rooms, reverse=True)
    world = await read_graph(rooms)
    world.check()
    assert {pair for pair, state in world.truth.items() if state == "active"} <= oracle.ever_active
    assert all(pair[1] in oracle.private for pair, state in world.truth.items() if state == "requested")
    await agree(rooms, people, world)


async def deliver_some(rooms: Rooms, chance: random.Random) -> None:
    """A worker that meets the same trouble: what fails is delivered again another time."""
    events = list((await announced(rooms)).values())
    for event in chance.choices(events, k=min(12, len(events))):
        try:
            await deliver(rooms, event)
        except ServerUnavailable:
            continue
