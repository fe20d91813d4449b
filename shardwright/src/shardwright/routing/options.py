"""Options of a router: pool sizes, timeouts, circuit breaker."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shardwright.errors import SetupInvalid

if TYPE_CHECKING:
    from asyncpg import Connection

OVERDUE_AFTER_S = 1.0  # how long after the server's own statement_timeout a connection is given up
MAINTAIN_S = 1.0  # how often that is checked


@dataclass(frozen=True)
class PoolOptions:
    """Limits per server and process.

    A PostgreSQL backend caches the tables and prepared statements of every shard that it has touched, a megabyte and
    more per shard, and never frees them. So shards are partitioned among groups of a few connections: none touches
    more than its group's shards nor more than `shards_per_connection`, and one that would is replaced; so is one that
    has grown beyond `max_backend_bytes`. Gathers read few tables of many shards and have connections of their own.
    """

    max_connections: int = 16
    spare_connections: int = 4  # beyond the maximum, for shards whose connections are all busy
    connections_per_group: int = 4  # fewer groups share their connections better, more keep backends smaller
    shards_per_connection: int = 128
    hot_bytes: int = 16 * 2**20  # of a backend's memory for statements kept prepared for one shard each
    gather_connections: int = 2
    shards_per_gather_connection: int = 2048
    connect_timeout_s: float = 5.0
    deadline_s: float = (
        20.0  # of a whole call: acquiring, retries, waiting for a moved shard and the statement
    )
    acquire_timeout_s: float = 5.0  # how long a call waits for connections, in all its attempts together
    statement_timeout_s: float = 10.0
    gather_deadline_s: float = 3.0
    idle_in_transaction_s: float = 60.0
    not_owner_wait_s: float = 5.0  # how long a write waits for a shard that is being moved
    idle_s: float = 120.0
    max_age_s: float = 1800.0
    max_backend_bytes: int = 64 * 2**20  # 0: a backend may grow as it likes
    breaker_failures: int = 5
    breaker_cooldown_s: float = 1.0
    unknown_shard_refresh_s: float = 0.25  # at most this often, ids of unknown shards make the map be loaded
    poll_s: float = 30.0  # how often to poll for a newer map, where notifications do not arrive
    replica_wait_s: float = 0.05  # how long a read waits for a replica that is a moment behind it
    replica_lag_limit_s: float = 10.0  # replicas further behind are left out until they catch up
    replica_probe_s: float = 1.0  # how often replicas are asked how far they are, while they are in use
    application_name: str = "shardwright"
    setup: "Callable[[Connection], Awaitable[None]] | None" = (
        None  # called for each new connection, to set type codecs for example
    )

    @property
    def timer_s(self) -> float | None:
        """The default deadline, where a call needs a timer of its own for it; None where other limits come first."""
        others_s = self.acquire_timeout_s + self.statement_timeout_s + OVERDUE_AFTER_S + MAINTAIN_S
        return None if self.deadline_s >= others_s else self.deadline_s

    def __post_init__(self) -> None:
        wrong = [name for name, value in vars(self).items() if isinstance(value, int | float) and value < 0]
        at_least_one = (
            "max_connections",
            "connections_per_group",
            "shards_per_connection",
            "gather_connections",
        )
        wrong += [name for name in at_least_one if getattr(self, name) < 1]
        wrong += [name for name in ("deadline_s", "replica_probe_s") if not getattr(self, name)]
        if wrong:
            raise SetupInvalid(f"too small: {', '.join(sorted(set(wrong)))}")
