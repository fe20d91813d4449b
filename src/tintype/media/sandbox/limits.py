"""Limits of a job on every Linux: rlimits, an empty environment, no open descriptors, death with its parent.

- memory, CPU seconds, file size and open files are limited by rlimits (`registry.JobLimits`), and the number of
  threads where the kernel counts the job's own and not all of its user's;
- the environment holds what the libraries need and nothing else: no settings, no credentials;
- no descriptor is open but the socket that brings the job; standard streams are /dev/null;
- it leads a session and is killed with everything in it, and it is killed when the fork server dies.
"""

import ctypes
import os
import resource
import signal

from tintype.media.sandbox.registry import JobLimits

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
MAX_THREADS = 512
OPEN_FILES = 64

ENVIRONMENT = {
    "PATH": os.defpath,
    "LANG": "C.UTF-8",
    "VIPS_CONCURRENCY": "1",
    "VIPS_WARNING": "0",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "2",
    # Buffers of a photo are reused instead of returned to the kernel, and come in large pages: an eighth of its time.
    "MALLOC_MMAP_THRESHOLD_": str(16 << 20),
    "MALLOC_TRIM_THRESHOLD_": str(64 << 20),
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
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
    """Have this process killed when its parent ends; exit if that has happened already.

    The kernel forgets this when a process changes its account, so it comes after that.
    """
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


def limit_process(*, has_own_thread_count: bool) -> None:
    """Set the limits that are the same for every job: open files, threads, no core dump, no debugger."""
    control_process(PR_SET_DUMPABLE, 0)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_NOFILE, OPEN_FILES)
    if has_own_thread_count:
        _limit(resource.RLIMIT_NPROC, MAX_THREADS)


def limit_job(limits: JobLimits) -> None:
    """Set the limits of one job, which this process cannot raise again."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    _limit(resource.RLIMIT_AS, limits.memory_bytes)
    _limit(resource.RLIMIT_FSIZE, limits.file_bytes)
    _limit(resource.RLIMIT_CPU, limits.cpu_s + round(used.ru_utime + used.ru_stime))


def _limit(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    limit = value if hard == resource.RLIM_INFINITY else min(value, hard)
    # The hard limit is a second later, so that the process ends by SIGXCPU, which says why, and not by SIGKILL.
    resource.setrlimit(kind, (limit, limit + 1 if kind == resource.RLIMIT_CPU and limit != hard else limit))


def offer_to_oom_killer() -> None:
    """Have the kernel kill this process first when the machine runs out of memory."""
    with open("/proc/self/oom_score_adj", "w") as score:  # noqa: PTH123 - as plain as it gets, between fork and walls
        score.write("1000")
