"""Phones that send numbered messages and may be dropped at any moment; what they have stored survives."""

import asyncio
import random
import secrets
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from httpx import HTTPError

from tests.support import Person
from tintype.client import DirectDevice, LiveClient, LiveUpdate

LIFE_S = (1.0, 8.0)
"""How long a phone stays connected before it is dropped."""
LAST_LIFE_S = 180.0
PAUSE_S = 0.5
OVER_HTTP = 0.25
"""The share of messages that go over HTTP."""


class Message(NamedTuple):
    """A message of a thread, as a client or the server has it."""

    message_id: int
    account_id: int
    text: str


View = dict[int, dict[int, Message]]
"""Messages by thread and number."""


@dataclass
class Pending:
    """A message that the phone has stored and not yet heard of."""

    thread_id: str
    counter: int
    text: str
    local_id: str = field(default_factory=lambda: secrets.token_hex(8))


@dataclass
class Phone:
    """One client of somebody: its queue, its counts, and what it shows."""

    person: Person
    name: str
    address: str
    broker: tuple[str, int] | None
    """Over TCP; None is over WebSocket."""
    threads: list[str]
    chance: random.Random
    since: int = 0
    counters: dict[str, int] = field(default_factory=dict[str, int])
    pending: Pending | None = None
    view: View = field(default_factory=dict[int, dict[int, Message]])
    heard: list[int] = field(default_factory=list[int])
    """Numbers of the updates that were delivered."""
    acknowledged: dict[tuple[int, int], str] = field(default_factory=dict[tuple[int, int], str])
    """Texts by thread and number, of messages that the server said it has."""
    unexpected: Counter[str] = field(default_factory=Counter[str])
    drops: int = 0

    async def use(self, stop: asyncio.Event) -> None:
        """Send and listen over one connection after another; ends when nothing is left to be acknowledged."""
        while not stop.is_set() or self.pending is not None:
            life_s = LAST_LIFE_S if stop.is_set() else self.chance.uniform(*LIFE_S)
            with suppress(TimeoutError):
                async with asyncio.timeout(life_s), self.open() as live:
                    await self._send_on(live, stop)
            self.drops += 1

    def open(self) -> LiveClient:
        """A connection that goes on where the last one was."""
        return LiveClient(
            self.address, self.person.token, since=self.since, device=self.name, broker=self.broker
        )

    async def listen(self, live: LiveClient) -> None:
        """Show what arrives, until cancelled."""
        async for update in live.updates():
            self._show(update)

    async def _send_on(self, live: LiveClient, stop: asyncio.Event) -> None:
        listening = asyncio.create_task(self.listen(live))
        try:
            while not stop.is_set() or self.pending is not None:
                if self.pending is None:
                    self.pending = self._next()
                await self._send(live, self.pending)
                await asyncio.sleep(PAUSE_S * self.chance.random())
        finally:
            listening.cancel()
            await asyncio.wait([listening])

    def _next(self) -> Pending:
        thread_id = self.chance.choice(self.threads)
        counter = self.counters.get(thread_id, 0) + 1
        return Pending(thread_id, counter, f"{self.name} {counter}")

    async def _send(self, live: LiveClient, pending: Pending) -> None:
        if self.chance.random() < OVER_HTTP:
            found = await self._post(pending)
        else:
            device = DirectDevice(live, self.name, self.counters)
            sent = await device.send(pending.thread_id, pending.text, local_id=pending.local_id)
            found = sent.message_id, sent.number
        if found is not None:
            self.counters[pending.thread_id] = pending.counter
            self.acknowledged[int(pending.thread_id), found[1]] = pending.text
            self.pending = None

    async def _post(self, pending: Pending) -> tuple[str, int] | None:
        body = {
            "device_id": self.name,
            "local_id": pending.local_id,
            "counter": pending.counter,
            "text": pending.text,
        }
        try:
            answer = await self.person.call(
                "POST", f"/direct/threads/{pending.thread_id}/messages", json=body
            )
        except HTTPError:
            return None  # the web was killed under us
        if answer.status_code == 201:
            made: dict[str, Any] = answer.json()
            return made["message_id"], made["number"]
        if answer.status_code != 503:
            self.unexpected[answer.text] += 1
        return None

    def _show(self, update: LiveUpdate) -> None:
        self.since = update.seq
        self.heard.append(update.seq)
        if update.kind == "direct.message":
            told = update.payload
            shown = self.view.setdefault(int(told["thread_id"]), {})
            assert told["number"] not in shown, f"{self.name} was told twice of {told}"
            shown[told["number"]] = Message(int(told["message_id"]), int(told["account_id"]), told["text"])
