"""A minimal HTTP/1.1 load client: connections stay open and little is parsed, so that the server is the cost."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True)
class Call:
    """One request."""

    method: str
    path: str
    token: str
    """Of the session; empty: not signed in."""
    body: bytes = b""
    content_type: str = "application/json"

    def encode(self) -> bytes:
        """The request in HTTP/1.1."""
        signed_in = f"Authorization: Bearer {self.token}\r\n" if self.token else ""
        head = (
            f"{self.method} {self.path} HTTP/1.1\r\nHost: bench\r\n{signed_in}"
            f"Content-Type: {self.content_type}\r\nContent-Length: {len(self.body)}\r\n\r\n"
        )
        return head.encode() + self.body


Before = Callable[[Call], Awaitable[None]]


class UnexpectedStatus(Exception):
    """The server answered with an error status."""


@dataclass(frozen=True)
class HttpConnection:
    """One open connection; requests on it follow each other."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    @classmethod
    async def open(cls, port: int) -> Self:
        """Connect to a server on this machine."""
        return cls(*await asyncio.open_connection("127.0.0.1", port))

    async def send(self, call: Call) -> bytes:
        """Send a request and return the body of the response; raises `UnexpectedStatus`."""
        self.writer.write(call.encode())
        return await _answer(self.reader, call)

    def close(self) -> None:
        """Close the connection."""
        self.writer.close()


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
    connection = await HttpConnection.open(port)
    took: list[float] = []
    try:
        for call in waiting:
            if before is not None:
                await before(call)
            started = time.perf_counter()
            await connection.send(call)
            took.append(time.perf_counter() - started)
    finally:
        connection.close()
    return took


async def _answer(reader: asyncio.StreamReader, call: Call) -> bytes:
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    status = int(head.split(b" ", 2)[1])
    body = await _chunks(reader) if b"transfer-encoding: chunked" in head else await _sized(reader, head)
    if status >= 300:
        raise UnexpectedStatus(f"{call.method} {call.path}: {status} {body[:300]!r}")
    return body


async def _sized(reader: asyncio.StreamReader, head: bytes) -> bytes:
    _, found, rest = head.partition(b"content-length:")
    return await reader.readexactly(int(rest.split(b"\r\n", 1)[0])) if found else b""


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    body = b""
    while size := int(await reader.readuntil(b"\r\n"), 16):
        body += (await reader.readexactly(size + 2))[:-2]
    await reader.readexactly(2)
    return body
