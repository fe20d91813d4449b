"""Maximum write rate of Redis with one client: commands packed beforehand, sent in windows.

Stands in for redis-benchmark, which the wheel of Valkey does not carry: a socket in blocking mode, two windows of a
thousand commands under way, answers of a known length counted, not parsed. The server is what is measured.
"""

import socket
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from urllib.parse import unquote, urlsplit

WINDOW = 1_000
ADDED = b":1\r\n"
"""The reply to a ZADD of a new member."""


def pack(*words: str | int | bytes) -> bytes:
    """One command in the Redis protocol."""
    parts = [each if isinstance(each, bytes) else str(each).encode() for each in words]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%b\r\n" % (len(each), each) for each in parts)


class RawRedis:
    """One blocking connection to Redis."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._socket = socket.create_connection((parts.hostname or "127.0.0.1", parts.port or 6379))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._left = b""
        if parts.password:
            user = [unquote(parts.username)] if parts.username else []
            self._one(pack("AUTH", *user, unquote(parts.password)))
        if parts.path.strip("/"):
            self._one(pack("SELECT", parts.path.strip("/")))

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    def rate(self, commands: Sequence[bytes], answer: bytes = ADDED) -> float:
        """Commands per second; each must get the same reply."""
        windows = [b"".join(each) for each in _windows(commands)]
        started = time.perf_counter()
        self._pass(windows, commands, answer)
        return len(commands) / (time.perf_counter() - started)

    def send(self, commands: Iterable[bytes]) -> None:
        """Send commands one window after the other and read one line of reply each."""
        for window in _windows(commands):
            self._socket.sendall(b"".join(window))
            for _ in window:
                self._line()

    def _pass(self, windows: Sequence[bytes], commands: Sequence[bytes], answer: bytes) -> None:
        sizes = [len(each) * len(answer) for each in _windows(commands)]
        for place, window in enumerate(windows):
            self._socket.sendall(window)
            if place:
                self._expect(answer, sizes[place - 1])
        if windows:
            self._expect(answer, sizes[-1])

    def _expect(self, answer: bytes, size: int) -> None:
        found = bytearray()
        while len(found) < size:
            found += self._receive(size - len(found))
        if bytes(found) != answer * (size // len(answer)):
            raise ConnectionError(f"Redis answered otherwise: {bytes(found[:80])!r}")

    def _one(self, command: bytes) -> None:
        self._socket.sendall(command)
        answer = self._line()
        if not answer.startswith(b"+"):
            raise ConnectionError(answer.decode(errors="replace"))

    def _line(self) -> bytes:
        while b"\n" not in self._left:
            self._left += self._receive(65_536)
        line, _, self._left = self._left.partition(b"\n")
        if line.startswith(b"-"):
            raise ConnectionError(line.decode(errors="replace"))
        return line

    def _receive(self, size: int) -> bytes:
        found = self._socket.recv(size)
        if not found:
            raise ConnectionError("Redis hung up")
        return found


def _windows(commands: Iterable[bytes]) -> Iterator[list[bytes]]:
    left = iter(commands)
    while window := list(islice(left, WINDOW)):
        yield window
