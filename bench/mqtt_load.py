"""A minimal MQTT 3.1.1 client for load: thousands in one process, and little parsed, so that the server is the cost."""

import asyncio
from collections.abc import Callable

CONNACK, PUBLISH, PUBACK, SUBACK = 0x20, 0x30, 0x40, 0x90
_LEVEL, _CLEAN_USER_PASSWORD = 4, 0xC2
OnMessage = Callable[[str, bytes], None]
"""Called with topic and content."""


class Refused(Exception):
    """The broker refused a connection or a subscription."""


async def open_mqtt(
    port: int, client_id: str, username: str, password: str, on_message: OnMessage
) -> "MqttConnection":
    """Connect to a broker on this machine."""
    loop = asyncio.get_running_loop()
    _, made = await loop.create_connection(lambda: MqttConnection(on_message), "127.0.0.1", port)
    await made.connect(client_id, username, password)
    return made


class MqttConnection(asyncio.Protocol):
    """One connection; what arrives is given to `on_message`."""

    def __init__(self, on_message: OnMessage) -> None:
        self._on_message = on_message
        self._left = b""
        self._transport: asyncio.WriteTransport | None = None
        self._answer: asyncio.Future[bytes] | None = None
        self._packet_id = 0

    async def connect(self, client_id: str, username: str, password: str) -> None:
        """Sign in; without keep-alive, since these clients do not go to sleep."""
        head = _text("MQTT") + bytes([_LEVEL, _CLEAN_USER_PASSWORD, 0, 0])
        answer = await self._ask(_packet(0x10, head + _text(client_id) + _text(username) + _text(password)))
        if answer[1]:
            raise Refused(f"{client_id}: CONNACK {answer[1]}")

    async def subscribe(self, topic: str) -> None:
        """Subscribe at QoS 0."""
        answer = await self._ask(_packet(0x82, self._next_id() + _text(topic) + b"\0"))
        if answer[2]:
            raise Refused(topic)

    def publish(self, topic: str, content: bytes, *, qos: int = 0) -> None:
        """Publish at QoS 0 or 1; a PUBACK is not waited for."""
        head = _text(topic) + (self._next_id() if qos else b"")
        self._write(_packet(PUBLISH | qos << 1, head + content))

    def close(self) -> None:
        """Close the connection."""
        if self._transport is not None:
            self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember where to write."""
        if isinstance(transport, asyncio.WriteTransport):
            self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        """Fail who waits for an answer."""
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(exc or ConnectionResetError("the broker closed the connection"))

    def data_received(self, data: bytes) -> None:
        """Take the packets that are complete."""
        self._left += data
        start = 0
        while (found := _split(self._left, start)) is not None:
            kind, begin, end = found
            self._take(kind, self._left[begin:end])
            start = end
        self._left = self._left[start:]

    def _take(self, kind: int, body: bytes) -> None:
        if kind & 0xF0 == PUBLISH:
            length = int.from_bytes(body[:2])
            self._on_message(body[2 : 2 + length].decode(), body[2 + length :])
        elif kind in {CONNACK, SUBACK} and self._answer is not None and not self._answer.done():
            self._answer.set_result(body)

    async def _ask(self, packet: bytes) -> bytes:
        self._answer = asyncio.get_running_loop().create_future()
        self._write(packet)
        return await self._answer

    def _write(self, packet: bytes) -> None:
        if self._transport is None:
            raise ConnectionError("not connected")
        self._transport.write(packet)

    def _next_id(self) -> bytes:
        self._packet_id = self._packet_id % 65_535 + 1
        return self._packet_id.to_bytes(2)


def _text(text: str) -> bytes:
    return len(text.encode()).to_bytes(2) + text.encode()


def _packet(kind: int, body: bytes) -> bytes:
    length, left = bytearray(), len(body)
    while left > 127:
        length.append(left & 127 | 128)
        left >>= 7
    return bytes([kind, *length, left]) + body


def _split(data: bytes, start: int) -> tuple[int, int, int] | None:
    """The kind of the packet that begins here, and where its body begins and ends; None where it is not complete."""
    length, shift, at = 0, 0, start + 1
    while at < len(data):
        length |= (data[at] & 127) << shift
        at, shift, is_last = at + 1, shift + 7, data[at] < 128
        if is_last:
            return (data[start], at, at + length) if at + length <= len(data) else None
    return None
