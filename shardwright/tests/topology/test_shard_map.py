"""The shard map as a value: lookup, placement and validation of changes."""

import hashlib
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shardwright.errors import InvalidId, SetupInvalid
from shardwright.ids import Layout
from shardwright.topology import Placer, Server, ShardMap, hash_key
from shardwright.topology.placement import spread_shards
from shardwright.topology.shard_map import check_map

SERVERS = {"a": Server("a", "dsn-a"), "b": Server("b", "dsn-b", weight=3.0)}


def make_map(shards: int = 8, **changes: object) -> ShardMap:
    owners = {number: "ab"[number % 2] for number in range(shards)}
    fields: dict[str, object] = {
        "version": 1,
        "layout": Layout(),
        "servers": SERVERS,
        "owners": owners,
        "lookup_shards": shards,
    }
    return ShardMap(**(fields | changes))  # type: ignore[arg-type]  # a shorthand for tests


def test_the_hash_of_a_key_never_changes() -> None:
    assert hash_key("ana") == 0x24D4B96F
    assert hash_key("") == 0xE3B0C442
    assert hash_key("zoë") == hash_key("zoë".encode())


@given(st.text())
def test_the_hash_of_a_key_is_the_start_of_its_sha256(key: str) -> None:
    assert f"{hash_key(key):08x}" == hashlib.sha256(key.encode()).hexdigest()[:8]


@given(st.text(), st.integers(1, 64), st.integers(0, 64))
def test_adding_shards_moves_no_lookup_key(key: str, first: int, more: int) -> None:
    small = make_map(first)
    grown = small.with_owner("a", *range(first, first + more))

    assert grown.lookup_shard(key) == small.lookup_shard(key)


def test_lookup_keys_need_shards() -> None:
    with pytest.raises(SetupInvalid, match="add shards"):
        make_map(0).lookup_shard("ana")


def test_a_shard_outside_the_map_has_no_server() -> None:
    with pytest.raises(InvalidId, match="shard 9 is not in the map"):
        make_map(8).server_of(9)


def test_a_map_does_not_show_passwords() -> None:
    assert "dsn-a" not in repr(make_map())


def test_addresses_of_the_caller_replace_those_of_the_map() -> None:
    reached = make_map().with_dsns({"a": "mine", "z": "nobody"})

    assert (reached.servers["a"].dsn, reached.servers["b"].dsn) == ("mine", "dsn-b")
    assert "z" not in reached.servers


def test_servers_that_the_caller_does_not_name_are_signed_in_to_as_the_caller_says() -> None:
    given = {"a": "postgresql://app:secret@a/app", "*": "postgresql://app:secret@"}
    found = {
        "a": "postgresql://other@elsewhere/app",
        "b": "postgresql://reader@b:5433/app?sslmode=require",
        "c": "postgresql://c/app",
        "d": "postgresql://own:password@d/app",
        "e": "host=e dbname=app",
    }
    known = make_map(servers={name: Server(name, dsn) for name, dsn in found.items()}).with_dsns(given)

    assert {name: server.dsn for name, server in known.servers.items()} == {
        "a": "postgresql://app:secret@a/app",
        "b": "postgresql://app:secret@b:5433/app?sslmode=require",
        "c": "postgresql://app:secret@c/app",
        "d": "postgresql://own:password@d/app",
        "e": "host=e dbname=app",
    }


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        (make_map(8, layout=Layout(1_700_000_000_000)), "layout"),
        (make_map(8, lookup_shards=9), "lookup shards"),
        (make_map(7, lookup_shards=8), "cannot be removed"),
        (make_map(8).with_owner("z", 3), "unknown servers"),
        (make_map(8).with_owner("a", 8192), "0 to 8191"),
    ],
)
def test_a_change_that_loses_something_is_refused(changed: ShardMap, reason: str) -> None:
    with pytest.raises(SetupInvalid, match=reason):
        check_map(changed, make_map(8))


def test_tenants_are_placed_in_proportion_to_weights() -> None:
    placer = Placer(make_map(8).with_weight(1, 3.0))
    placed = Counter(placer.place() for _ in range(10_000))

    on_a = sum(count for number, count in placed.items() if number % 2 == 0)
    assert 2_450 <= on_a <= 2_550  # weight 1 of 4
    assert placed[1] == pytest.approx(3 * placed[3], rel=0.05)


@given(st.floats(0, 1, exclude_max=True), st.integers(1, 60))
def test_few_tenants_are_spread_evenly_already(start: float, shards: int) -> None:
    even = make_map(
        shards, servers={"a": Server("a", ""), "b": Server("b", "")}, owners=dict.fromkeys(range(shards), "a")
    )
    placer = Placer(even, start=start)
    placed = Counter(placer.place() for _ in range(shards * 4))

    assert max(placed.values()) <= 7


def test_closed_shards_and_servers_get_no_tenants() -> None:
    closed = make_map(8).with_server(Server("b", "", accepts_new=False)).with_weight(0, 0.0)
    placer = Placer(closed)

    assert {placer.place() for _ in range(1_000)} == {2, 4, 6}


def test_placing_without_an_open_shard_is_refused() -> None:
    with pytest.raises(SetupInvalid, match="no shard accepts"):
        Placer(make_map(0)).place()
    with pytest.raises(SetupInvalid, match="no server accepts"):
        spread_shards(make_map(0, servers={}), [1])


def test_new_shards_go_to_servers_below_their_weight() -> None:
    placed = spread_shards(make_map(0), list(range(40)))

    assert Counter(placed.values()) == {"a": 10, "b": 30}
