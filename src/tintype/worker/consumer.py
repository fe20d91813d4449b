"""Consumes durable JetStream consumers: decodes a message once, gives it to its handlers, acknowledges it.

One delivery feeds all handlers of an event. A handler that fails retries by itself: its retry is stored as a message of
its own before the event's message is acknowledged. JetStream counts deliveries, including those that ended in a killed
process, so a job that crashes its worker becomes a dead letter after the same number of attempts as one that raises.
"""

import asyncio
import contextlib
import time
from collections.abc import Coroutine, Mapping, Sequence

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error as BusError

from tintype.base.log import begin_request, get_log
from tintype.base.nats import NatsNames
from tintype.base.tracebacks import describe_error
from tintype.worker.deliveries import Delivery, Failure, Source, stream_sequence
from tintype.worker.durables import durable_config
from tintype.worker.handler_runner import HandlerRunner
from tintype.worker.pull_requests import PullRequests
from tintype.worker.retries import MAX_BACKOFF_S, Retries, backoff_s
from tintype.worker.streams import ensure_streams

__all__ = ["Consumer", "backoff_s"]
log = get_log("jobs")
MAX_HELD = 400
ACK_WAIT_S = 30
HEARTBEAT_S = 10
RECONNECT_S = 0.5
DIED = "the worker died during the last attempt"


class Consumer:
    """Runs handlers on the messages of one durable until cancelled; `subjects` says who handles which messages."""

    def __init__(
        self,
        durable: str,
        source: Source,
        subjects: Mapping[str, Sequence[HandlerRunner]],
        *,
        nats: Client,
        names: NatsNames,
        retries: Retries,
    ) -> None:
        self.durable, self._source, self._subjects = durable, source, subjects
        self._nats, self._names, self._retries = nats, names, retries
        self._js = nats.jetstream()
        self._max_held = _max_held(source, [runner for runners in subjects.values() for runner in runners])
        self._held: dict[int, Msg] = {}
        """By their numbers in the stream."""
        self._answering: set[asyncio.Task[None]] = set()
        subject = f"$JS.API.CONSUMER.MSG.NEXT.{names.events_stream}.{durable}"
        self._pull = PullRequests(nats, subject, free=self._count_free, take=self._take)

    async def ensure(self) -> None:
        """Create the durable if it is missing: from then on JetStream keeps every message of its subjects for it."""
        config = durable_config(
            self.durable,
            list(self._subjects),
            ack_wait_s=ACK_WAIT_S,
            is_one_at_a_time=self._source is Source.ALONE,
        )
        await self._js.add_consumer(self._names.events_stream, config)

    async def run(self) -> None:
        """Consume until cancelled; a lost stream or durable is created again."""
        heartbeat = asyncio.create_task(self._send_heartbeats())
        try:
            await self._pull_and_reconnect()
        finally:
            heartbeat.cancel()

    async def _pull_and_reconnect(self) -> None:
        while True:
            try:
                await self.ensure()
                await self._pull.run()
            except (BusError, TimeoutError, OSError) as error:
                log.warning(
                    "consumer.interrupted",
                    durable=self.durable,
                    error=f"{type(error).__name__}: {error}",
                )
                await asyncio.sleep(RECONNECT_S)
                with contextlib.suppress(BusError, TimeoutError):
                    await ensure_streams(self._js, self._names)

    async def finish(self) -> None:
        """Wait for answers that are being sent."""
        await asyncio.gather(*self._answering, return_exceptions=True)

    def _count_free(self) -> int:
        free = self._max_held - len(self._held)
        return free if 2 * free >= self._max_held else 0  # few requests, each for many messages

    async def _send_heartbeats(self) -> None:
        """Extend the acknowledgement deadline of long jobs, so that JetStream does not deliver them again."""
        while True:
            before = dict(self._held)
            await asyncio.sleep(HEARTBEAT_S)
            for number, message in before.items():
                if number in self._held:  # it may have ended during an earlier heartbeat of this round
                    with contextlib.suppress(BusError):  # a lost connection redelivers the job anyway
                        await message.in_progress()

    def _take(self, message: Msg) -> None:
        """Give a message to its handlers, unless it has to be answered otherwise."""
        number = stream_sequence(message)
        if number in self._held:
            self._send_late_heartbeat(message)
            return
        self._held[number] = message
        delivery, runners = Delivery(message, self._source), self._subjects[message.subject]
        if delivery.due_at is not None:
            self._answer(delivery, self._delay(delivery, delivery.due_at))
        elif delivery.attempt > self._retries.attempts:
            self._answer(delivery, self._bury(delivery, runners))
        elif delivery.unanswered and self._must_part(runners):
            self._answer(delivery, self._part(delivery, runners))
        else:
            self._submit(delivery, runners)

    def _send_late_heartbeat(self, message: Msg) -> None:
        """Extend the deadline of a job that is still running here, though JetStream believed its worker dead.

        To begin it again would make two runs of one job, of which the first to end acknowledges both.
        """
        log.warning("job.late_heartbeat", durable=self.durable, number=stream_sequence(message))

        async def extend() -> None:
            with contextlib.suppress(BusError):  # a lost connection redelivers the job anyway
                await message.in_progress()

        self._start(extend())

    def _submit(self, delivery: Delivery, runners: Sequence[HandlerRunner]) -> None:
        handlers = [runner.handler for runner in runners]
        try:
            event = handlers[0].event.decode(delivery.message.data)
        except Exception as error:  # noqa: BLE001 - a payload that this release cannot read fails like a job
            delivery.failures = [Failure(handler, describe_error(error)) for handler in handlers]
            self._answer(delivery, self._acknowledge(delivery))
            return
        delivery.expect(event, handlers)
        for runner in runners:
            runner.submit(delivery, self._settle)

    def _must_part(self, runners: Sequence[HandlerRunner]) -> bool:
        """Whether a job that may have killed its worker would meet innocent ones here."""
        if self._source is Source.EVENTS:
            return True
        return self._source is Source.RETRIES and runners[0].handler.run_many is not None

    async def _part(self, delivery: Delivery, runners: Sequence[HandlerRunner]) -> None:
        delivery.attempt -= 1  # the attempt that was not answered is over, the next one is not begun here
        for runner in runners:
            await self._retries.part(delivery, runner.handler)
        await delivery.message.ack()

    async def _delay(self, delivery: Delivery, due_at: float) -> None:
        await delivery.message.nak(delay=min(MAX_BACKOFF_S, max(0.001, due_at - time.time())))

    async def _bury(self, delivery: Delivery, runners: Sequence[HandlerRunner]) -> None:
        for runner in runners:
            await self._retries.bury(delivery, Failure(runner.handler, DIED))
        await delivery.message.ack()

    async def _acknowledge(self, delivery: Delivery) -> None:
        """Store the retries of the handlers that failed, and only then acknowledge."""
        for failure in delivery.failures:
            await self._retries.fail(delivery, failure)
        await delivery.message.ack()

    def _answer(self, delivery: Delivery, answer: Coroutine[None, None, None]) -> None:
        """Send an answer in a task of its own: pulling does not wait for it."""

        async def send() -> None:
            begin_request(delivery.request_id, durable=self.durable)
            await self._release(delivery, answer)

        self._start(send())

    def _start(self, answer: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(answer)
        self._answering.add(task)
        task.add_done_callback(self._answering.discard)

    async def _settle(self, delivery: Delivery) -> None:
        """Every handler has finished."""
        await self._release(delivery, self._acknowledge(delivery))

    async def _release(self, delivery: Delivery, answer: Coroutine[None, None, None]) -> None:
        try:
            await answer
        except (BusError, TimeoutError, OSError) as error:
            # NATS went away while we answered: the message will be delivered again.
            log.warning("job.unacknowledged", durable=self.durable, error=str(error))
        finally:
            self._held.pop(stream_sequence(delivery.message), None)
            self._pull.notify()


def _max_held(source: Source, runners: Sequence[HandlerRunner]) -> int:
    """No more than can start soon, and of long jobs no more than run: what one worker holds, others cannot have."""
    if source is Source.ALONE:
        return 1
    capacity = max(runner.capacity for runner in runners)
    are_long = all(runner.handler.is_long for runner in runners)
    return min(MAX_HELD, capacity if are_long else 2 * capacity)
