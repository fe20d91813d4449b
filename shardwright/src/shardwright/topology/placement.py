"""Placement: new tenants onto shards and new shards onto servers, in proportion to weights."""

import random
from bisect import bisect_right
from collections import Counter
from itertools import accumulate

from shardwright.errors import SetupInvalid
from shardwright.topology.shard_map import Server, ShardMap

# Steps of the golden ratio fill the unit interval more evenly than chance: after n tenants no share is off by
# more than about log(n)/n, against 1/sqrt(n) for random draws, and routers need not talk to each other.
GOLDEN_STEP = 0.6180339887498949


class Placer:
    """Chooses shards for new tenants: servers by their weight, then shards by theirs."""

    def __init__(self, shard_map: ShardMap, *, start: float | None = None) -> None:
        shares = _shares(shard_map)
        self._numbers = list(shares)
        self._bounds = list(accumulate(shares.values()))
        # Each router starts at another point; for an even spread, not secrecy.
        self._point = random.random() if start is None else start  # noqa: S311 - jitter, not a secret

    def place(self) -> int:
        """Return the shard for the next tenant."""
        if not self._numbers:
            raise SetupInvalid("no shard accepts new tenants: add a server or shards, or raise a weight")
        self._point = (self._point + GOLDEN_STEP) % 1.0
        index = bisect_right(self._bounds, self._point * self._bounds[-1])
        return self._numbers[min(index, len(self._numbers) - 1)]


def _shares(shard_map: ShardMap) -> dict[int, float]:
    """Each shard's share of new tenants."""
    shares: dict[int, float] = {}
    for server in _open_servers(shard_map):
        numbers = shard_map.shards_on(server.name)
        total = sum(map(shard_map.weight_of, numbers))
        for number in numbers:
            if weight := shard_map.weight_of(number):
                shares[number] = server.weight * weight / total
    return shares


def spread_shards(shard_map: ShardMap, numbers: list[int]) -> dict[int, str]:
    """Assign each new shard to the server that is furthest below its weight."""
    servers = _open_servers(shard_map)
    if not servers:
        raise SetupInvalid("no server accepts new shards: add one, or let one accept them again")
    held = Counter(shard_map.owners.values())
    placed: dict[int, str] = {}
    for number in numbers:
        server = min(servers, key=lambda server: ((held[server.name] + 1) / server.weight, server.name))
        held[server.name] += 1
        placed[number] = server.name
    return placed


def _open_servers(shard_map: ShardMap) -> list[Server]:
    return [server for server in shard_map.servers.values() if server.accepts_new and server.weight > 0]
