"""Publishes batches to JetStream without waiting for each message in turn.

The client library's own ways cost a task or a timer per message (and one of them turns a cancellation into an
error); here a batch is written at once and one subscription receives all acknowledgements.
"""

import asyncio
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import msgspec
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import Error as BusError
from nats.errors import NoRespondersError

TIMEOUT_S = 5.0


class Outgoing(msgspec.Struct, frozen=True):
    """A message to publish."""

    subject: str
    payload: bytes
    headers: dict[str, str]


class NotAccepted(BusError):
    """JetStream refused a message."""


class _Fault(msgspec.Struct):
    description: str = ""


class _Ack(msgspec.Struct):
    seq: int = 0
    error: _Fault | None = None


_DECODER = msgspec.json.Decoder(_Ack)


@dataclass
class _Batch:
    """Messages that were written together: how many are not acknowledged yet, and the highest number of the others."""

    left: int
    all_acknowledged: asyncio.Future[None]
    sequence: int = 0

    def fail(self, error: Exception) -> None:
        if not self.all_acknowledged.done():
            self.all_acknowledged.set_exception(error)

    def acknowledge(self, sequence: int) -> None:
        self.left -= 1
        self.sequence = max(self.sequence, sequence)
        if self.left == 0 and not self.all_acknowledged.done():
            self.all_acknowledged.set_result(None)


class Publisher:
    """Publishes over one connection; an async context manager, which subscribes to the acknowledgements."""

    def __init__(self, nats: Client) -> None:
        self._nats = nats
        self._inbox = nats.new_inbox()
        self._numbers = itertools.count()
        self._unacknowledged: dict[str, _Batch] = {}
        self._subscription: Subscription | None = None

    async def __aenter__(self) -> Self:
        self._subscription = await self._nats.subscribe(f"{self._inbox}.*", cb=self._handle_ack)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._subscription is not None and not self._nats.is_closed:
            await self._subscription.unsubscribe()

    async def publish_all(self, messages: Sequence[Outgoing]) -> int:
        """Return the highest stream sequence among them; raises when any was not acknowledged in time."""
        batch = _Batch(len(messages), asyncio.get_running_loop().create_future())
        sent: list[str] = []
        try:
            for message in messages:
                reply = f"{self._inbox}.{next(self._numbers)}"
                sent.append(reply)
                self._unacknowledged[reply] = batch
                await self._nats.publish(
                    message.subject, message.payload, reply=reply, headers=message.headers
                )
            async with asyncio.timeout(TIMEOUT_S):
                await batch.all_acknowledged
        finally:
            batch.all_acknowledged.cancel()
            if batch.left:
                for reply in sent:
                    self._unacknowledged.pop(reply, None)
        return batch.sequence

    async def _handle_ack(self, message: Msg) -> None:
        batch = self._unacknowledged.pop(message.subject, None)
        if batch is None:
            return  # too late: its batch has timed out
        if message.headers and message.headers.get("Status") == "503":
            batch.fail(NoRespondersError())
            return
        ack = _DECODER.decode(message.data)
        if ack.error:
            batch.fail(NotAccepted(ack.error.description))
        else:
            batch.acknowledge(ack.seq)
