"""What does not grow by adding more of the same, how many accounts it carries, and what to do then.

Every need is proportional to the number of accounts, so the share of a limit that is used tells where the wall stands.
"""

from typing import NamedTuple

from tintype.capacity.limits import (
    BACKENDS,
    EMBEDDED_REDIS_GB,
    LARGE_SHARD_GB,
    MAX_SHARDS,
    REDIS_CORES,
    REDIS_SHARE,
    SERVER_TB,
    STREAM_EVENTS_PER_S,
    UPLINK_GBIT_S,
)
from tintype.capacity.models import Assumptions, Wall
from tintype.capacity.sizing import Sizing

_NEVER = 10**15
"""Accounts that a wall carries which nothing leans on."""
_ADVICE = {
    "one machine": (
        "Spread over several machines (docs/operating.md, Several machines). Lookups never split, so an installation "
        "that may come here begins with shard_count = 512 or more."
    ),
    "embedded Redis": "Run a Redis or Valkey of your own with more memory, and name it in `redis`.",
    "files through Python": (
        "Let a cache in front answer more of them (deploy/nginx.conf), or a CDN that takes purges (media_purge_url), "
        "and raise media_edge_cache_s."
    ),
    "one PostgreSQL server": (
        "Add servers and move shards to them, on the live site: `tintype shards add-server`, then `rebalance`."
    ),
    "one Redis node": (
        "A node has one thread and one machine's memory: use a Redis or Valkey Cluster, where your release takes one "
        "in `redis` (docs/settings.md)."
    ),
    "database connections": (
        "Put PgBouncer in transaction mode in front of each server (deploy/pgbouncer), or lower postgres_connections."
    ),
    "one stream": (
        "One NATS server leads a stream: give it fast cores and disks. Beyond that events need several streams."
    ),
    "one place": "Serve files from a CDN, and later from several regions.",
    "13 shard bits": (
        "Ids can name 8,192 shards and no more: keep fewer rows, let shards grow large, or run several installations."
    ),
    "logical shards": (
        "More of them (shard_count, `tintype migrate`) take new people alone, and lookups keep the number of the first "
        "day: begin with as many as you may need one day."
    ),
}


class _Need(NamedTuple):
    name: str
    need: float
    limit: float
    unit: str

    @property
    def used(self) -> float:
        return self.need / self.limit


def find_walls(sizing: Sizing, given: Assumptions, *, shards: int = 0) -> tuple[Wall, ...]:
    """Every wall, in the order in which a growing site meets them; `shards`: of the installation that there is."""
    found = [_wall(sizing.users, need) for need in _needs(sizing, given, shards)]
    return tuple(sorted(found, key=lambda wall: wall.users))


def _needs(sizing: Sizing, given: Assumptions, shards: int) -> list[_Need]:
    rows_gb = sizing.storage.rows_tb * 1_000
    needs = [
        _Need("one machine", sizing.all_cores, given.machine_cores, "cores"),
        _Need("embedded Redis", sizing.redis_gb, EMBEDDED_REDIS_GB, "GB"),
        _Need("files through Python", sizing.file_cores, given.machine_cores, "cores"),
        _worse(
            _Need("one PostgreSQL server", sizing.cores["postgres"], given.machine_cores, "cores"),
            _Need("one PostgreSQL server", sizing.storage.rows_tb, SERVER_TB, "TB"),
        ),
        _worse(
            _Need("one Redis node", sizing.cores["redis"], REDIS_CORES, "cores"),
            _Need("one Redis node", sizing.redis_gb, given.machine_gb * REDIS_SHARE, "GB"),
        ),
        _Need("database connections", sizing.connections, BACKENDS, "backends a server"),
        _Need("one stream", sizing.events_per_s, STREAM_EVENTS_PER_S, "events/s"),
        _Need("one place", sizing.egress_gbit_s, UPLINK_GBIT_S, "Gbit/s"),
        _Need("13 shard bits", rows_gb / MAX_SHARDS, LARGE_SHARD_GB, "GB a shard"),
    ]
    return (
        [*needs, _Need("logical shards", rows_gb / shards, LARGE_SHARD_GB, "GB a shard")] if shards else needs
    )


def _worse(one: _Need, other: _Need) -> _Need:
    return one if one.used >= other.used else other


def _wall(users: int, need: _Need) -> Wall:
    return Wall(
        name=need.name,
        need=need.need,
        limit=need.limit,
        unit=need.unit,
        users=int(users / need.used) if need.used else _NEVER,
        is_passed=need.used > 1,
        advice=_ADVICE[need.name],
    )
