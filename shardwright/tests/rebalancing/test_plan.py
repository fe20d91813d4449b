"""Plans bring servers to their shares, within limits, and never make anything worse."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shardwright.errors import SetupInvalid
from shardwright.ids import Layout
from shardwright.rebalancing import Basis, Limits, Plan, ShardUse, plan_drain, plan_rebalance, plan_split
from shardwright.topology import Server, ShardMap

GB = 2**30


def make_map(owners: dict[int, str], **servers: float) -> ShardMap:
    """A map of these servers, by weight; a negative one accepts no shards."""
    return ShardMap(
        version=1,
        layout=Layout(0),
        servers={name: Server(name, "", abs(weight), weight >= 0) for name, weight in servers.items()},
        owners=owners,
    )


def alike(shard_map: ShardMap, size_bytes: int = GB) -> list[ShardUse]:
    return [ShardUse(number, server, size_bytes) for number, server in shard_map.owners.items()]


def shards_after(plan: Plan) -> dict[str, int]:
    return {name: use.shards for name, use in plan.after.items()}


def test_a_new_server_gets_its_share_with_as_few_moves_as_possible() -> None:
    shard_map = make_map({n: "ab"[n % 2] for n in range(12)}, a=1, b=1, c=1)

    plan = plan_rebalance(shard_map, alike(shard_map))

    assert shards_after(plan) == {"a": 4, "b": 4, "c": 4}
    assert {each.target for each in plan.relocations} == {"c"}
    assert len(plan.relocations) == 4


def test_a_heavier_server_gets_more() -> None:
    shard_map = make_map(dict.fromkeys(range(12), "a"), a=1, b=2)

    assert shards_after(plan_rebalance(shard_map, alike(shard_map))) == {"a": 4, "b": 8}


def test_size_and_load_count_alike_and_each_can_count_alone() -> None:
    shard_map = make_map({0: "a", 1: "a", 2: "a"}, a=1, b=1)
    large, busy, neither = ShardUse(0, "a", 10 * GB, 0), ShardUse(1, "a", 0, 5_000.0), ShardUse(2, "a", 0, 0)

    def moved(basis: Basis) -> int:
        plan = plan_rebalance(shard_map, [large, busy, neither], basis=basis)
        return len(plan.relocations)

    assert moved("both") == 1  # one of the two
    assert moved("size") == 0  # moving it would only exchange the two servers
    assert moved("count") == 1


def test_hardly_any_load_moves_nothing_unless_it_is_asked_for() -> None:
    shard_map = make_map({0: "a", 1: "a", 2: "b", 3: "b"}, a=1, b=1)
    uses = [ShardUse(n, server, GB, 40.0 if n < 2 else 0.0) for n, server in shard_map.owners.items()]

    quiet = plan_rebalance(shard_map, uses)

    assert (quiet.relocations, "hardly any load" in quiet.refused[0]) == ((), True)
    assert len(plan_rebalance(shard_map, uses, basis="load").relocations) == 1


def test_without_any_measure_shards_are_counted() -> None:
    shard_map = make_map(dict.fromkeys(range(8), "a"), a=1, b=1)

    assert shards_after(plan_rebalance(shard_map, alike(shard_map, 0))) == {"a": 4, "b": 4}


def test_servers_that_take_no_shards_neither_give_nor_take_until_they_are_drained() -> None:
    shard_map = make_map({n: "abc"[n % 3] for n in range(12)}, a=1, b=1, c=-1)

    assert plan_rebalance(shard_map, alike(shard_map)).relocations == ()
    plan = plan_drain(shard_map, alike(shard_map), "c")
    assert shards_after(plan) == {"a": 6, "b": 6, "c": 0}
    assert {each.source for each in plan.relocations} == {"c"}


def test_the_last_server_cannot_be_drained() -> None:
    shard_map = make_map({0: "a"}, a=1, b=-1)

    with pytest.raises(SetupInvalid, match="no server but a accepts shards"):
        plan_drain(shard_map, alike(shard_map), "a")
    with pytest.raises(SetupInvalid, match="no server 'c'"):
        plan_drain(shard_map, alike(shard_map), "c")


def test_a_server_is_split_into_halves_of_one_size() -> None:
    shard_map = make_map(dict.fromkeys(range(5), "a"), a=1, b=1)
    uses = [ShardUse(n, "a", size * GB) for n, size in enumerate((8, 4, 2, 1, 1))]

    plan = plan_split(shard_map, uses, "a", "b")

    assert plan.after["a"].size_bytes == plan.after["b"].size_bytes == 8 * GB
    with pytest.raises(SetupInvalid, match="onto itself"):
        plan_split(shard_map, uses, "a", "a")


def test_limits_of_shards_bytes_and_room_hold_and_are_told() -> None:
    shard_map = make_map(dict.fromkeys(range(10), "a"), a=1, b=1)

    few = plan_rebalance(shard_map, alike(shard_map), limits=Limits(shards=2))
    assert (len(few.relocations), few.refused) == (2, ("no more than 2 shards",))
    small = plan_rebalance(shard_map, alike(shard_map), limits=Limits(size_bytes=3 * GB))
    assert small.size_bytes == 3 * GB
    full = plan_drain(shard_map, alike(shard_map), "a", limits=Limits(room_bytes={"b": 4 * GB}))
    assert shards_after(full) == {"a": 6, "b": 4}
    assert full.refused == ("server b has no room for more",)


def test_shards_that_are_being_moved_stay() -> None:
    shard_map = make_map(dict.fromkeys(range(4), "a"), a=1, b=1)

    plan = plan_drain(shard_map, alike(shard_map), "a", moving=[1, 2])

    assert sorted(each.shard for each in plan.relocations) == [0, 3]
    assert "2 shards are being moved, or" in plan.refused[0]


shards = st.lists(
    st.tuples(st.sampled_from("abcd"), st.integers(0, 100), st.floats(0, 1000)), min_size=1, max_size=60
)
weights = st.tuples(*[st.sampled_from([-1.0, 0.0, 0.5, 1.0, 3.0])] * 4)


@given(shards=shards, weights=weights, at_most=st.integers(1, 80), room=st.integers(0, 500))
def test_a_rebalance_moves_each_shard_once_within_limits_and_towards_the_shares(
    shards: list[tuple[str, int, float]], weights: tuple[float, ...], at_most: int, room: int
) -> None:
    shard_map = make_map(
        {n: server for n, (server, _, _) in enumerate(shards)}, **dict(zip("abcd", weights, strict=True))
    )
    uses = [ShardUse(n, *each) for n, each in enumerate(shards)]
    takers = {name for name, weight in zip("abcd", weights, strict=True) if weight > 0}

    plan = plan_rebalance(
        shard_map, uses, basis="size", limits=Limits(shards=at_most, room_bytes={"a": room})
    )

    assert max(Counter(each.shard for each in plan.relocations).values(), default=1) == 1
    assert len(plan.relocations) <= at_most
    assert sum(each.size_bytes for each in plan.relocations if each.target == "a") <= room
    assert {each.target for each in plan.relocations} | {each.source for each in plan.relocations} <= takers
    assert all(shard_map.owners[each.shard] == each.source != each.target for each in plan.relocations)
    if any(use.size_bytes for use in uses):
        total = sum(plan.before[name].size_bytes for name in takers)
        share = {name: total * shard_map.servers[name].weight for name in takers}
        whole = sum(shard_map.servers[name].weight for name in takers)

        def worst(which: str) -> float:
            found = plan.before if which == "before" else plan.after
            return max((abs(found[name].size_bytes - share[name] / whole) for name in takers), default=0.0)

        assert worst("after") <= worst("before") + 1e-6


@given(shards=shards, server=st.sampled_from("abcd"))
def test_a_drained_server_is_empty_and_the_others_get_shares_of_it(
    shards: list[tuple[str, int, float]], server: str
) -> None:
    shard_map = make_map({n: each[0] for n, each in enumerate(shards)}, a=1, b=1, c=2, d=1)

    plan = plan_drain(shard_map, [ShardUse(n, *each) for n, each in enumerate(shards)], server)

    assert plan.after[server].shards == 0
    assert {each.source for each in plan.relocations} <= {server}
    assert sum(shards_after(plan).values()) == len(shards)


@given(sizes=st.lists(st.integers(0, 1000), min_size=2, max_size=60))
def test_the_halves_of_a_split_differ_by_one_shard_at_most(sizes: list[int]) -> None:
    shard_map = make_map(dict.fromkeys(range(len(sizes)), "a"), a=1, b=1)

    plan = plan_split(shard_map, [ShardUse(n, "a", size) for n, size in enumerate(sizes)], "a", "b")

    difference = plan.after["a"].size_bytes - plan.after["b"].size_bytes
    assert abs(difference) <= max(sizes)


def test_thousands_of_shards_are_planned() -> None:
    shard_map = make_map({n: "abc"[n % 3] for n in range(8192)}, a=1, b=1, c=1, d=1)
    uses = [
        ShardUse(n, server, (n * 7919) % 1000 * GB, float(n % 13)) for n, server in shard_map.owners.items()
    ]

    plan = plan_rebalance(shard_map, uses)

    sizes = [use.size_bytes for use in plan.after.values()]
    assert max(sizes) < 1.3 * min(sizes)
    assert len(plan.relocations) < 2600
