"""What holds for a job on every Linux: limits on what it uses, an empty environment, an end with its parent.

- memory, CPU seconds, file size and open files are limited by rlimits (`registry.Limits`). Not the number of
  processes: the kernel counts all of an account's, the servers beside us too; `walls` forbids new ones instead;
- the environment holds what the libraries need and nothing else: no settings, no credentials;
- no descriptor is open but the socket of the answer; standard streams lead nowhere;
- the working directory is a temporary one of its own, removed afterwards;
- it is the leader of a session, killed with everything in it, and it is killed when the helper dies.
"""

import ctypes
import os
import resource
import signal

from tintype.media.sandbox.registry import Limits

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_NO_NEW_PRIVS = 38

ENVIRONMENT = {
    "PATH": os.defpath,
    "LANG": "C.UTF-8",
    "VIPS_CONCURRENCY": "1",
    "VIPS_WARNING": "0",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "2",
    "PYTHONSAFEPATH": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
}

libc = ctypes.CDLL(None, use_errno=True)


def control_process(option: int, *values: int) -> None:
    """Call prctl(2); raise what it refuses."""
    padded = [ctypes.c_ulong(value) for value in (*values, 0, 0, 0, 0)[:4]]
    if libc.prctl(option, *padded) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def die_with_parent(parent_pid: int) -> None:
    """End this process when its parent ends, also when that happened before this call."""
    control_process(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent_pid:
        os._exit(1)


def close_descriptors_but(kept: int) -> None:
    """Leave open the one descriptor given; standard streams lead nowhere."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    os.closerange(3, kept)
    os.closerange(kept + 1, resource.getrlimit(resource.RLIMIT_NOFILE)[0])


def hold_to(limits: Limits) -> None:
    """Set the limits, and no way back."""
    control_process(PR_SET_NO_NEW_PRIVS, 1)
    control_process(PR_SET_DUMPABLE, 0)
    for kind, value in (
        (resource.RLIMIT_AS, limits.memory_bytes),
        (resource.RLIMIT_CPU, limits.cpu_s),
        (resource.RLIMIT_FSIZE, limits.file_bytes),
        (resource.RLIMIT_NOFILE, limits.open_files),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(kind)
        most = value if hard == resource.RLIM_INFINITY else min(value, hard)
        # A second between soft and hard, so that SIGXCPU says why, and not the SIGKILL of the hard limit.
        resource.setrlimit(kind, (most, most + 1 if kind == resource.RLIMIT_CPU and most != hard else most))


def offer_to_oom_killer() -> None:
    """Let the kernel take this process first when the machine runs out of memory."""
    with open("/proc/self/oom_score_adj", "w") as score:  # noqa: PTH123 - as plain as it gets, between fork and walls
        score.write("1000")
