"""The machine's cores and memory, or the container's limits where those are lower, and what to run on them.

A web process keeps about one core busy at full load, the workers behind it and PostgreSQL the others: of four cores two
are for web processes and one is for a worker. Each process also takes memory, together with the PostgreSQL backends of
its connections; a small machine gets fewer processes than its cores could serve, never less than one of each.
"""

import math
import os
from dataclasses import dataclass
from pathlib import Path

from tintype.stack.system_memory import total_bytes

_MIB = 1024**2
_QUOTA = Path("/sys/fs/cgroup/cpu.max")
_LEGACY_QUOTA = ("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "/sys/fs/cgroup/cpu/cpu.cfs_period_us")
CORES_PER_WEB, CORES_PER_WORKER = 2, 4
MAX_WEB, MAX_WORKERS = 32, 16
# Measured under load by 120 people on 64 shards, with the backends of each process: see docs/adr/0045.
STACK_BYTES = 400 * _MIB
"""The servers without backends of ours, the supervisor, and room for the file cache."""
REPLICA_BYTES = 60 * _MIB
"""A replica without backends of ours; measured like the others, see docs/adr/0051."""
WEB_BYTES = 300 * _MIB
WORKER_BYTES = 250 * _MIB
WEB_REPLICA_BYTES = 30 * _MIB
"""A web process's backends at one replica; workers read there nothing."""
REQUESTS_PER_CORE_S = 100
SECONDS_PER_REQUEST = 5
"""How often somebody who looks at photos causes a request."""
SHARE_OF_MEMORY = 3 / 4
"""For processes; the rest is for what they read and write: the file cache, sorting, photos."""


@dataclass(frozen=True)
class Machine:
    """What all programs together may use."""

    cores: int
    memory_bytes: int


@dataclass(frozen=True)
class ProcessCounts:
    """How many processes serve requests, and how many do the work that follows."""

    web: int
    workers: int


def this_machine() -> Machine:
    """The machine that this process runs on, as far as its container lets it."""
    return Machine(cores=count_cores(), memory_bytes=total_bytes())


def count_cores() -> int:
    """Cores that this process may use: by its affinity, and by the container's quota, rounded up."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota = _read_quota()
    return max(1, allowed if quota is None else min(allowed, math.ceil(quota)))


def choose_counts(machine: Machine, replicas: int = 0) -> ProcessCounts:
    """The processes that suit a machine which runs everything, so many replicas too: by its cores and its memory."""
    web = max(1, min(machine.cores // CORES_PER_WEB, MAX_WEB))
    workers = max(1, min(machine.cores // CORES_PER_WORKER, MAX_WORKERS))
    available = machine.memory_bytes * SHARE_OF_MEMORY
    while web + workers > 2 and needed_bytes(ProcessCounts(web, workers), replicas) > available:  # noqa: PLR2004 - one each
        if web >= CORES_PER_WORKER // CORES_PER_WEB * workers:
            web -= 1
        else:
            workers -= 1
    return ProcessCounts(web, workers)


def needed_bytes(counts: ProcessCounts, replicas: int = 0, *, has_servers: bool = True) -> int:
    """Memory of so many processes under load with their backends, of so many embedded replicas and of the servers."""
    servers = STACK_BYTES * has_servers + replicas * REPLICA_BYTES
    web = counts.web * (WEB_BYTES + replicas * WEB_REPLICA_BYTES)
    return servers + web + counts.workers * WORKER_BYTES


def requests_per_s(machine: Machine) -> int:
    """Requests that a machine which runs everything answers in a second, two thirds of them reads."""
    return machine.cores * REQUESTS_PER_CORE_S


def people_at_once(machine: Machine) -> int:
    """People who may use the site in the same minute."""
    return requests_per_s(machine) * SECONDS_PER_REQUEST


def _read_quota() -> float | None:
    """Cores that the container may use; None without a limit."""
    if _QUOTA.exists():
        quota, _, period = _QUOTA.read_text().strip().partition(" ")
        return None if quota == "max" else int(quota) / int(period or 100_000)
    quota, period = (Path(each) for each in _LEGACY_QUOTA)
    if not quota.exists() or int(quota.read_text()) <= 0:
        return None
    return int(quota.read_text()) / int(period.read_text())
