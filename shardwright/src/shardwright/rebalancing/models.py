"""What shards and servers use, and which shards a plan relocates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from shardwright.topology import ShardMap

Basis = Literal["both", "size", "load", "count"]
"""What is spread evenly: bytes, rows read and written a second, half of each, or the number of shards."""


@dataclass(frozen=True)
class ShardUse:
    """What one shard uses of its server."""

    number: int
    server: str
    size_bytes: int = 0
    rows_per_s: float = 0.0
    """Rows that were read and written a second."""


@dataclass(frozen=True)
class Relocation:
    """A shard that a plan moves to another server."""

    shard: int
    source: str
    target: str
    size_bytes: int


@dataclass(frozen=True)
class Limits:
    """How much a plan may move."""

    shards: int | None = None
    size_bytes: int | None = None
    room_bytes: Mapping[str, int] = field(default_factory=dict[str, int])
    """How much each server has room for, by name; others have enough."""


@dataclass(frozen=True)
class ServerUse:
    """What the shards of a server use together."""

    shards: int = 0
    size_bytes: int = 0
    rows_per_s: float = 0.0


@dataclass(frozen=True)
class Plan:
    """Relocations of shards, with what servers use before and after them."""

    shard_map: ShardMap
    uses: Sequence[ShardUse]
    relocations: Sequence[Relocation]
    refused: Sequence[str] = ()
    """Why something that was wanted is not in the plan."""

    @property
    def size_bytes(self) -> int:
        """How much is copied."""
        return sum(each.size_bytes for each in self.relocations)

    @cached_property
    def before(self) -> dict[str, ServerUse]:
        """What each server uses now."""
        return _by_server(self.shard_map, self.uses, {})

    @cached_property
    def after(self) -> dict[str, ServerUse]:
        """What each server uses when the plan is carried out."""
        return _by_server(self.shard_map, self.uses, {each.shard: each.target for each in self.relocations})


def _by_server(
    shard_map: ShardMap, uses: Sequence[ShardUse], moved: Mapping[int, str]
) -> dict[str, ServerUse]:
    held: dict[str, list[ShardUse]] = {name: [] for name in sorted(shard_map.servers)}
    for use in uses:
        held[moved.get(use.number, use.server)].append(use)
    return {
        name: ServerUse(len(own), sum(use.size_bytes for use in own), sum(use.rows_per_s for use in own))
        for name, own in held.items()
    }
