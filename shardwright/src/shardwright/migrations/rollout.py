"""Rolls migrations out to many targets: servers in parallel, a few connections each, one target alone first.

The first target goes alone (a canary), so that a migration that cannot work fails once instead of on every
connection. After a failure no further target is started; those in progress finish.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import Sequence
from functools import partial
from typing import Literal

import asyncpg

from shardwright.errors import ServerUnavailable, ShardwrightError
from shardwright.migrations.applier import Applier
from shardwright.migrations.connections import CONNECTION_ERRORS, Connection, in_parallel, open_connection
from shardwright.migrations.files import Folder, Kind
from shardwright.migrations.options import MigratorOptions
from shardwright.migrations.report import OnProgress, Outcome, Progress, Report, describe
from shardwright.migrations.targets import Target
from shardwright.topology import ShardMap

# A backend's catalog cache keeps every table it ever touched: 0.2 MB and more for each shard.
TARGETS_PER_CONNECTION = 50


class Rollout:
    """One run over targets with pending migrations; `report` is updated as it goes."""

    def __init__(
        self,
        shard_map: ShardMap,
        folder: Folder,
        options: MigratorOptions,
        *,
        keep_going: bool,
        on_progress: OnProgress | None,
    ) -> None:
        self.report = Report()
        self._servers = shard_map.servers
        self._options = options
        self._keep_going = keep_going
        self._on_progress = on_progress
        self._total = 0
        self._is_stopped = False
        builds: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        kinds: tuple[Kind, Kind] = ("server", "shard")
        self._appliers = {
            (name, kind): Applier(folder.of(kind), options, builds[name])
            for name in self._servers
            for kind in kinds
        }

    async def run(self, targets: Sequence[Target]) -> None:
        """Apply all pending migrations; failures are in the report."""
        self._total = len(targets)
        for kind in ("server", "shard"):
            of_kind = [target for target in targets if target.kind == kind]
            await self._run_batch(of_kind[:1])
            await self._run_batch(of_kind[1:])

    async def _run_batch(self, targets: Sequence[Target]) -> None:
        queues: defaultdict[str, deque[Target]] = defaultdict(deque)
        for target in targets:
            queues[target.server].append(target)
        await in_parallel(
            self._worker(server, queue)
            for server, queue in queues.items()
            for _ in range(min(self._options.per_server, len(queue)))
        )
        self.report.not_started.extend(target for queue in queues.values() for target in queue)

    async def _worker(self, server: str, queue: deque[Target]) -> None:
        while queue and not self._is_stopped:
            try:
                async with open_connection(self._servers[server]) as connection:
                    await self._migrate_queue(connection, queue)
            except ServerUnavailable as error:
                while queue:
                    self._fail(Outcome(queue.popleft()), error)

    async def _migrate_queue(self, connection: Connection, queue: deque[Target]) -> None:
        """Migrate targets over one connection, until it is to be replaced, broken, or the queue is empty."""
        for _ in range(TARGETS_PER_CONNECTION):
            if not queue or self._is_stopped:
                return
            outcome = Outcome(queue.popleft())
            try:
                applier = self._appliers[server_and_kind(outcome.target)]
                await applier.apply_pending(connection, outcome.target, partial(self._on_step, outcome))
            except (ShardwrightError, asyncpg.PostgresError, *CONNECTION_ERRORS) as error:
                self._fail(outcome, error)
                return
            self.report.outcomes.append(outcome)
            self._report("finished", outcome.target, "")

    def _fail(self, outcome: Outcome, error: Exception) -> None:
        outcome.error = describe(error)
        self._is_stopped = self._is_stopped or not self._keep_going
        self.report.outcomes.append(outcome)
        self._report("failed", outcome.target, outcome.error)

    def _on_step(self, outcome: Outcome, what: Literal["applied", "waited"], detail: str) -> None:
        if what == "applied":
            outcome.applied.append(detail)
        self._report(what, outcome.target, detail)

    def _report(
        self, what: Literal["applied", "waited", "finished", "failed"], target: Target, detail: str
    ) -> None:
        if self._on_progress is not None:
            self._on_progress(Progress(what, target, detail, len(self.report.outcomes), self._total))


def server_and_kind(target: Target) -> tuple[str, Kind]:
    """The key of a target's applier."""
    return target.server, target.kind
