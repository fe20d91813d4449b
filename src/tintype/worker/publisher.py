"""Publishes batches to JetStream without waiting for each message in turn.

The client library's own ways cost a task or a timer per message (and one of them turns a cancellation into an
error); here a batch is written at once and one subscription receives all acknowledgements.
"""

import asyncio
import itertools
from collections.abc import Sequence
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


class Publisher:
    """Publishes over one connection; an async context manager, which subscribes to the acknowledgements."""

    def __init__(self, nats: Client) -> None:
        self._nats = nats
        self._inbox = nats.new_inbox()
        self._numbers = itertools.count()
        self._unacknowledged: dict[str, asyncio.Future[int]] = {}
        self._subscription: Subscription | None = None

    async def __aenter__(self) -> Self:
        self._subscription = await self._nats.subscribe(f"{self._inbox}.*", cb=self._handle_ack)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._subscription is not None and not self._nats.is_closed:
            await self._subscription.unsubscribe()

    async def publish_all(self, messages: Sequence[Outgoing]) -> list[int]:
        """Return the stream sequence of each, in order; raises when any was not acknowledged in time."""
        loop = asyncio.get_running_loop()
        sent: dict[str, asyncio.Future[int]] = {}
        try:
            for message in messages:
                reply = f"{self._inbox}.{next(self._numbers)}"
                sent[reply] = self._unacknowledged[reply] = loop.create_future()
                await self._nats.publish(
                    message.subject, message.payload, reply=reply, headers=message.headers
                )
            async with asyncio.timeout(TIMEOUT_S):
                return await asyncio.gather(*sent.values())
        finally:
            for reply, future in sent.items():
                self._unacknowledged.pop(reply, None)
                future.cancel()

    async def _handle_ack(self, message: Msg) -> None:
        future = self._unacknowledged.pop(message.subject, None)
        if future is None or future.done():
            return  # too late: its batch has timed out
        if (message.headers or {}).get("Status") == "503":
            future.set_exception(NoRespondersError())
            return
        ack = msgspec.json.decode(message.data, type=_Ack)
        if ack.error:
            future.set_exception(NotAccepted(ack.error.description))
        else:
            future.set_result(ack.seq)
