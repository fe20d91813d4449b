"""A TCP proxy in front of a server, through which a coordinator or another server reaches it, and which can be cut."""

import asyncio
import contextlib
from typing import Literal
from urllib.parse import urlsplit, urlunsplit

_CHUNK_BYTES = 65536
State = Literal["open", "cut", "silent"]


class Proxy:
    """Forwards connections to one server while it is open.

    Cut, it resets them and refuses others. Silent, it keeps them and forwards nothing, as a network that loses packets.
    """

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._state: State = "open"
        self._is_open = asyncio.Event()
        self._is_open.set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None

    async def start(self) -> str:
        """Listen; returns the server's address by way of this proxy."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        parts = urlsplit(self._dsn)
        sign_in, _, _ = parts.netloc.rpartition("@")
        port = self._server.sockets[0].getsockname()[1]
        return urlunsplit(parts._replace(netloc=f"{sign_in}@127.0.0.1:{port}"))

    async def stop(self) -> None:
        """Close everything."""
        assert self._server is not None
        self._server.close()
        self.heal()
        self.cut()
        await asyncio.gather(*self._tasks)

    def cut(self) -> None:
        """Reset all connections, and refuse others."""
        self._state = "cut"
        self._reset()

    def silence(self) -> None:
        """Forward nothing any more."""
        self._state = "silent"
        self._is_open.clear()

    def heal(self) -> None:
        """Forward again; connections that were silent are reset, for nobody knows what they have missed."""
        if self._state == "silent":
            self._reset()
        self._state = "open"
        self._is_open.set()

    def _reset(self) -> None:
        for writer in self._writers:
            writer.transport.abort()
        self._writers.clear()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            await self._forward(reader, writer)
        finally:
            self._tasks.discard(task)

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._state == "cut":
            writer.transport.abort()
            return
        self._writers.add(writer)
        await self._is_open.wait()
        if writer.transport.is_closing():
            return
        parts = urlsplit(self._dsn)
        try:
            there, back = await asyncio.open_connection(parts.hostname, parts.port)
        except OSError:  # the server is down
            writer.transport.abort()
            return
        self._writers.add(back)
        await asyncio.gather(self._pump(reader, back), self._pump(there, writer))

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Copy bytes in one direction; the end of one direction is the end of the connection."""
        with contextlib.suppress(OSError):
            while data := await reader.read(_CHUNK_BYTES):
                await self._is_open.wait()
                writer.write(data)
                await writer.drain()
        self._writers.discard(writer)
        writer.transport.abort()
