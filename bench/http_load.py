"""A minimal HTTP/1.1 load client: connections stay open and little is parsed, so that the server is the cost."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Call:
    """One request."""

    method: str
    path: str
    token: str
    body: bytes = b""

    def encode(self) -> bytes:
        """The request in HTTP/1.1."""
        head = (
            f"{self.method} {self.path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {self.token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(self.body)}\r\n\r\n"
        )
        return head.encode() + self.body


Before = Callable[[Call], Awaitable[None]]


class UnexpectedStatus(Exception):
    """The server answered with an error status."""


async def send_all(
    port: int, calls: Sequence[Call], *, clients: int, before: Before | None = None
) -> list[float]:
    """Send every call once, over so many connections; any refusal ends the bench. Returns how long each took, in s.

    What is to happen before a call is not counted.
    """
    waiting = iter(calls)
    took = await asyncio.gather(*(_client(port, waiting, before) for _ in range(clients)))
    return [each for some in took for each in some]


async def _client(port: int, waiting: Iterator[Call], before: Before | None) -> list[float]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    took: list[float] = []
    try:
        for call in waiting:
            if before is not None:
                await before(call)
            started = time.perf_counter()
            writer.write(call.encode())
            await _answer(reader, call)
            took.append(time.perf_counter() - started)
    finally:
        writer.close()
    return took


async def _answer(reader: asyncio.StreamReader, call: Call) -> None:
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    status = int(head.split(b" ", 2)[1])
    body = await _chunks(reader) if b"transfer-encoding: chunked" in head else await _sized(reader, head)
    if status >= 300:
        raise UnexpectedStatus(f"{call.method} {call.path}: {status} {body[:300]!r}")


async def _sized(reader: asyncio.StreamReader, head: bytes) -> bytes:
    _, found, rest = head.partition(b"content-length:")
    return await reader.readexactly(int(rest.split(b"\r\n", 1)[0])) if found else b""


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    body = b""
    while size := int(await reader.readuntil(b"\r\n"), 16):
        body += (await reader.readexactly(size + 2))[:-2]
    await reader.readexactly(2)
    return body
