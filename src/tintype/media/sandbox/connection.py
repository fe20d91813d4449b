"""The fork server of this process: started with the first job, restarted when it is gone, ended with the process."""

import atexit
import os
import socket
import subprocess
import sys
import threading
from dataclasses import dataclass

import msgspec

from tintype.media.sandbox.limits import ENVIRONMENT
from tintype.media.sandbox.protocol import ForkServerArguments, SandboxOptions
from tintype.media.sandbox.registry import JOBS, WARM_UP

EXIT_TIMEOUT_S = 5


@dataclass
class ForkServerConnection:
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

    connection: ForkServerConnection | None = None
    options = SandboxOptions()
    lock = threading.Lock()


def configure_sandbox(options: SandboxOptions) -> SandboxOptions:
    """Choose how the next fork server of this process is started, and return the former choice.

    A fork server that runs stays as it is.
    """
    former, _Process.options = _Process.options, options
    return former


def try_send_job(request: bytes, descriptors: list[int]) -> bool:
    """Send without waiting, as `send_job`; False if that needs time: the fork server must be started, or is busy."""
    if not _Process.lock.acquire(blocking=False):
        return False
    try:
        if _Process.connection is None:
            return False
        _send(_Process.connection, request, descriptors, socket.MSG_DONTWAIT)
    except OSError:
        return False
    finally:
        _Process.lock.release()
    return True


def send_job(request: bytes, descriptors: list[int]) -> None:
    """Send a request, the socket to reply on and any progress file to the fork server; start one if there is none."""
    with _Process.lock:
        if _Process.connection is None:
            _Process.connection = _start(_Process.options)
        try:
            _send(_Process.connection, request, descriptors)
        except OSError:  # it was killed since the last job
            _Process.connection.close()
            _Process.connection = _start(_Process.options)
            _send(_Process.connection, request, descriptors)


def find_fork_server_pid() -> int | None:
    """The process id of this process's fork server, if one runs."""
    return _Process.connection.process.pid if _Process.connection else None


def close_fork_server() -> None:
    """End this process's fork server; the next job starts another."""
    with _Process.lock:
        if _Process.connection is not None:
            _Process.connection.close()
        _Process.connection = None


def _send(connection: ForkServerConnection, request: bytes, descriptors: list[int], flags: int = 0) -> None:
    socket.send_fds(connection.control, [request], descriptors, flags)


def _start(options: SandboxOptions) -> ForkServerConnection:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        arguments = ForkServerArguments(
            control=theirs.fileno(),
            folder=str(options.folder) if options.folder else None,
            helpers=options.helpers,
            required_walls=options.required_walls,
            modules=sorted(
                {each.partition(":")[0] for each in (WARM_UP, *(job.target for job in JOBS.values()))}
            ),
        )
        process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "tintype.media.sandbox.fork_server",
                msgspec.json.encode(arguments).decode(),
            ],
            env=clean_environment(),
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for this process, which closes the socket when it exits
        )
    return ForkServerConnection(process, ours)


def clean_environment() -> dict[str, str]:
    """The environment of a sandbox's processes: where the code is, and no settings."""
    path = os.pathsep.join(entry for entry in sys.path if entry)
    kept = {name: os.environ[name] for name in ("TMPDIR",) if name in os.environ}
    return ENVIRONMENT | kept | {"PYTHONPATH": path}


def _drop_after_fork() -> None:
    """In a forked child: close our copy of the parent's socket; the next job starts a fork server of our own."""
    if _Process.connection is not None:
        _Process.connection.control.close()
        _Process.connection.process.returncode = 0  # not ours to wait for
    _Process.connection = None
    _Process.lock = threading.Lock()


os.register_at_fork(after_in_child=_drop_after_fork)
atexit.register(close_fork_server)
