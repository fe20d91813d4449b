"""Limits of a job on every Linux: rlimits, an empty environment, no open descriptors, death with its parent.

- memory, CPU seconds, file size and open files are limited by rlimits (`registry.Limits`). Not the number of
  processes: the kernel counts all of a user's, the servers beside us too; `isolation` forbids new ones instead;
- the environment holds what the libraries need and nothing else: no settings, no credentials;
- no descriptor is open but the socket for the reply; standard streams are /dev/null;
- the working directory is a temporary one of its own, removed afterwards;
- it leads a session and is killed with everything in it, and it is killed when the fork server dies.
"""

import ctypes
import os
import resource
import signal

from tintype.media.sandbox.registry import JobLimits

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
    """Call prctl(2); raise its error."""
    padded = [ctypes.c_ulong(value) for value in (*values, 0, 0, 0, 0)[:4]]
    if libc.prctl(option, *padded) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def die_with_parent(parent_pid: int) -> None:
    """Have this process killed when its parent ends; exit if that has happened already."""
    control_process(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent_pid:
        os._exit(1)


def close_descriptors_except(kept: int) -> None:
    """Close every descriptor but the one given; standard streams become /dev/null."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    os.closerange(3, kept)
    os.closerange(kept + 1, resource.getrlimit(resource.RLIMIT_NOFILE)[0])


def set_limits(limits: JobLimits) -> None:
    """Set the rlimits and no_new_privs, which this process cannot undo."""
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
        limit = value if hard == resource.RLIM_INFINITY else min(value, hard)
        # The hard limit is a second later, so that the process ends by SIGXCPU, which says why, and not by SIGKILL.
        resource.setrlimit(
            kind, (limit, limit + 1 if kind == resource.RLIMIT_CPU and limit != hard else limit)
        )


def offer_to_oom_killer() -> None:
    """Have the kernel kill this process first when the machine runs out of memory."""
    with open("/proc/self/oom_score_adj", "w") as score:  # noqa: PTH123 - as plain as it gets, between fork and isolation
        score.write("1000")
