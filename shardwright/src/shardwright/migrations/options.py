"""Limits of a migrator: lock and statement timeouts, attempts, concurrency."""

from __future__ import annotations

from dataclasses import dataclass

from shardwright.errors import MigrationRefused


@dataclass(frozen=True)
class MigratorOptions:
    """Timeouts and limits of a migrator.

    Every statement on a table queues behind a lock that a migration is waiting for. So a migration waits only
    `lock_timeout_ms` and retries up to `attempts` times, with growing, random pauses. A shard that another
    migrator is working on is waited for, up to `busy_timeout_s`.
    """

    per_server: int = 4
    lock_timeout_ms: int = 250
    statement_timeout: str = "5min"
    attempts: int = 40
    busy_timeout_s: float = 3600.0

    def __post_init__(self) -> None:
        if self.per_server < 1 or self.attempts < 1:
            raise MigrationRefused("a migrator needs at least one connection per server and one attempt")
