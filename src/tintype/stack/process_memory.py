"""Memory of processes, as the kernel accounts for it: proportional set size (PSS).

Resident memory counts shared pages once per process: thirty PostgreSQL backends would each count the same shared
buffers. The proportional set size divides a shared page by the number of processes that have it mapped, so sums are
true. Where reading it is not permitted (a process of another account), resident memory less file-backed and shared
pages stands in.
"""

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

_PROC = Path("/proc")
_KIB = 1024


class MemoryUse(msgspec.Struct, frozen=True):
    """Memory of one process, or the sum of several."""

    proportional_bytes: int = 0
    """Private pages, and the share of those that other processes have mapped too."""
    private_bytes: int = 0
    """Pages that no other process has mapped: what its end would free."""
    processes: int = 0

    def __add__(self, other: "MemoryUse") -> "MemoryUse":
        return MemoryUse(
            self.proportional_bytes + other.proportional_bytes,
            self.private_bytes + other.private_bytes,
            self.processes + other.processes,
        )


def memory_of(pid: int) -> MemoryUse | None:
    """Memory of one process; None when it is gone."""
    try:
        return _read_rollup((_PROC / str(pid) / "smaps_rollup").read_text())
    except PermissionError:
        return _estimate(pid)
    except OSError:  # exited, also between opening and reading the file
        return None


def memory_of_tree(pid: int) -> MemoryUse:
    """Memory of a process and all its descendants, such as a postmaster and its backends."""
    return sum_of(tree(pid))


def sum_of(pids: Iterable[int]) -> MemoryUse:
    """Memory of these processes together; those that have exited count nothing."""
    total = MemoryUse()
    for pid in pids:
        total += memory_of(pid) or MemoryUse()
    return total


def tree(pid: int) -> list[int]:
    """A process and all its descendants."""
    return trees([pid])[pid]


def trees(pids: Iterable[int]) -> dict[int, list[int]]:
    """Each of these processes with all its descendants."""
    children: defaultdict[int, list[int]] = defaultdict(list)
    for child, parent in _parents():
        children[parent].append(child)
    return {pid: _descend(pid, children) for pid in pids}


def _descend(pid: int, children: Mapping[int, list[int]]) -> list[int]:
    found = [pid]
    for each in found:  # grows while it is walked
        found += children.get(each, [])
    return found


def command_of(pid: int) -> str:
    """The command line of a process, or the title that it gave itself; empty when it is gone."""
    try:
        return (
            (_PROC / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        )
    except OSError:
        return ""


def _read_rollup(text: str) -> MemoryUse:
    kib = {
        line.partition(":")[0]: int(line.split()[1])
        for line in text.splitlines()[1:]  # the first line is an address range
    }
    private = kib.get("Private_Clean", 0) + kib.get("Private_Dirty", 0)
    return MemoryUse(kib.get("Pss", 0) * _KIB, private * _KIB, 1)


def _estimate(pid: int) -> MemoryUse | None:
    try:
        resident, shared = (int(each) for each in (_PROC / str(pid) / "statm").read_text().split()[1:3])
    except OSError:
        return None
    own = (resident - shared) * os.sysconf("SC_PAGE_SIZE")
    return MemoryUse(own, own, 1)


def _parents() -> Iterator[tuple[int, int]]:
    for folder in _PROC.iterdir() if _PROC.is_dir() else ():
        if folder.name.isdecimal():
            try:
                after_name = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
            except OSError:
                continue  # exited meanwhile
            yield int(folder.name), int(after_name[1])
