"""Rolls Django's migrations out to many shards: servers in parallel, a few threads each, one shard alone first.

The first shard goes alone (a canary), so that a migration that cannot work fails once. After a failure no further shard
is started; those in progress finish. Each shard records what it has in its own `django_migrations`: the next run
continues from there.
"""

import threading
from collections import defaultdict, deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Literal, cast

from django.db import Error, connections

from shardwright.django.backend.server_connections import close_full_connections
from shardwright.django.errors import ShardMoved
from shardwright.django.shard_migrations import migrate_shard, wanted_migrations
from shardwright.errors import ShardwrightError
from shardwright.migrations import MigratorOptions, OnProgress, Outcome, Progress, Report, Target

What = Literal["applied", "waited", "finished", "failed"]


class Rollout:
    """One run over shards; `report` is updated as it goes."""

    def __init__(
        self, options: MigratorOptions, *, keep_going: bool, on_progress: OnProgress | None = None
    ) -> None:
        self.report = Report()
        self._options = options
        self._keep_going = keep_going
        self._on_progress = on_progress
        self._total = 0
        self._is_stopped = False
        self._lock = threading.Lock()

    def run(self, targets: Sequence[Target]) -> None:
        """Migrate all shards; failures are in the report."""
        wanted_migrations()  # conflicts are found here, before anything is applied
        self._total = len(targets)
        self._run_batch(targets[:1])
        self._run_batch(targets[1:])

    def _run_batch(self, targets: Sequence[Target]) -> None:
        queues: defaultdict[str, deque[Target]] = defaultdict(deque)
        for target in targets:
            queues[target.server].append(target)
        workers = [
            queue for queue in queues.values() for _ in range(min(self._options.per_server, len(queue)))
        ]
        if not workers:
            return
        with ThreadPoolExecutor(len(workers)) as threads:
            for done in [threads.submit(self._work, queue) for queue in workers]:
                done.result()
        self.report.not_started.extend(target for queue in queues.values() for target in queue)

    def _work(self, queue: deque[Target]) -> None:
        try:
            while not self._is_stopped:
                try:
                    target = queue.popleft()
                except IndexError:
                    return  # another worker of the server took the last one
                self._migrate(Outcome(target))
                close_full_connections()
        finally:
            connections.close_all()

    def _migrate(self, outcome: Outcome) -> None:
        try:
            migrate_shard(cast("int", outcome.target.number), self._options, partial(self._on_step, outcome))
        except ShardMoved:
            self._finish(outcome, "the shard has moved to another server: run again with the latest map")
        except (ShardwrightError, Error) as error:
            self._finish(outcome, str(error).strip() or type(error).__name__)
        except Exception as error:  # noqa: BLE001 - a data migration may raise anything: report the shard and go on
            self._finish(outcome, repr(error))
        else:
            self._finish(outcome, None)

    def _finish(self, outcome: Outcome, error: str | None) -> None:
        with self._lock:
            outcome.error = error
            self.report.outcomes.append(outcome)
            self._is_stopped = self._is_stopped or (error is not None and not self._keep_going)
            self._tell("finished" if error is None else "failed", outcome.target, error or "")

    def _on_step(self, outcome: Outcome, what: str, detail: str) -> None:
        with self._lock:
            if what == "applied":
                outcome.applied.append(detail)
            self._tell(cast("What", what), outcome.target, detail)

    def _tell(self, what: What, target: Target, detail: str) -> None:
        if self._on_progress is not None:
            self._on_progress(Progress(what, target, detail, len(self.report.outcomes), self._total))
