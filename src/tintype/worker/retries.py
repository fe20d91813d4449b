"""Retries of one handler's job, each a message of its own, and dead letters when the attempts are used up.

A job that raised goes to its handler's retry subject. A job that may have killed its worker goes, where its handler
takes batches, to the subject from which the whole installation handles one message at a time, so that the next crash
counts against the guilty one alone.
"""

import random
import time

from nats.js import JetStreamContext

from tintype.base.jobs import Handler
from tintype.base.log import get_log
from tintype.base.nats import NatsNames
from tintype.worker.dead_letters import DeadLetters
from tintype.worker.deliveries import ATTEMPTS, NOT_BEFORE, Delivery, Failure, headers_of, stream_sequence
from tintype.worker.handler_runner import jobs_done

log = get_log("jobs")
MAX_BACKOFF_S = 60.0
PUBLISH_TIMEOUT_S = 5.0


class Retries:
    """Publishes retries and dead letters of one installation."""

    def __init__(self, js: JetStreamContext, names: NatsNames, *, attempts: int) -> None:
        self._js, self._names = js, names
        self.attempts = attempts
        """How often a job is tried."""
        self._dead_letters = DeadLetters(js, names)

    async def fail(self, delivery: Delivery, failure: Failure) -> None:
        """Retry later, or add a dead letter after the last attempt; stored when it returns."""
        handler, error = failure
        if delivery.attempt >= self.attempts:
            await self.bury(delivery, failure)
            return
        retry_in_s = backoff_s(delivery.attempt)
        log.warning(
            "job.failed",
            handler=handler.name,
            error=error,
            attempt=delivery.attempt,
            retry_in_s=round(retry_in_s, 2),
        )
        jobs_done.labels(handler.name, "failed").inc()
        await self._publish(self._names.retry(handler.name), delivery, handler, retry_in_s)

    async def part(self, delivery: Delivery, handler: Handler) -> None:
        """Store a job as a message of its own: its last delivery was never answered, it may have killed the worker."""
        log.warning("job.unanswered", handler=handler.name, attempt=delivery.attempt)
        name = handler.name
        subject = self._names.retry_alone(name) if handler.run_many else self._names.retry(name)
        await self._publish(subject, delivery, handler, 0.0)

    async def bury(self, delivery: Delivery, failure: Failure) -> None:
        """Add a dead letter."""
        handler, error = failure
        await self._dead_letters.add(
            delivery.message,
            handler=handler.name,
            event=handler.event.name,
            error=error,
            attempts=min(delivery.attempt, self.attempts),
        )
        jobs_done.labels(handler.name, "dead").inc()
        log.error("job.dead_lettered", handler=handler.name, error=error)

    async def _publish(self, subject: str, delivery: Delivery, handler: Handler, delay_s: float) -> None:
        message = delivery.message
        headers = {
            # One retry per message, however often it is delivered and by whatever releases it is handled.
            "Nats-Msg-Id": f"retry:{handler.name}:{stream_sequence(message)}",
            "Request-Id": headers_of(message).get("Request-Id", ""),
            ATTEMPTS: str(delivery.attempt),
            NOT_BEFORE: f"{time.time() + delay_s:.3f}",
        }
        await self._js.publish(subject, message.data, headers=headers, timeout=PUBLISH_TIMEOUT_S)


def backoff_s(attempt: int) -> float:
    """Exponential backoff with jitter, so that jobs that failed together are not retried together."""
    return min(MAX_BACKOFF_S, 0.25 * 2.0**attempt) * random.uniform(0.5, 1.0)  # noqa: S311 - jitter, not a secret
