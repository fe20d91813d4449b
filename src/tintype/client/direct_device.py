"""One device's half of the contract for direct messages: numbered, sent in order, repeated until answered.

The server accepts a device's changes of a thread in the order of their numbers, and answers a repeated local id with
what it answered the first time (docs/adr/0073). So a program that was killed sends what it had not heard of again,
under the local id that it had stored, and it is still one message.
"""

import asyncio
import secrets
from collections.abc import Mapping
from dataclasses import dataclass

from tintype.client.live_client import LiveClient
from tintype.client.models import CommandRefused

PASSING = frozenset({"unavailable", "rate_limited"})
"""Refusals that do not last."""
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 15.0


@dataclass(frozen=True)
class SentMessage:
    """A message that the server has stored: its id, and its number in the thread."""

    message_id: str
    number: int


class DirectDevice:
    """Sends messages over a live connection, one after another.

    `counters` says how many changes of each thread the server has acknowledged to this device: store it with the id of
    the device, or begin with a new id.
    """

    def __init__(
        self, live: LiveClient, device_id: str | None = None, counters: Mapping[str, int] | None = None
    ) -> None:
        self._live, self.device_id = live, device_id or secrets.token_hex(16)
        self.counters = dict(counters or {})
        self._one_send = asyncio.Lock()

    async def send(self, thread_id: str, text: str, *, local_id: str | None = None) -> SentMessage:
        """Send a message once, however often that takes; raises `CommandRefused` where it is refused for good."""
        local_id = local_id or secrets.token_hex(16)
        async with self._one_send:
            counter = self.counters.get(thread_id, 0) + 1
            payload = {
                "thread_id": thread_id,
                "device_id": self.device_id,
                "counter": counter,
                "text": text,
            }
            pause_s = FIRST_PAUSE_S
            while True:
                try:
                    answer = await self._live.command("direct.send", payload, command_id=local_id)
                except CommandRefused as refused:
                    if refused.code not in PASSING:
                        raise
                    await asyncio.sleep(pause_s)
                    pause_s = min(LONGEST_PAUSE_S, pause_s * 2)
                else:
                    self.counters[thread_id] = counter
                    return SentMessage(answer["message_id"], answer["number"])
