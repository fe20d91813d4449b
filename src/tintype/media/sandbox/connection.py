"""The helper of this process: started when first needed, started anew when it is gone, ended with us."""

import atexit
import os
import socket
import subprocess
import sys
import threading
from dataclasses import dataclass

from tintype.media.sandbox.limits import ENVIRONMENT

GOODBYE_S = 5


@dataclass
class Connection:
    """A helper and the socket it listens on."""

    process: subprocess.Popen[bytes]
    control: socket.socket

    def close(self) -> None:
        """Let the helper end, and every job it has under way."""
        self.control.close()
        try:
            self.process.wait(GOODBYE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class _Here:
    connection: Connection | None = None
    lock = threading.Lock()


def send_to_helper(request: bytes, answers: socket.socket) -> None:
    """Hand over a request and the socket to answer on, starting a helper if there is none."""
    with _Here.lock:
        if _Here.connection is None:
            _Here.connection = _start()
        try:
            _send(_Here.connection, request, answers)
        except OSError:  # it was killed since the last job
            _Here.connection.close()
            _Here.connection = _start()
            _send(_Here.connection, request, answers)


def find_helper_pid() -> int | None:
    """The process id of this process's helper, if one runs."""
    return _Here.connection.process.pid if _Here.connection else None


def close_helper() -> None:
    """End this process's helper; the next job starts another."""
    with _Here.lock:
        if _Here.connection is not None:
            _Here.connection.close()
        _Here.connection = None


def _send(connection: Connection, request: bytes, answers: socket.socket) -> None:
    socket.send_fds(connection.control, [request], [answers.fileno()])


def _start() -> Connection:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    path = os.pathsep.join(entry for entry in sys.path if entry)
    kept = {name: os.environ[name] for name in ("TMPDIR",) if name in os.environ}
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", "tintype.media.sandbox.helper", str(theirs.fileno())],
            env=ENVIRONMENT | kept | {"PYTHONPATH": path},
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for us; we close the socket on our way out
        )
    return Connection(process, ours)


def _forget() -> None:
    """After a fork: the helper belongs to the parent; close our copy of its socket and start our own later."""
    if _Here.connection is not None:
        _Here.connection.control.close()
        _Here.connection.process.returncode = 0  # not ours to wait for
    _Here.connection = None
    _Here.lock = threading.Lock()


os.register_at_fork(after_in_child=_forget)
atexit.register(close_helper)
