"""One private server: started, stopped, crashed on purpose, promoted."""

import os
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from shardwright.errors import ServerUnavailable, SetupInvalid
from shardwright.local.files import ServerFiles, prepare

_START_TIMEOUT_S = 120.0
_STOP_TIMEOUT_S = 60.0
_POLL_S = 0.02
_START_TRIES = 5
_STOP_SIGNALS = {"fast": signal.SIGINT, "immediate": signal.SIGQUIT}

# Kept for the life of the process, so that whoever started a server also reaps it, and a forgotten
# `LocalServer` leaves its server running without a warning about the child.
_children: dict[int, subprocess.Popen[Any]] = {}  # any: only waited for, never read from


class LocalServer:
    """A private PostgreSQL in one folder, for this machine only.

    The folder outlives the object: another object, or another process, with the same folder means the same
    server, with its data, its password and, where possible, its port.
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
        """The folder's contents; made by the first start."""
        if self._files is None:
            raise SetupInvalid(f"The server in {self.directory} was never started.")
        return self._files

    @property
    def port(self) -> int:
        """Where it listens on 127.0.0.1."""
        return self.files.port

    def dsn(self, database: str = "postgres") -> str:
        """Return the address of a database as the superuser, for asyncpg or libpq."""
        return self.files.dsn(database)

    def is_running(self) -> bool:
        """Tell whether the server is up and takes connections."""
        status = self._status()
        return status is not None and status[1] in ("ready", "standby") and _is_alive(status[0])

    def start(self) -> None:
        """Have the server take connections; made on first use, and left alone if it already does."""
        for attempt in range(1, _START_TRIES + 1):
            self._files = prepare(
                self.directory, port=self._port, durable=self.durable, settings=self.settings
            )
            if self.is_running():
                return
            said = self._try_start()
            if said is None:
                return
            if not _may_pass(said) or attempt == _START_TRIES:
                raise ServerUnavailable(f"PostgreSQL in {self.directory} did not start:\n{said}")
            time.sleep(0.2)

    def stop(self, *, mode: Literal["fast", "immediate"] = "fast") -> None:
        """Have no server run in the folder; `immediate` leaves recovery to the next start."""
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
        """Kill every process of the server at once, as a machine that loses its memory would."""
        status = self._status()
        if status is None or not _is_alive(status[0]):
            return
        backends = _children_of(status[0])
        os.kill(status[0], signal.SIGKILL)
        for pid in backends:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue  # it saw the postmaster go and left first
        _reap(status[0])

    def promote(self) -> None:
        """Have a standby become a primary, on a timeline of its own."""
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
        """Return the process id and PostgreSQL's word on its readiness: the file's first and eighth line."""
        try:
            lines = self._pid_file.read_text().splitlines()
            return int(lines[0]), lines[7].strip() if len(lines) > 7 else ""  # noqa: PLR2004 - counted above
        except (FileNotFoundError, IndexError, ValueError):
            return None  # none, or caught in the act of being written

    def _try_start(self) -> str | None:
        """Start the process and wait until it is ready; otherwise return what it said."""
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


def _may_pass(said: str) -> bool:
    """Tell whether trying again can help: a port taken in between, or a crashed server's last backends."""
    return "Address already in use" in said or "pre-existing shared memory block" in said


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
    """Tell whether the process is dead and merely not reaped, which happens where process 1 reaps nothing."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False  # no /proc here: then the signal's word counts


def _children_of(pid: int) -> list[int]:
    try:
        return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except FileNotFoundError:
        return []  # no /proc here: the backends leave by themselves once the postmaster is gone
