"""Runs one handler: pulls batches, runs jobs side by side, acknowledges, retries, gives up.

JetStream counts deliveries, also those that ended in a killed process, so a job that crashes its worker is
given up after the same number of attempts as one that raises.
"""

import asyncio
import contextlib
import random

from nats.aio.msg import Msg
from nats.errors import Error as BusError
from nats.js import JetStreamContext
from nats.js.api import AckPolicy, ConsumerConfig
from prometheus_client import Counter, Histogram

from tintype.base.bus import Names
from tintype.base.jobs import Handler
from tintype.base.log import begin_request, get_log
from tintype.worker.dead import DeadLetters
from tintype.worker.streams import ensure_streams

log = get_log("jobs")
BATCH = 250
ACK_WAIT_S = 30
HEARTBEAT_S = 10
FETCH_TIMEOUT_S = 5
FORGOTTEN_AFTER_S = 7 * 86_400
"""A durable consumer nobody has pulled from for this long is dropped by the server: its handler is gone."""
LONGEST_PAUSE_S = 60.0

jobs_done = Counter("tintype_jobs", "Jobs by handler and outcome.", ["handler", "outcome"])
job_seconds = Histogram("tintype_job_seconds", "How long a job took.", ["handler"])


class Consumer:
    """Feeds one handler from its durable consumer until cancelled, then finishes the jobs under way."""

    def __init__(self, handler: Handler, js: JetStreamContext, names: Names, *, attempts: int) -> None:
        self._handler, self._js, self._names, self._attempts = handler, js, names, attempts
        self._dead = DeadLetters(js, names)
        self._places = asyncio.Semaphore(handler.concurrency)
        self._running: dict[asyncio.Task[None], Msg] = {}
        self._seconds = job_seconds.labels(handler.name)
        self._done = jobs_done.labels(handler.name, "done")

    async def ensure(self) -> None:
        """Create the durable consumer if it is missing: from then on no event of its type passes it by."""
        await self._js.add_consumer(
            self._names.events_stream,
            ConsumerConfig(
                durable_name=self._handler.name,
                filter_subjects=[
                    self._names.event(self._handler.event.name),
                    self._names.retry(self._handler.name),
                ],
                ack_policy=AckPolicy.EXPLICIT,
                ack_wait=ACK_WAIT_S,
                max_deliver=-1,  # we count ourselves, so that the last failure can be copied out
                max_ack_pending=max(1000, 4 * BATCH),
                inactive_threshold=FORGOTTEN_AFTER_S,
            ),
        )

    async def run(self) -> None:
        """Consume for ever; a lost stream or consumer is made anew."""
        heart = asyncio.create_task(self._beat())
        try:
            await self._run_for_ever()
        finally:
            heart.cancel()

    async def _run_for_ever(self) -> None:
        while True:
            try:
                await self.ensure()
                await self._pull()
            except (BusError, TimeoutError, OSError) as error:
                log.warning(
                    "handler.interrupted",
                    handler=self._handler.name,
                    error=f"{type(error).__name__}: {error}",
                )
                await asyncio.sleep(0.5)
                with contextlib.suppress(BusError, TimeoutError):
                    await ensure_streams(self._js, self._names)

    async def finish(self) -> None:
        """Wait for the jobs under way."""
        await asyncio.gather(*self._running, return_exceptions=True)

    async def _pull(self) -> None:
        subscription = await self._js.pull_subscribe_bind(
            consumer=self._handler.name, stream=self._names.events_stream
        )
        try:
            while True:
                # Ask for no more than can start soon: what we hold, other workers cannot have.
                await self._places.acquire()
                self._places.release()
                for message in await _fetch(subscription, min(BATCH, 2 * self._handler.concurrency)):
                    await self._places.acquire()
                    task = asyncio.create_task(self._work(message))
                    self._running[task] = message
                    task.add_done_callback(self._running.pop)
        finally:
            with contextlib.suppress(BusError, TimeoutError):
                await subscription.unsubscribe()

    async def _beat(self) -> None:
        """Tell JetStream that long jobs are alive, so that they are not handed to somebody else."""
        while True:
            before = set(self._running)
            await asyncio.sleep(HEARTBEAT_S)
            for task in before:
                message = self._running.get(task)  # it may have ended while we told of another
                if message is not None:
                    with contextlib.suppress(BusError):  # a lost connection redelivers the job anyway
                        await message.in_progress()

    async def _work(self, message: Msg) -> None:
        try:
            await self._attempt(message)
        except (BusError, TimeoutError, OSError) as error:
            # The bus went away while we answered it: the job will be delivered again.
            log.warning("job.unanswered", handler=self._handler.name, error=str(error))
        finally:
            self._places.release()

    async def _attempt(self, message: Msg) -> None:
        name, delivery = self._handler.name, message.metadata.num_delivered
        begin_request((message.headers or {}).get("Request-Id") or None, handler=name)
        if delivery > self._attempts:
            await self._give_up(message, "the worker ended during the last attempt")
            return
        try:
            event = self._handler.event.decode(message.data)
            with self._seconds.time():
                await self._handler.run(event)
        except Exception as error:  # noqa: BLE001 - whatever a handler raises must end in a retry or a dead letter
            await self._fail(message, f"{type(error).__name__}: {error}", delivery)
        else:
            await message.ack()
            self._done.inc()
            log.debug("job.done", delivery=delivery)

    async def _fail(self, message: Msg, error: str, delivery: int) -> None:
        if delivery >= self._attempts:
            await self._give_up(message, error)
            return
        pause_s = backoff_s(delivery)
        log.warning("job.failed", error=error, delivery=delivery, pause_s=round(pause_s, 2))
        jobs_done.labels(self._handler.name, "failed").inc()
        await message.nak(delay=pause_s)

    async def _give_up(self, message: Msg, error: str) -> None:
        """Copy the job to the dead letters first, so that it is never in neither place."""
        await self._dead.add(message, handler=self._handler.name, event=self._handler.event.name, error=error)
        await message.ack()
        jobs_done.labels(self._handler.name, "dead").inc()
        log.error("job.died", error=error)


def backoff_s(delivery: int) -> float:
    """Doubling pauses with jitter, so that a herd of failures does not return as a herd."""
    return min(LONGEST_PAUSE_S, 0.25 * 2.0**delivery) * random.uniform(0.5, 1.0)  # noqa: S311 - jitter, not a secret


async def _fetch(subscription: JetStreamContext.PullSubscription, count: int) -> list[Msg]:
    try:
        return await subscription.fetch(count, timeout=FETCH_TIMEOUT_S)
    except TimeoutError:
        return []  # nothing to do right now
