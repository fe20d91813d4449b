"""Process identity: pids are reused, so a process is identified by more than its pid.

An identity is a pid, its start time in clock ticks and the boot id: the same three never occur twice. Besides the
recorded ones, our programs carry a marker in their environment that their children inherit, and PostgreSQL's processes
(which overwrite their environment) have their data directory as working directory. All of it is read from /proc; where
there is none, no process is identified and none is stopped.
"""

import asyncio
import os
import signal
import time
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import msgspec

MARK = "TINTYPE_STACK"
"""Environment variable with the data directory that a process belongs to."""

_PROC = Path("/proc")
_POLL_S = 0.02


class Identity(msgspec.Struct, frozen=True):
    """Identifies one process: no other process ever has the same value."""

    pid: int
    started_ticks: int
    boot: str


def identify(pid: int) -> Identity | None:
    """Return the identity of the process that has this pid now; None when there is none."""
    fields = _stat(pid)
    if fields is None or fields[0] in ("Z", "X"):  # a zombie has exited and only waits to be reaped
        return None
    return Identity(pid, int(fields[19]), _boot_id())


def is_alive(identity: Identity) -> bool:
    """Whether that process is still running."""
    return identify(identity.pid) == identity


def uptime_s(identity: Identity) -> float:
    """How long the process has been running."""
    since_boot = float((_PROC / "uptime").read_text().split()[0])
    return max(0.0, since_boot - identity.started_ticks / os.sysconf("SC_CLK_TCK"))


def find_marked(mark: str) -> list[Identity]:
    """Return every running process with the marker in its environment, except this one."""
    wanted = f"{MARK}={mark}".encode()
    found = (identify(pid) for pid in _pids() if pid != os.getpid() and wanted in _environment(pid))
    return [each for each in found if each is not None]


def find_working_in(folder: Path, program: str) -> list[Identity]:
    """Return every running process of that program whose working directory is the folder."""
    found = (identify(pid) for pid in _pids() if _name(pid) == program and _cwd(pid) == folder.resolve())
    return [each for each in found if each is not None]


def in_group(identity: Identity, group: int) -> bool:
    """Whether the process belongs to that process group."""
    fields = _stat(identity.pid)
    return fields is not None and int(fields[2]) == group


def send(identity: Identity, number: signal.Signals) -> None:
    """Send a signal to that process; does nothing when it has exited."""
    if is_alive(identity):
        try:
            os.kill(identity.pid, number)
        except ProcessLookupError:
            return  # it exited between the check and the signal


async def wait_gone(identities: Iterable[Identity], timeout_s: float) -> list[Identity]:
    """Wait until all of them have exited; returns those still running at the timeout."""
    deadline = time.monotonic() + timeout_s
    left = [each for each in identities if is_alive(each)]
    while left and time.monotonic() < deadline:
        await asyncio.sleep(_POLL_S)
        left = [each for each in left if is_alive(each)]
    return left


async def end(identities: Iterable[Identity], *steps: tuple[signal.Signals, float]) -> list[Identity]:
    """Stop them; each step is a signal and the seconds to wait after it. Returns those that survived all steps."""
    left = list(identities)
    for number, timeout_s in steps:
        for each in left:
            send(each, number)
        left = await wait_gone(left, timeout_s)
    return left


def find_listener(port: int) -> str | None:
    """Return the program that listens on a TCP port, such as `nginx, pid 80`; None when unknown or not permitted."""
    sockets = {f"socket:[{inode}]" for inode in listening_inodes(port)}
    for pid in _pids() if sockets else ():
        if not sockets.isdisjoint(open_files(pid)):
            return f"{_name(pid)}, pid {pid}"
    return None


def _stat(pid: int) -> list[str] | None:
    """The fields of /proc/PID/stat after the name, which may contain spaces and parentheses; state comes first."""
    try:
        return (_PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None


def _name(pid: int) -> str:
    try:
        return (_PROC / str(pid) / "comm").read_text(errors="replace").strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def _environment(pid: int) -> list[bytes]:
    try:
        return (_PROC / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return []  # exited, or owned by somebody else: then it is not ours to stop


def _cwd(pid: int) -> Path | None:
    try:
        return (_PROC / str(pid) / "cwd").readlink()
    except OSError:
        return None  # likewise


def open_files(pid: int) -> Iterator[str]:
    """What the files of a process are, sockets as `socket:[inode]`."""
    try:
        found = list((_PROC / str(pid) / "fd").iterdir())
    except OSError:
        return  # likewise
    for each in found:
        try:
            yield str(each.readlink())
        except OSError:
            continue  # closed meanwhile


def listening_inodes(port: int) -> Iterator[str]:
    """The inodes of the sockets that listen on a TCP port."""
    listening, wanted = "0A", f"{port:04X}"
    for table in ("tcp", "tcp6"):
        try:
            lines = (_PROC / "net" / table).read_text().splitlines()[1:]
        except OSError:
            continue  # no /proc, or no IPv6 here
        for columns in map(str.split, lines):
            if columns[3] == listening and columns[1].rpartition(":")[2] == wanted:
                yield columns[9]


def _pids() -> list[int]:
    return [int(each.name) for each in _PROC.iterdir() if each.name.isdecimal()] if _PROC.is_dir() else []


@cache
def _boot_id() -> str:
    try:
        return (_PROC / "sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""
