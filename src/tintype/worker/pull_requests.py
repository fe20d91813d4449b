"""Pulls messages from a durable consumer, one request for many messages, and hands each over as it arrives.

The client library's `fetch` costs a timer and a task switch per message, and two requests where nothing waits.
"""

import asyncio
import contextlib
import itertools
from collections.abc import Callable

import msgspec
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error as BusError
from nats.errors import NoRespondersError

EXPIRES_S = 5.0
LATE_S = 1.0
PAUSE_S = 0.1
_EXPIRED = "408"
_HEARTBEAT = "100"
_NO_RESPONDERS = "503"


class PullRequests:
    """Requests messages of one durable consumer, never more than `free()` says can be held."""

    def __init__(
        self, nats: Client, subject: str, *, free: Callable[[], int], take: Callable[[Msg], None]
    ) -> None:
        self._nats, self._subject, self._free, self._take = nats, subject, free, take
        self._inbox = nats.new_inbox()
        self._numbers = itertools.count()
        self._current = ""
        self._missing = 0
        self._status = ""
        self._changed = asyncio.Event()
        self._is_full = False

    def notify(self) -> None:
        """There may be room for more."""
        if self._is_full:
            self._changed.set()

    async def run(self) -> None:
        """Pull until cancelled; raises when the consumer is gone."""
        subscription = await self._nats.subscribe(f"{self._inbox}.*", cb=self._on_message)
        try:
            while True:
                await self._request()
        finally:
            with contextlib.suppress(BusError, TimeoutError):
                await subscription.unsubscribe()

    async def _request(self) -> None:
        """Send one request and wait until it is fulfilled or over."""
        while (count := self._free()) <= 0:
            self._is_full = True
            self._changed.clear()
            await self._changed.wait()
        self._is_full = False
        self._current, self._missing, self._status = f"{self._inbox}.{next(self._numbers)}", count, ""
        request = {"batch": count, "expires": int(EXPIRES_S * 1e9)}
        await self._nats.publish(self._subject, msgspec.json.encode(request), reply=self._current)
        status = await self._wait()
        if status == _NO_RESPONDERS:
            raise NoRespondersError
        if status not in {"", _EXPIRED}:
            await asyncio.sleep(PAUSE_S)  # a consumer that is being moved or has too many requests

    async def _wait(self) -> str:
        """Wait until the request is fulfilled or over; returns the status that ended it."""
        with contextlib.suppress(TimeoutError):  # the request or its answer was lost with a connection
            async with asyncio.timeout(EXPIRES_S + LATE_S):
                while self._missing > 0 and not self._status:
                    self._changed.clear()
                    await self._changed.wait()
        return self._status

    async def _on_message(self, message: Msg) -> None:
        status = message.headers.get("Status") if message.headers else None
        if status is None:
            self._missing -= 1
            self._take(message)
        elif message.subject == self._current and status != _HEARTBEAT:
            self._status = status
        if self._missing <= 0 or self._status:
            self._changed.set()
