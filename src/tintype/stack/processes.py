"""Which processes are ours: a pid alone lies after a restart, so a process is known by more than its number.

An identity is a pid, its start time in clock ticks and the boot it belongs to: the kernel never gives the
same three twice. Beyond the recorded ones, our programs carry a mark in their environment that their children
inherit, and PostgreSQL's processes (which overwrite their environment) work in their data directory.
All of it is read from /proc; where there is none, nothing is claimed and nothing is ended.
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
"""Environment variable that names the home a process belongs to."""

_PROC = Path("/proc")
_POLL_S = 0.02


class Identity(msgspec.Struct, frozen=True):
    """One process, for good: the same value never names another one."""

    pid: int
    started_ticks: int
    boot: str


def identify(pid: int) -> Identity | None:
    """Return who has this pid now, or `None` when nobody lives there."""
    fields = _stat(pid)
    if fields is None or fields[0] in ("Z", "X"):  # a zombie only waits to be counted
        return None
    return Identity(pid, int(fields[19]), _boot_id())


def is_alive(identity: Identity) -> bool:
    """Tell whether that very process still runs."""
    return identify(identity.pid) == identity


def uptime_s(identity: Identity) -> float:
    """How long the process has been running."""
    since_boot = float((_PROC / "uptime").read_text().split()[0])
    return max(0.0, since_boot - identity.started_ticks / os.sysconf("SC_CLK_TCK"))


def memory_bytes(identity: Identity) -> int | None:
    """Resident memory of the process alone; `None` when it is gone."""
    fields = _stat(identity.pid)
    return None if fields is None else int(fields[21]) * os.sysconf("SC_PAGE_SIZE")


def find_marked(mark: str) -> list[Identity]:
    """Return every living process that carries the mark, ourselves excepted."""
    wanted = f"{MARK}={mark}".encode()
    found = (identify(pid) for pid in _pids() if pid != os.getpid() and wanted in _environment(pid))
    return [each for each in found if each is not None]


def find_working_in(folder: Path, program: str) -> list[Identity]:
    """Return every living process of that program name whose working directory is the folder."""
    found = (identify(pid) for pid in _pids() if _name(pid) == program and _cwd(pid) == folder.resolve())
    return [each for each in found if each is not None]


def in_group(identity: Identity, group: int) -> bool:
    """Tell whether the process belongs to that process group."""
    fields = _stat(identity.pid)
    return fields is not None and int(fields[2]) == group


def send(identity: Identity, number: signal.Signals) -> None:
    """Signal that very process; nothing happens when it is gone."""
    if is_alive(identity):
        try:
            os.kill(identity.pid, number)
        except ProcessLookupError:
            return  # it left between the look and the signal


async def wait_gone(identities: Iterable[Identity], timeout_s: float) -> list[Identity]:
    """Wait until all of them have ended; returns those that still live when time is up."""
    deadline = time.monotonic() + timeout_s
    left = [each for each in identities if is_alive(each)]
    while left and time.monotonic() < deadline:
        await asyncio.sleep(_POLL_S)
        left = [each for each in left if is_alive(each)]
    return left


async def end(identities: Iterable[Identity], *steps: tuple[signal.Signals, float]) -> list[Identity]:
    """End them, each step a signal and the seconds to wait for it; returns those that survived all steps."""
    left = list(identities)
    for number, patience_s in steps:
        for each in left:
            send(each, number)
        left = await wait_gone(left, patience_s)
    return left


def find_listener(port: int) -> str | None:
    """Name the program that listens on a TCP port, as far as we may look; `None` when unknown."""
    sockets = {f"socket:[{inode}]" for inode in _listening_inodes(port)}
    for pid in _pids() if sockets else ():
        if not sockets.isdisjoint(_open_files(pid)):
            return f"{_name(pid)}, pid {pid}"
    return None


def _stat(pid: int) -> list[str] | None:
    """The fields after the name, which may itself hold spaces and brackets: state first."""
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
        return []  # gone, or not ours to look at: then it is not ours to end


def _cwd(pid: int) -> Path | None:
    try:
        return (_PROC / str(pid) / "cwd").readlink()
    except OSError:
        return None  # likewise


def _open_files(pid: int) -> Iterator[str]:
    try:
        found = list((_PROC / str(pid) / "fd").iterdir())
    except OSError:
        return  # likewise
    for each in found:
        try:
            yield str(each.readlink())
        except OSError:
            continue  # closed while we looked


def _listening_inodes(port: int) -> Iterator[str]:
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
