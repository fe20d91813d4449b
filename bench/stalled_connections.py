"""Connections that a client opens and then leaves hanging: silent, with half a request, or without reading."""

import resource
import socket
from types import TracebackType
from typing import Self

HALF_HEAD = b"GET /api/v1/feed HTTP/1.1\r\nHost: bench\r\nAuthor"
HALF_BODY = (
    b"POST /api/v1/sessions HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\n"
    b'Content-Length: 200\r\n\r\n{"username": "'
)
UNREAD = b"GET /api/openapi.json HTTP/1.1\r\nHost: bench\r\n\r\n" * 20
KINDS = (b"", HALF_HEAD, HALF_BODY, UNREAD)
SMALL_BUFFER = 4_096
SPARE_FILES = 256
TCP_ESTABLISHED = 1


class StalledConnections:
    """So many stalled connections of every kind, from so many addresses of this machine, until the end of the block."""

    def __init__(self, port: int, count: int, *, addresses: int = 16) -> None:
        self._port, self._count, self._addresses = port, count, addresses
        self._open: list[socket.socket] = []

    def open(self) -> None:
        """Open them all, which takes a second or two."""
        allow_open_files(self._count + SPARE_FILES)
        for number in range(self._count):
            source = f"127.0.77.{number % self._addresses + 1}"
            self._open.append(self._connect(source, KINDS[number % len(KINDS)]))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for each in self._open:
            each.close()

    def count_ended(self) -> int:
        """How many of them the server has ended, by an answer or without."""
        return sum(_has_ended(each) for each in self._open)

    def _connect(self, source: str, sent: bytes) -> socket.socket:
        made = socket.socket()
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL_BUFFER)
        made.settimeout(60)
        made.bind((source, 0))
        made.connect(("127.0.0.1", self._port))
        if sent:
            made.sendall(sent)
        made.setblocking(False)
        return made


def allow_open_files(count: int) -> None:
    """Raise this process's limit of open files, as far as the system lets it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < count:
        resource.setrlimit(
            resource.RLIMIT_NOFILE, (count if hard == resource.RLIM_INFINITY else min(count, hard), hard)
        )


def _has_ended(connection: socket.socket) -> bool:
    """Whether the other side has closed it; one that only has something to read is still open."""
    try:
        seen = connection.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return not seen or _is_hung_up(connection)


def _is_hung_up(connection: socket.socket) -> bool:
    """Whether the end of the stream follows what can still be read (Linux: the state after the other side's FIN)."""
    info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 8)
    return info[0] != TCP_ESTABLISHED
