"""A local PostgreSQL server: start, stop, promote and, for tests, crash and pause."""

import os
import signal
import subprocess
import time
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from shardwright.errors import ServerUnavailable, SetupInvalid
from shardwright.local.files import ServerFiles, prepare

_START_TIMEOUT_S = 120.0
_STOP_TIMEOUT_S = 60.0
_POLL_S = 0.02
_START_ATTEMPTS = 5
_STOP_SIGNALS = {"fast": signal.SIGINT, "immediate": signal.SIGQUIT}

# Kept for the lifetime of the process, so that the process that started a server also reaps it, and a `LocalServer`
# that is garbage-collected leaves its server running without a warning about the child.
_children: dict[int, subprocess.Popen[Any]] = {}  # any: only waited for, never read from


class LocalServer:
    """A PostgreSQL server in one folder, reachable from this machine only.

    The folder outlives the object: another object or process with the same folder controls the same server, with its
    data, its password and, where possible, its port.
    """

    def __init__(
        self,
        directory: Path,
        *,
        port: int | None = None,
        durable: bool = True,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        self.directory = directory.absolute()
        self._port = port
        self.durable = durable
        self.settings = dict(settings or {})
        self._files: ServerFiles | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def files(self) -> ServerFiles:
        """The folder's contents; created by the first start."""
        if self._files is None:
            raise SetupInvalid(f"The server in {self.directory} was never started.")
        return self._files

    @property
    def port(self) -> int:
        """Its port on 127.0.0.1."""
        return self.files.port

    def dsn(self, database: str = "postgres") -> str:
        """Return the address of a database as the superuser, for asyncpg or libpq."""
        return self.files.dsn(database)

    def is_running(self) -> bool:
        """Whether the server is up and accepts connections."""
        status = self._status()
        return status is not None and status[1] in ("ready", "standby") and _is_alive(status[0])

    def start(self) -> None:
        """Start the server and wait until it accepts connections; creates it on first use, does nothing if it runs."""
        for attempt in range(1, _START_ATTEMPTS + 1):
            self._files = prepare(
                self.directory, port=self._port, durable=self.durable, settings=self.settings
            )
            if self.is_running():
                return
            output = self._try_start()
            if output is None:
                return
            if not _is_transient(output) or attempt == _START_ATTEMPTS:
                raise ServerUnavailable(f"PostgreSQL in {self.directory} did not start:\n{output}")
            time.sleep(0.2)

    def stop(self, *, mode: Literal["fast", "immediate"] = "fast") -> None:
        """Stop the server of this folder; `immediate` leaves recovery to the next start."""
        status = self._status()
        if status is None or not _is_alive(status[0]):
            return
        os.kill(status[0], _STOP_SIGNALS[mode])
        deadline = time.monotonic() + _STOP_TIMEOUT_S
        while _is_alive(status[0]) and self._pid_file.exists():
            if time.monotonic() > deadline:
                raise ServerUnavailable(
                    f"PostgreSQL in {self.directory} did not stop within {_STOP_TIMEOUT_S} s."
                )
            time.sleep(_POLL_S)
        _reap(status[0])

    def crash(self) -> None:
        """Kill every process of the server at once, as a crash of the machine would."""
        status = self._status()
        if status is None or not _is_alive(status[0]):
            return
        backends = _children_of(status[0])
        os.kill(status[0], signal.SIGKILL)
        for pid in backends:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue  # it noticed the postmaster's death and exited first
        _reap(status[0])

    @contextmanager
    def paused(self) -> Generator[None]:
        """Stop every process of the server for the block: it still accepts connections, and answers nothing."""
        status = self._status()
        if status is None:
            raise ServerUnavailable(f"The server in {self.directory} does not run.")
        pids = [status[0], *_children_of(status[0])]
        _signal(pids, signal.SIGSTOP)
        try:
            yield
        finally:
            _signal(pids, signal.SIGCONT)

    def promote(self) -> None:
        """Promote a standby to a primary, on a new timeline."""
        subprocess.run(
            [self.files.binaries.program("pg_ctl"), "-D", str(self.files.data), "-w", "promote"],
            check=True,
            capture_output=True,
            **self.files.popen_kwargs(),
        )

    @property
    def _pid_file(self) -> Path:
        return self.directory / "data" / "postmaster.pid"

    def _status(self) -> tuple[int, str] | None:
        """Return the process id and the status from postmaster.pid: its first and eighth line."""
        try:
            lines = self._pid_file.read_text().splitlines()
            return int(lines[0]), lines[7].strip() if len(lines) > 7 else ""  # noqa: PLR2004 - counted above
        except (FileNotFoundError, IndexError, ValueError):
            return None  # no file, or it is just being written

    def _try_start(self) -> str | None:
        """Start the process and wait until it is ready; returns None, or its output when it failed."""
        files = self.files
        with files.log.open("ab") as log:
            start_of_log = log.tell()
            process = subprocess.Popen(files.command(), stdout=log, stderr=log, **files.popen_kwargs())
        _children[process.pid] = process
        deadline = time.monotonic() + _START_TIMEOUT_S
        while process.poll() is None:
            status = self._status()
            if status is not None and status[0] == process.pid and self.is_running():
                return None
            if time.monotonic() > deadline:
                process.kill()
                _reap(process.pid)
                break
            time.sleep(_POLL_S)
        _reap(process.pid)
        with files.log.open("rb") as log:
            log.seek(start_of_log)
            return log.read().decode(errors="replace")[-2000:]


def _signal(pids: Iterable[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):  # a backend that has exited meanwhile
            os.kill(pid, number)


def _is_transient(output: str) -> bool:
    """Whether a retry can help: the port was taken meanwhile, or a crashed server's backends are still exiting."""
    return "Address already in use" in output or "pre-existing shared memory block" in output


def _reap(pid: int) -> None:
    child = _children.pop(pid, None)
    if child is not None:
        child.wait()


def _is_alive(pid: int) -> bool:
    child = _children.get(pid)
    if child is not None:
        return child.poll() is None
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return not _is_zombie(pid)


def _is_zombie(pid: int) -> bool:
    """Whether the process has exited and is only not reaped, which happens where pid 1 does not reap."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False  # no /proc here: rely on the signal


def _children_of(pid: int) -> list[int]:
    try:
        return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except FileNotFoundError:
        return []  # no /proc here: the backends exit by themselves once the postmaster is gone
