"""The shard map: which server owns which shard, as a value.

A map never changes; the directory hands out a newer one. Routers read it on every statement, so it is plain
dictionaries, and everything that can be decided from it alone is decided here, without I/O.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from shardwright.errors import InvalidId, SetupInvalid
from shardwright.ids import MAX_SHARDS, Layout


@dataclass(frozen=True)
class Server:
    """A named PostgreSQL database that holds shards; its weight is its share of what is new."""

    name: str
    dsn: str = field(repr=False)  # it may hold a password, and maps end up in logs
    weight: float = 1.0
    accepts_new: bool = True


@dataclass(frozen=True)
class ShardMap:
    """One version of who owns what.

    `lookup_shards` is how many shards, counted from 0, share the lookup tables. It is settled once, with the
    first shards: more shards may come, and no key ever changes its shard.
    """

    version: int
    layout: Layout
    servers: Mapping[str, Server]
    owners: Mapping[int, str]
    weights: Mapping[int, float] = field(default_factory=dict[int, float])
    lookup_shards: int = 0

    def server_of(self, number: int) -> Server:
        """The server that owns a shard."""
        name = self.owners.get(number)
        if name is None:
            raise InvalidId(f"shard {number} is not in the map (version {self.version})")
        return self.servers[name]

    def lookup_shard(self, key: str | bytes) -> int:
        """The shard that holds a lookup key; the same for ever."""
        if not self.lookup_shards:
            raise SetupInvalid("no shard exists yet to look keys up in: add shards first")
        return hash_key(key) % self.lookup_shards

    def shards_on(self, server: str) -> list[int]:
        """The shards a server owns, in order."""
        return sorted(number for number, owner in self.owners.items() if owner == server)

    def weight_of(self, number: int) -> float:
        """A shard's share of its server's new tenants; 0 closes it to them."""
        return self.weights.get(number, 1.0)

    def with_server(self, server: Server) -> "ShardMap":
        """A map that knows a server, or knows it better."""
        return replace(self, servers={**self.servers, server.name: server})

    def with_owner(self, server: str, *numbers: int) -> "ShardMap":
        """A map in which a server owns these shards, new or moved."""
        return replace(self, owners={**self.owners, **dict.fromkeys(numbers, server)})

    def with_owners(self, owners: Mapping[int, str]) -> "ShardMap":
        """A map in which each of these shards has the owner given."""
        return replace(self, owners={**self.owners, **owners})

    def with_weight(self, number: int, weight: float) -> "ShardMap":
        """A map in which a shard takes more, fewer or (0) no new tenants."""
        return replace(self, weights={**self.weights, number: weight})

    def with_dsns(self, dsns: Mapping[str, str]) -> "ShardMap":
        """The same map, reached by other addresses: those of the caller, say with passwords in them."""
        known = {name: dsn for name, dsn in dsns.items() if name in self.servers}
        servers = {name: replace(self.servers[name], dsn=dsn) for name, dsn in known.items()}
        return replace(self, servers={**self.servers, **servers})


def hash_key(key: str | bytes) -> int:
    """The stable hash behind lookup tables: the first four bytes of SHA-256 of the key's UTF-8.

    SHA-256 because PostgreSQL and every other language have it too: `shardwright.lookup_shard` in SQL agrees.
    """
    raw = key.encode() if isinstance(key, str) else key
    return int.from_bytes(hashlib.sha256(raw).digest()[:4])


def check_map(new: ShardMap, old: ShardMap) -> None:
    """Refuse a change that would lose shards, misplace lookup keys or name servers nobody knows."""
    if new.layout != old.layout:
        raise SetupInvalid("the layout of ids is settled when the directory is created")
    if old.lookup_shards not in (0, new.lookup_shards):
        raise SetupInvalid("the number of lookup shards is settled with the first shards")
    if lost := old.owners.keys() - new.owners.keys():
        raise SetupInvalid(f"shards cannot leave the map, ids name them: {_some(lost)}")
    if strange := set(new.owners.values()) - new.servers.keys():
        raise SetupInvalid(f"shards cannot be placed on unknown servers: {_some(strange)}")
    if wrong := [number for number in new.owners if not 0 <= number < MAX_SHARDS]:
        raise SetupInvalid(f"shard numbers run from 0 to {MAX_SHARDS - 1}, not {_some(wrong)}")


def _some(items: Iterable[object]) -> str:
    shown = sorted(str(item) for item in items)
    return ", ".join(shown[:5]) + (" …" if len(shown) > 5 else "")  # noqa: PLR2004  # enough to recognise them
