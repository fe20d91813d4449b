"""Takes migrations to many targets: servers in parallel, a few connections each, one target alone first.

The first target goes alone, so that a migration that cannot work fails in one place instead of in as many as
there are connections. After a failure nothing new is started; what is under way finishes.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import Sequence
from functools import partial
from typing import Literal

import asyncpg

from shardwright.errors import ServerUnavailable, ShardwrightError
from shardwright.migrating.applying import Applier
from shardwright.migrating.connecting import CONNECTION_FAULTS, Connection, connected, in_parallel
from shardwright.migrating.files import Folder, Kind
from shardwright.migrating.pace import Pace
from shardwright.migrating.report import OnProgress, Outcome, Progress, Report, describe
from shardwright.migrating.targets import Target
from shardwright.topology import ShardMap

# A backend keeps what it has read of every table it ever touched: 0.2 MB and more for each shard.
TARGETS_PER_CONNECTION = 50


class Rollout:
    """One run over targets that lack something; `report` grows as it goes."""

    def __init__(
        self,
        shard_map: ShardMap,
        folder: Folder,
        pace: Pace,
        *,
        keep_going: bool,
        on_progress: OnProgress | None,
    ) -> None:
        self.report = Report()
        self._servers = shard_map.servers
        self._pace = pace
        self._keep_going = keep_going
        self._on_progress = on_progress
        self._total = 0
        self._is_stopped = False
        builds: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        kinds: tuple[Kind, Kind] = ("server", "shard")
        self._appliers = {
            (name, kind): Applier(folder.of(kind), pace, builds[name])
            for name in self._servers
            for kind in kinds
        }

    async def run(self, targets: Sequence[Target]) -> None:
        """Every target has every migration, or the report says why not."""
        self._total = len(targets)
        for kind in ("server", "shard"):
            of_kind = [target for target in targets if target.kind == kind]
            await self._work(of_kind[:1])
            await self._work(of_kind[1:])

    async def _work(self, targets: Sequence[Target]) -> None:
        queues: defaultdict[str, deque[Target]] = defaultdict(deque)
        for target in targets:
            queues[target.server].append(target)
        await in_parallel(
            self._worker(server, queue)
            for server, queue in queues.items()
            for _ in range(min(self._pace.per_server, len(queue)))
        )
        self.report.not_started.extend(target for queue in queues.values() for target in queue)

    async def _worker(self, server: str, queue: deque[Target]) -> None:
        while queue and not self._is_stopped:
            try:
                async with connected(self._servers[server]) as connection:
                    await self._stretch(connection, queue)
            except ServerUnavailable as fault:
                while queue:
                    self._fail(Outcome(queue.popleft()), fault)

    async def _stretch(self, connection: Connection, queue: deque[Target]) -> None:
        """Targets over one connection, until it is worn out, broken or there are no more."""
        for _ in range(TARGETS_PER_CONNECTION):
            if not queue or self._is_stopped:
                return
            outcome = Outcome(queue.popleft())
            try:
                applier = self._appliers[server_and_kind(outcome.target)]
                await applier.bring_up(connection, outcome.target, partial(self._tell, outcome))
            except (ShardwrightError, asyncpg.PostgresError, *CONNECTION_FAULTS) as fault:
                self._fail(outcome, fault)
                return
            self.report.outcomes.append(outcome)
            self._announce("finished", outcome.target, "")

    def _fail(self, outcome: Outcome, fault: Exception) -> None:
        outcome.error = describe(fault)
        self._is_stopped = self._is_stopped or not self._keep_going
        self.report.outcomes.append(outcome)
        self._announce("failed", outcome.target, outcome.error)

    def _tell(self, outcome: Outcome, what: Literal["applied", "waited"], detail: str) -> None:
        if what == "applied":
            outcome.applied.append(detail)
        self._announce(what, outcome.target, detail)

    def _announce(
        self, what: Literal["applied", "waited", "finished", "failed"], target: Target, detail: str
    ) -> None:
        if self._on_progress is not None:
            self._on_progress(Progress(what, target, detail, len(self.report.outcomes), self._total))


def server_and_kind(target: Target) -> tuple[str, Kind]:
    """What an applier is shared by."""
    return target.server, target.kind
