"""Load for `bench direct`: messages at a steady rate, each timed from when it was due until the other's device has it.

A device sends its next message after the last one was answered, as the protocol wants. The clock of a message starts
when it was due, not when it could be sent: waiting counts.
"""

import asyncio
import contextlib
import json
import secrets
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from bench.direct_site import DirectSite, Member
from bench.http_load import HttpConnection
from bench.mqtt_load import MqttConnection

PATIENCE_S = 60.0
CONNECTS_AT_ONCE = 32


@dataclass
class Timings:
    """What became of the messages of a phase: seconds by message."""

    due_at: dict[str, float] = field(default_factory=dict[str, float])
    answered_s: dict[str, float] = field(default_factory=dict[str, float])
    received_s: dict[str, float] = field(default_factory=dict[str, float])

    _is_complete: asyncio.Event = field(default_factory=asyncio.Event)

    def answered(self, message: str) -> None:
        """A message was answered now."""
        self._note(self.answered_s, message)

    def received(self, message: str) -> None:
        """A message has arrived now; only the first time counts."""
        self._note(self.received_s, message)
        if len(self.received_s) == len(self.due_at):
            self._is_complete.set()

    async def wait(self) -> None:
        """Wait until all that was sent has arrived, for a while."""
        self._is_complete.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_S):
                while len(self.received_s) < len(self.due_at):
                    await self._is_complete.wait()

    def _note(self, found: dict[str, float], message: str) -> None:
        if message in self.due_at:
            found.setdefault(message, time.perf_counter() - self.due_at[message])


@dataclass
class Device:
    """A connected device, which sends one message at a time."""

    member: Member
    connection: MqttConnection | None = None
    timings: Timings = field(default_factory=Timings)
    _waiting: deque[str] = field(default_factory=deque[str])
    _sent: str = ""
    _counter: int = 0
    _device_id: str = field(default_factory=lambda: secrets.token_hex(8))

    def send(self, message: str) -> None:
        """Send a message now, or after those that wait."""
        self._waiting.append(message)
        if not self._sent:
            self._send_next()

    def on_message(self, topic: str, content: bytes) -> None:
        """Note when a message was answered or has arrived."""
        if topic.endswith("/replies"):
            reply = json.loads(content)
            if "error" in reply:
                raise RuntimeError(f"a message was refused: {reply['error']}")
            self.timings.answered(reply["id"])
            if reply["id"] == self._sent:
                self._send_next()
        elif topic.endswith("/updates"):
            update = json.loads(content)
            is_message = update["kind"] == "direct.message"
            if is_message and update["payload"]["account_id"] != str(self.member.account_id):
                self.timings.received(update["payload"]["text"])

    def _send_next(self) -> None:
        self._sent = self._waiting.popleft() if self._waiting else ""
        if not self._sent or self.connection is None:
            return
        self._counter += 1
        payload = {
            "thread_id": str(self.member.thread_id),
            "device_id": self._device_id,
            "counter": self._counter,
            "text": self._sent,
        }
        body = {"id": self._sent, "kind": "direct.send", "payload": payload}
        topic = f"/u/{self.member.account_id}/commands"
        self.connection.publish(topic, json.dumps(body).encode(), qos=1)


async def connect_all(site: DirectSite, devices: list[Device]) -> float:
    """Connect devices, some at once; returns how many a second."""
    waiting, started = iter(devices), time.perf_counter()

    async def connect_some() -> None:
        http = await HttpConnection.open(site.site.port)
        for each in waiting:
            each.connection = await site.connect(each.member, http, each.on_message)
        http.close()

    await asyncio.gather(*(connect_some() for _ in range(min(CONNECTS_AT_ONCE, len(devices)))))
    return len(devices) / (time.perf_counter() - started)


async def run_phase(devices: list[Device], name: str, rate: float, seconds: float) -> Timings:
    """Send messages at a rate, from all devices in turn, and wait until each has arrived."""
    timings = Timings()
    for each in devices:
        each.timings = timings

    def send(number: int, due_at: float) -> None:
        message = f"{name}-{number}"
        timings.due_at[message] = due_at
        devices[number % len(devices)].send(message)

    await at_rate(rate, int(rate * seconds), send)
    await timings.wait()
    return timings


async def run_bare_phase(
    connections: list[MqttConnection], arrived: Timings, rate: float, seconds: float
) -> None:
    """The same rate from device to device, through the broker alone."""

    def send(number: int, due_at: float) -> None:
        place = number % len(connections)
        message = f"{number}"
        arrived.due_at[message] = due_at
        connections[place].publish(f"bare/{place ^ 1}", message.encode())

    await at_rate(rate, int(rate * seconds), send)
    await arrived.wait()


async def at_rate(rate: float, count: int, send: Callable[[int, float], None]) -> None:
    """Call `send` so many times, evenly spread; who is late makes up for it."""
    started = time.perf_counter()
    for number in range(count):
        due_at = started + number / rate
        if (left_s := due_at - time.perf_counter()) > 0:
            await asyncio.sleep(left_s)
        elif number % 50 == 0:
            await asyncio.sleep(0)  # let what has arrived be taken
        send(number, due_at)
