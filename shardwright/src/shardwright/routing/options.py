"""Options of a router: pool sizes, timeouts, circuit breaker."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shardwright.errors import SetupInvalid

if TYPE_CHECKING:
    from asyncpg import Connection


@dataclass(frozen=True)
class PoolOptions:
    """Limits per server and process.

    A PostgreSQL backend caches about 0.2 MB for every shard whose tables it has touched and never frees it, so shards
    are partitioned among connections: none touches more than `shards_per_connection`, and one that would is replaced.
    Gathers read few tables of many shards and have a few connections of their own.
    """

    max_connections: int = 16
    spare_connections: int = 4  # beyond the maximum, for shards whose connections are all busy
    shards_per_connection: int = 128
    gather_connections: int = 2
    shards_per_gather_connection: int = 2048
    connect_timeout_s: float = 5.0
    acquire_timeout_s: float = 5.0
    statement_timeout_s: float = 10.0
    gather_deadline_s: float = 3.0
    idle_in_transaction_s: float = 60.0
    not_owner_wait_s: float = 5.0  # how long a write waits for a shard that is being moved
    idle_s: float = 120.0
    max_age_s: float = 1800.0
    breaker_failures: int = 5
    breaker_cooldown_s: float = 1.0
    poll_s: float = 30.0  # how often to poll for a newer map, where notifications do not arrive
    application_name: str = "shardwright"
    setup: "Callable[[Connection], Awaitable[None]] | None" = (
        None  # called for each new connection, to set type codecs for example
    )

    def __post_init__(self) -> None:
        wrong = [name for name, value in vars(self).items() if isinstance(value, int | float) and value < 0]
        at_least_one = ("max_connections", "shards_per_connection", "gather_connections")
        wrong += [name for name in at_least_one if getattr(self, name) < 1]
        if wrong:
            raise SetupInvalid(f"too small: {', '.join(sorted(set(wrong)))}")
