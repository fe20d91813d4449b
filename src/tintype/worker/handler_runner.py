"""Runs one handler on what has been delivered: one event a call or, where the handler takes many, what waits.

A batch is whatever has arrived by the time a call starts. An event after a pause does not wait for company; under load
a call that would not be full starts no sooner than `PACE_S` after the last one, because a handler writes a statement
per shard: ten events on sixteen shards cost nearly as much as a hundred. When a batch raises, its halves are handled by
themselves, and so on: a poisoned event costs a few more calls, and only it fails.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from time import perf_counter

from prometheus_client import Counter, Histogram

from tintype.base.jobs import MAX_BATCH, Handler
from tintype.base.log import begin_request, get_log
from tintype.base.tracebacks import describe_error
from tintype.worker.deliveries import Delivery, Failure

log = get_log("jobs")
jobs_done = Counter("tintype_jobs", "Jobs by handler and outcome.", ["handler", "outcome"])
job_seconds = Histogram("tintype_job_seconds", "How long a job took, or a batch of them.", ["handler"])

PACE_S = 0.25
"""The least time between the starts of two batches of a handler that are not full."""
Settle = Callable[[Delivery], Awaitable[None]]
"""Called once all handlers of a delivery have finished; never raises."""


class HandlerRunner:
    """Queues deliveries for one handler and runs it, at most `concurrency` calls at once."""

    def __init__(self, handler: Handler, *, pace_s: float = PACE_S) -> None:
        self.handler = handler
        self._waiting: deque[tuple[Delivery, Settle]] = deque()
        self._running: set[asyncio.Task[None]] = set()
        self._calls = 0
        self._pace_s = pace_s if handler.run_many else 0.0
        self._due_at = 0.0
        """When a batch that is not full may start, by the clock of the event loop."""
        self._timer: asyncio.TimerHandle | None = None
        self._is_finishing = False
        self._seconds = job_seconds.labels(handler.name)
        self._done = jobs_done.labels(handler.name, "done")

    @property
    def capacity(self) -> int:
        """How many events can be in its calls at once."""
        return self.handler.concurrency * (MAX_BATCH if self.handler.run_many else 1)

    def submit(self, delivery: Delivery, settle: Settle) -> None:
        """Handle a delivery soon."""
        self._waiting.append((delivery, settle))
        self._start_call()

    async def finish(self) -> None:
        """Wait until nothing waits or runs; what waits is handled without a pause."""
        self._is_finishing = True
        self._start_call()
        while self._running:
            await asyncio.wait(self._running)

    def _start_call(self) -> None:
        """Start a call, or the timer that does; not where as many run as may, which take what waits when they end."""
        # Not len(self._running): a task that has found nothing to do stays in there until the loop's next turn.
        if not self._waiting or self._calls >= self.handler.concurrency:
            return
        if self._begin_batch():
            self._calls += 1
            task = asyncio.create_task(self._work())
            self._running.add(task)
            task.add_done_callback(self._running.discard)
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_at(self._due_at, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        self._start_call()

    def _begin_batch(self) -> bool:
        """Whether what waits is handled now: it fills a batch, it is a retry, or the pause is over; begins one."""
        now, waiting = asyncio.get_running_loop().time(), self._waiting
        is_urgent = len(waiting) >= MAX_BATCH or waiting[0][0].is_single or self._is_finishing
        if not is_urgent and now < self._due_at:
            return False
        self._due_at = now + self._pace_s
        return True

    async def _work(self) -> None:
        try:
            while self._waiting:
                batch = self._take()
                await self._run([delivery for delivery, _ in batch])
                for delivery, settle in batch:
                    delivery.left -= 1
                    if delivery.left == 0:
                        await settle(delivery)
                if self._waiting and not self._begin_batch():
                    break
        finally:
            self._calls -= 1
            self._start_call()

    def _take(self) -> list[tuple[Delivery, Settle]]:
        taken = [self._waiting.popleft()]
        if self.handler.run_many and not taken[0][0].is_single:
            while self._waiting and len(taken) < MAX_BATCH and not self._waiting[0][0].is_single:
                taken.append(self._waiting.popleft())
        return taken

    async def _run(self, batch: list[Delivery]) -> None:
        """Call the handler; every delivery it could not handle has a failure afterwards."""
        begin_request(batch[0].request_id, handler=self.handler.name)
        started_at = perf_counter()
        try:
            await self._call(batch)
        except Exception as error:  # noqa: BLE001 - whatever a handler raises must end in a retry or a dead letter
            await self._handle_error(batch, describe_error(error))
        else:
            self._done.inc(len(batch))
            log.debug("job.done", events=len(batch))
        finally:
            self._seconds.observe(perf_counter() - started_at)

    async def _call(self, batch: list[Delivery]) -> None:
        if self.handler.run_many:
            await self.handler.run_many([delivery.event for delivery in batch])
        else:
            await self.handler.run(batch[0].event)

    async def _handle_error(self, batch: list[Delivery], error: str) -> None:
        if len(batch) == 1:
            batch[0].failures.append(Failure(self.handler, error))
            return
        log.warning("batch.split", events=len(batch), error=error)
        middle = len(batch) // 2
        await self._run(batch[:middle])
        await self._run(batch[middle:])
