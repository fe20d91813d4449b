"""The shard map: which server owns which shard, as an immutable value.

A change makes a new map with a higher version. Routers read it on every statement, so it consists of plain
dictionaries; everything that follows from it alone is computed here, without I/O.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import urlunsplit

from shardwright.errors import InvalidId, SetupInvalid
from shardwright.ids import MAX_SHARDS, Layout, schema_name
from shardwright.topology.host_list import split_url

ANY_OTHER = "*"
"""Among addresses by the name of the server: whose user and password to use for servers that are not named."""


@dataclass(frozen=True)
class Server:
    """A named PostgreSQL database that holds shards; its weight is its share of new tenants and new shards."""

    name: str
    dsn: str = field(repr=False)  # it may hold a password, and maps end up in logs
    weight: float = 1.0
    accepts_new: bool = True
    replicas: tuple[str, ...] = field(default=(), repr=False)  # their addresses, see `replica_dsn`


@dataclass(frozen=True)
class ShardMap:
    """One version of the shard map.

    `lookup_shards` is how many shards, counted from 0, hold the lookup tables. It is fixed with the first shards:
    shards may be added later, and no lookup key ever changes its shard.
    """

    version: int
    layout: Layout
    servers: Mapping[str, Server]
    owners: Mapping[int, str]
    weights: Mapping[int, float] = field(default_factory=dict[int, float])
    lookup_shards: int = 0

    def get_server(self, name: str) -> Server:
        """The server of this name; raises when there is none."""
        if name not in self.servers:
            raise SetupInvalid(
                f"there is no server {name!r} in the map: it knows {', '.join(sorted(self.servers))}"
            )
        return self.servers[name]

    def server_of(self, number: int) -> Server:
        """The server that owns a shard."""
        name = self.owners.get(number)
        if name is None:
            raise InvalidId(f"shard {number} is not in the map (version {self.version})")
        return self.servers[name]

    def lookup_shard(self, key: str | bytes) -> int:
        """The shard of a lookup key; it never changes."""
        if not self.lookup_shards:
            raise SetupInvalid("there are no shards for lookup keys yet: add shards first")
        return hash_key(key) % self.lookup_shards

    def shards_on(self, server: str) -> list[int]:
        """The shards a server owns, in order."""
        return sorted(number for number, owner in self.owners.items() if owner == server)

    def weight_of(self, number: int) -> float:
        """A shard's share of its server's new tenants; 0 means none."""
        return self.weights.get(number, 1.0)

    def with_server(self, server: Server) -> "ShardMap":
        """A map with this server added or replaced."""
        return replace(self, servers={**self.servers, server.name: server})

    def without_server(self, name: str) -> "ShardMap":
        """A map that does not know this server."""
        return replace(self, servers={each: server for each, server in self.servers.items() if each != name})

    def with_replicas(self, server: str, *addresses: str) -> "ShardMap":
        """A map in which the server has the replicas at these addresses, and no others."""
        return self.with_server(replace(self.servers[server], replicas=addresses))

    def with_owner(self, server: str, *numbers: int) -> "ShardMap":
        """A map in which the server owns these shards, new or moved."""
        return replace(self, owners={**self.owners, **dict.fromkeys(numbers, server)})

    def with_owners(self, owners: Mapping[int, str]) -> "ShardMap":
        """A map with these owners of shards."""
        return replace(self, owners={**self.owners, **owners})

    def with_weight(self, number: int, weight: float) -> "ShardMap":
        """A map in which a shard gets more, fewer or (0) no new tenants."""
        return replace(self, weights={**self.weights, number: weight})

    def with_dsns(self, dsns: Mapping[str, str]) -> "ShardMap":
        """The same map with other server addresses, such as ones that contain passwords; see `choose_dsn`."""
        if not dsns:
            return self
        return replace(
            self,
            servers={
                name: replace(server, dsn=choose_dsn(name, server.dsn, dsns))
                for name, server in self.servers.items()
            },
        )


def choose_dsn(name: str, dsn: str, dsns: Mapping[str, str]) -> str:
    """The address of a server: the one given for its name, else the map's with the user and password of `*`.

    So a process can reach a server that was added to the map after it has started. An address in the map that has a
    password of its own, or is no URL, stays as it is.
    """
    if name in dsns or ANY_OTHER not in dsns:
        return dsns.get(name, dsn)
    parts = split_url(dsn)
    if not parts.scheme or parts.password is not None:
        return dsn
    login = split_url(dsns[ANY_OTHER]).netloc.rpartition("@")[0]
    return urlunsplit(parts._replace(netloc=f"{login}@{parts.netloc.rpartition('@')[2]}"))


def search_path(number: int) -> str:
    """The search_path of statements on a shard: its tables, those of the server, then functions and extensions."""
    return f"{schema_name(number)}, common, shardwright, public"


def hash_key(key: str | bytes) -> int:
    """The stable hash of a lookup key: the first four bytes of SHA-256 of its UTF-8.

    SHA-256 because PostgreSQL and every other language have it too: `shardwright.lookup_shard` in SQL is the same.
    """
    raw = key.encode() if isinstance(key, str) else key
    return int.from_bytes(hashlib.sha256(raw).digest()[:4])


def check_map(new: ShardMap, old: ShardMap) -> None:
    """Refuse a change that would lose shards, move lookup keys or name unknown servers."""
    if new.layout != old.layout:
        raise SetupInvalid("the id layout is fixed when the directory is created")
    if old.lookup_shards not in (0, new.lookup_shards):
        raise SetupInvalid("the number of lookup shards is fixed with the first shards")
    if lost := old.owners.keys() - new.owners.keys():
        raise SetupInvalid(f"shards cannot be removed from the map, ids refer to them: {_some(lost)}")
    if strange := set(new.owners.values()) - new.servers.keys():
        raise SetupInvalid(f"shards cannot be placed on unknown servers: {_some(strange)}")
    if wrong := [number for number in new.owners if not 0 <= number < MAX_SHARDS]:
        raise SetupInvalid(f"shard numbers run from 0 to {MAX_SHARDS - 1}, not {_some(wrong)}")


def _some(items: Iterable[object]) -> str:
    shown = sorted(str(item) for item in items)
    return ", ".join(shown[:5]) + (" …" if len(shown) > 5 else "")  # noqa: PLR2004  # enough to recognise them
