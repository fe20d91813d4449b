"""Consumes one durable JetStream consumer: pulls batches, runs jobs concurrently, acknowledges, retries, dead-letters.

JetStream counts deliveries, including those that ended in a killed process, so a job that crashes its worker becomes a
dead letter after the same number of attempts as one that raises.
"""

import asyncio
import contextlib
import random

from nats.aio.msg import Msg
from nats.errors import Error as BusError
from nats.js import JetStreamContext
from nats.js.api import AckPolicy, ConsumerConfig
from prometheus_client import Counter, Histogram

from tintype.base.jobs import Handler
from tintype.base.log import begin_request, get_log
from tintype.base.nats import NatsNames
from tintype.base.tracebacks import describe_error
from tintype.worker.dead_letters import DeadLetters
from tintype.worker.streams import ensure_streams

log = get_log("jobs")
BATCH = 250
ACK_WAIT_S = 30
HEARTBEAT_S = 10
FETCH_TIMEOUT_S = 5
INACTIVE_THRESHOLD_S = 7 * 86_400
"""The server deletes a durable consumer that nobody has pulled from for this long: its handler no longer exists."""
MAX_BACKOFF_S = 60.0

jobs_done = Counter("tintype_jobs", "Jobs by handler and outcome.", ["handler", "outcome"])
job_seconds = Histogram("tintype_job_seconds", "How long a job took.", ["handler"])


class Consumer:
    """Runs one handler on its durable consumer's messages until cancelled; `finish` then waits for running jobs."""

    def __init__(self, handler: Handler, js: JetStreamContext, names: NatsNames, *, attempts: int) -> None:
        self._handler, self._js, self._names, self._attempts = handler, js, names, attempts
        self._dead_letters = DeadLetters(js, names)
        self._slots = asyncio.Semaphore(handler.concurrency)
        self._running: dict[asyncio.Task[None], Msg] = {}
        self._seconds = job_seconds.labels(handler.name)
        self._done = jobs_done.labels(handler.name, "done")

    async def ensure(self) -> None:
        """Create the durable consumer if it is missing: from then on JetStream keeps every event of its type for it."""
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
                max_deliver=-1,  # attempts are counted here, so that the last failure can be dead-lettered
                max_ack_pending=max(1000, 4 * BATCH),
                inactive_threshold=INACTIVE_THRESHOLD_S,
            ),
        )

    async def run(self) -> None:
        """Consume until cancelled; a lost stream or consumer is created again."""
        heartbeat = asyncio.create_task(self._send_heartbeats())
        try:
            await self._consume_and_reconnect()
        finally:
            heartbeat.cancel()

    async def _consume_and_reconnect(self) -> None:
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
        """Wait for the running jobs."""
        await asyncio.gather(*self._running, return_exceptions=True)

    async def _pull(self) -> None:
        subscription = await self._js.pull_subscribe_bind(
            consumer=self._handler.name, stream=self._names.events_stream
        )
        try:
            while True:
                # Fetch no more than can start soon: what this worker holds, other workers cannot have.
                await self._slots.acquire()
                self._slots.release()
                for message in await _fetch(subscription, min(BATCH, 2 * self._handler.concurrency)):
                    await self._slots.acquire()
                    task = asyncio.create_task(self._run_job(message))
                    self._running[task] = message
                    task.add_done_callback(self._running.pop)
        finally:
            with contextlib.suppress(BusError, TimeoutError):
                await subscription.unsubscribe()

    async def _send_heartbeats(self) -> None:
        """Extend the acknowledgement deadline of long jobs, so that JetStream does not deliver them again."""
        while True:
            before = set(self._running)
            await asyncio.sleep(HEARTBEAT_S)
            for task in before:
                message = self._running.get(
                    task
                )  # it may have ended during an earlier heartbeat of this round
                if message is not None:
                    with contextlib.suppress(BusError):  # a lost connection redelivers the job anyway
                        await message.in_progress()

    async def _run_job(self, message: Msg) -> None:
        try:
            await self._attempt(message)
        except (BusError, TimeoutError, OSError) as error:
            # NATS went away while we acknowledged: the job will be delivered again.
            log.warning("job.unacknowledged", handler=self._handler.name, error=str(error))
        finally:
            self._slots.release()

    async def _attempt(self, message: Msg) -> None:
        name, delivery = self._handler.name, message.metadata.num_delivered
        begin_request((message.headers or {}).get("Request-Id") or None, handler=name)
        if delivery > self._attempts:
            await self._dead_letter(message, "the worker died during the last attempt")
            return
        try:
            event = self._handler.event.decode(message.data)
            with self._seconds.time():
                await self._handler.run(event)
        except Exception as error:  # noqa: BLE001 - whatever a handler raises must end in a retry or a dead letter
            await self._fail(message, describe_error(error), delivery)
        else:
            await message.ack()
            self._done.inc()
            log.debug("job.done", delivery=delivery)

    async def _fail(self, message: Msg, error: str, delivery: int) -> None:
        if delivery >= self._attempts:
            await self._dead_letter(message, error)
            return
        retry_in_s = backoff_s(delivery)
        log.warning("job.failed", error=error, delivery=delivery, retry_in_s=round(retry_in_s, 2))
        jobs_done.labels(self._handler.name, "failed").inc()
        await message.nak(delay=retry_in_s)

    async def _dead_letter(self, message: Msg, error: str) -> None:
        """Copy the job to the dead letters before acknowledging it, so that it is never in neither place."""
        await self._dead_letters.add(
            message, handler=self._handler.name, event=self._handler.event.name, error=error
        )
        await message.ack()
        jobs_done.labels(self._handler.name, "dead").inc()
        log.error("job.dead_lettered", error=error)


def backoff_s(delivery: int) -> float:
    """Exponential backoff with jitter, so that jobs that failed together are not retried together."""
    return min(MAX_BACKOFF_S, 0.25 * 2.0**delivery) * random.uniform(0.5, 1.0)  # noqa: S311 - jitter, not a secret


async def _fetch(subscription: JetStreamContext.PullSubscription, count: int) -> list[Msg]:
    try:
        return await subscription.fetch(count, timeout=FETCH_TIMEOUT_S)
    except TimeoutError:
        return []  # no message arrived in time
