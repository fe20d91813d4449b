"""The fork server of this process: started with the first job, restarted when it is gone, ended with the process."""

import atexit
import os
import socket
import subprocess
import sys
import threading
from dataclasses import dataclass

from tintype.media.sandbox.limits import ENVIRONMENT

EXIT_TIMEOUT_S = 5


@dataclass
class Connection:
    """A fork server and the socket it listens on."""

    process: subprocess.Popen[bytes]
    control: socket.socket

    def close(self) -> None:
        """End the fork server, and every job it is running."""
        self.control.close()
        try:
            self.process.wait(EXIT_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class _Process:
    """The one fork server of this process."""

    connection: Connection | None = None
    lock = threading.Lock()


def send_job(request: bytes, replies: socket.socket) -> None:
    """Send a request, and the socket to reply on, to the fork server; start one if there is none."""
    with _Process.lock:
        if _Process.connection is None:
            _Process.connection = _start()
        try:
            _send(_Process.connection, request, replies)
        except OSError:  # it was killed since the last job
            _Process.connection.close()
            _Process.connection = _start()
            _send(_Process.connection, request, replies)


def find_fork_server_pid() -> int | None:
    """The process id of this process's fork server, if one runs."""
    return _Process.connection.process.pid if _Process.connection else None


def close_fork_server() -> None:
    """End this process's fork server; the next job starts another."""
    with _Process.lock:
        if _Process.connection is not None:
            _Process.connection.close()
        _Process.connection = None


def _send(connection: Connection, request: bytes, replies: socket.socket) -> None:
    socket.send_fds(connection.control, [request], [replies.fileno()])


def _start() -> Connection:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    path = os.pathsep.join(entry for entry in sys.path if entry)
    kept = {name: os.environ[name] for name in ("TMPDIR",) if name in os.environ}
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", "tintype.media.sandbox.fork_server", str(theirs.fileno())],
            env=ENVIRONMENT | kept | {"PYTHONPATH": path},
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for this process, which closes the socket when it exits
        )
    return Connection(process, ours)


def _drop_after_fork() -> None:
    """In a forked child: close our copy of the parent's socket; the next job starts a fork server of our own."""
    if _Process.connection is not None:
        _Process.connection.control.close()
        _Process.connection.process.returncode = 0  # not ours to wait for
    _Process.connection = None
    _Process.lock = threading.Lock()


os.register_at_fork(after_in_child=_drop_after_fork)
atexit.register(close_fork_server)
