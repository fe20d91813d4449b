"""The TCP connections of clients that this process has open, with what the kernel knows about each.

The web server does not hand its sockets out, so they are found among the open files of the process. A file number may
be closed and used again at any moment; what identifies a connection is the inode of its socket.
"""

import contextlib
import os
import socket
import stat
import struct
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

OPEN_FILES = Path("/proc/self/fd")
TCP_INFO = struct.Struct("=24xI24xI64xQ16xI")
"""Of the kernel's `struct tcp_info`, which only ever grows at its end: tcpi_unacked, tcpi_last_data_recv (in
milliseconds), tcpi_bytes_acked, tcpi_notsent_bytes.
"""
MAPPED_IPV4 = "::ffff:"
RESET_ON_CLOSE = struct.pack("ii", 1, 0)
Peer = tuple[str, int]


@dataclass(frozen=True)
class Connection:
    """A connection of a client."""

    file: int
    inode: int
    peer: Peer
    quiet_ms: int
    """How long ago the client sent anything."""
    acknowledged_bytes: int
    pending: int
    """Above zero while the client has not read all that was sent to it."""

    def cut(self) -> None:
        """End the connection at once; whoever serves it sees it closed. Nothing happens if it is gone already."""
        with contextlib.suppress(OSError), socket.socket(fileno=os.dup(self.file)) as same:
            if os.fstat(same.fileno()).st_ino == self.inode:
                same.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
                same.shutdown(socket.SHUT_RDWR)


def is_supported() -> bool:
    """Whether this system tells what is needed."""
    return OPEN_FILES.is_dir() and hasattr(socket, "TCP_INFO")


class ClientConnections:
    """Lists the connections to the ports on which this process listens."""

    def __init__(self) -> None:
        self._ports: set[int] = set()
        self._peers: dict[int, Peer | None] = {}
        """The client of each socket, by inode; None for a socket that is no connection of a client."""

    def scan(self) -> Iterator[Connection | None]:
        """Every connection of a client; None for every other open file, so that the caller can pause in between."""
        files = [int(name) for name in os.listdir(OPEN_FILES)]  # noqa: PTH208 - thousands of them, once a second
        if not self._ports:
            self._ports = {port for file in files for port in _listening_port(file)}
        seen: set[int] = set()
        for file in files:
            inode = _inode_of_socket(file)
            if inode:
                seen.add(inode)
                yield self._examine(file, inode)
        self._peers = {inode: peer for inode, peer in self._peers.items() if inode in seen}

    def _examine(self, file: int, inode: int) -> Connection | None:
        with contextlib.suppress(OSError), _borrowed(file) as found:  # an error: no TCP, or closed meanwhile
            if inode not in self._peers:
                self._peers[inode] = None
                if _port_of(found) in self._ports:
                    host, port = found.getpeername()[:2]
                    self._peers[inode] = (host.removeprefix(MAPPED_IPV4), port)
            peer = self._peers[inode]
            return _describe(found, inode, peer) if peer else None
        return None


@contextlib.contextmanager
def _borrowed(file: int) -> Generator[socket.socket]:
    """A socket object for a file that stays its owner's; family and type are not asked for, which saves three calls."""
    borrowed = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 0, fileno=file)
    try:
        yield borrowed
    finally:
        borrowed.detach()


def _inode_of_socket(file: int) -> int:
    """The inode of an open socket; 0 for anything else."""
    try:
        about = os.fstat(file)
    except OSError:
        return 0  # closed meanwhile
    return about.st_ino if stat.S_ISSOCK(about.st_mode) else 0


def _listening_port(file: int) -> Iterator[int]:
    if _inode_of_socket(file):
        with contextlib.suppress(OSError), _borrowed(file) as found:
            if found.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                yield _port_of(found)


def _port_of(found: socket.socket) -> int:
    name: object = found.getsockname()
    return (
        int(cast("tuple[str, int]", name)[1]) if isinstance(name, tuple) else 0
    )  # a local socket's is a path


def _describe(found: socket.socket, inode: int, peer: Peer) -> Connection:
    info = found.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, TCP_INFO.size)
    unacknowledged, quiet_ms, acknowledged, unsent = TCP_INFO.unpack(info)
    return Connection(found.fileno(), inode, peer, quiet_ms, acknowledged, unacknowledged + unsent)
