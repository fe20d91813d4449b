"""Drift detection: finds shards at the same version whose catalogs differ, and the differences.

Each server hashes its shards' catalogs itself; the facts themselves are fetched only for shards whose hash differs
from the majority's, and for one shard of the majority. Shards at different versions, of the migrations or of the
library's own SQL, are not compared: they are behind, which is not drift. Nor is a shard that has a superseded migration
compared with one that never got it, until it is repaired.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from shardwright.migrations.catalog import Fact, hash_facts, read_facts
from shardwright.migrations.connections import in_parallel, open_connection
from shardwright.migrations.files import Kind
from shardwright.migrations.targets import Target
from shardwright.topology import LIBRARY_VERSION, ShardMap, read_library_versions

# A backend never frees its catalog cache: half a megabyte for each shard of 40 tables.
_SCHEMAS_PER_QUERY = 100
_QUERIES_PER_SERVER = 2

Hashes = Mapping[Target, str]
Libraries = dict[Target, int]


@dataclass(frozen=True)
class Difference:
    """A difference between a target and the majority (or the replay); None where the object is missing."""

    target: Target
    what: str
    expected: str | None
    found: str | None

    def __str__(self) -> str:
        if self.found is None:
            return f"{self.target}: {self.what} is missing: {self.expected}"
        if self.expected is None:
            return f"{self.target}: {self.what} exists here but not elsewhere: {self.found}"
        return f"{self.target}: {self.what} is {self.found}, elsewhere {self.expected}"


async def find_drift(
    shard_map: ShardMap,
    versions: Mapping[Target, int | tuple[int, ...]],
    *,
    expected: Mapping[Kind, Sequence[Fact]] | None = None,
    up_to_date: Collection[Target] | None = None,
) -> list[Difference]:
    """Return the differences among targets of equal version, by default relative to the majority.

    `expected` holds the facts that a target of each kind must have if it is `up_to_date` (by default: all), those of a
    replay; then these are the reference, even when most shards differ from them.
    """
    libraries: Libraries = {}
    hashes = await _hash_all(shard_map, list(versions), libraries)
    groups: defaultdict[tuple[Kind, int | tuple[int, ...], int], list[Target]] = defaultdict(list)
    for target, version in versions.items():
        groups[target.kind, version, libraries.get(target, 0)].append(target)
    found: list[Difference] = []
    for (kind, _, library), targets in groups.items():
        # A replay has the library's newest SQL; shards that have not are compared with each other.
        has_newest_sql = kind == "server" or library == LIBRARY_VERSION
        is_newest = has_newest_sql and (up_to_date is None or targets[0] in up_to_date)
        found += await _compare(shard_map, targets, hashes, (expected or {}).get(kind) if is_newest else None)
    return found


async def _hash_all(shard_map: ShardMap, targets: Sequence[Target], libraries: Libraries) -> Hashes:
    """Hash the catalogs of all targets, and note which version of the library's own SQL each has."""
    turns = {name: asyncio.Semaphore(_QUERIES_PER_SERVER) for name in shard_map.servers}

    async def hash_on(server: str, some: Mapping[str, Target]) -> Hashes:
        async with turns[server], open_connection(shard_map.servers[server]) as connection:
            hashed = await hash_facts(connection, some)
            for schema, version in (await read_library_versions(connection, list(some))).items():
                libraries[some[schema]] = version
        return {some[schema]: value for schema, value in hashed.items()}

    batches = [
        (server, {target.schema: target for target in own[start:][:_SCHEMAS_PER_QUERY]})
        for server in shard_map.servers
        if (own := [target for target in targets if target.server == server])
        for start in range(0, len(own), _SCHEMAS_PER_QUERY)
    ]
    answers = await in_parallel(hash_on(server, some) for server, some in batches)
    return {target: value for answer in answers for target, value in answer.items()}


async def _compare(
    shard_map: ShardMap, targets: Sequence[Target], hashes: Hashes, expected: Sequence[Fact] | None
) -> list[Difference]:
    by_hash: defaultdict[str, list[Target]] = defaultdict(list)
    for target in targets:
        by_hash[hashes[target]].append(target)
    if len(by_hash) == 1 and expected is None:
        return []
    # On a tie, the set that includes the first target counts as the majority.
    sets = sorted(by_hash.values(), key=len, reverse=True)
    facts = [await _facts_of(shard_map, members[0]) for members in sets]
    wanted = facts[0] if expected is None else expected
    return [
        difference
        for members, found in zip(sets, facts, strict=True)
        for target in members
        for difference in differences(target, wanted, found)
    ]


async def _facts_of(shard_map: ShardMap, target: Target) -> Sequence[Fact]:
    async with open_connection(shard_map.servers[target.server]) as connection:
        return (await read_facts(connection, [target.schema]))[target.schema]


def differences(target: Target, expected: Sequence[Fact], found: Sequence[Fact]) -> Iterator[Difference]:
    """The differences between the facts of a target and those it should have."""
    wanted = {str(fact): fact.detail for fact in expected}
    present = {str(fact): fact.detail for fact in found}
    for what in sorted(wanted.keys() | present.keys()):
        if wanted.get(what) != present.get(what):
            yield Difference(target, what, wanted.get(what), present.get(what))
    # A missing column shifts those after it; so only columns that both have are compared for order.
    order, own_order = _columns(expected, present.keys()), _columns(found, wanted.keys())
    for table in sorted(order.keys() & own_order.keys()):
        if order[table] != own_order[table]:
            what = f"order of the columns of {table}"
            yield Difference(target, what, ", ".join(order[table]), ", ".join(own_order[table]))


def _columns(facts: Sequence[Fact], known: Collection[str]) -> Mapping[str, list[str]]:
    columns: defaultdict[str, list[str]] = defaultdict(list)
    for fact in facts:
        if fact.kind == "column" and str(fact) in known:
            columns[fact.owner].append(fact.name)
    return columns
