"""The system calls that a job may make, by processor architecture; the seccomp filter refuses every other one.

What is listed is what decoders, encoders, Python and the C library need once everything is loaded: memory, threads, the
files of the job's own folder, the clock, and the socket it replies on. Numbers are part of the kernel's ABI and never
change; a test compares them with the kernel's headers.
"""

from dataclasses import dataclass

# name: (x86-64, arm64); -1 where a processor has no such call.
_FILES = {
    "read": (0, 63),
    "write": (1, 64),
    "readv": (19, 65),
    "writev": (20, 66),
    "pread64": (17, 67),
    "pwrite64": (18, 68),
    "preadv": (295, 69),
    "pwritev": (296, 70),
    "lseek": (8, 62),
    "close": (3, 57),
    "close_range": (436, 436),
    "dup": (32, 23),
    "dup2": (33, -1),
    "dup3": (292, 24),
    "open": (2, -1),
    "openat": (257, 56),
    "stat": (4, -1),
    "lstat": (6, -1),
    "fstat": (5, 80),
    "newfstatat": (262, 79),
    "statx": (332, 291),
    "access": (21, -1),
    "faccessat": (269, 48),
    "faccessat2": (439, 439),
    "readlink": (89, -1),
    "readlinkat": (267, 78),
    "getdents64": (217, 61),
    "getcwd": (79, 17),
    "unlink": (87, -1),
    "unlinkat": (263, 35),
    "rename": (82, -1),
    "renameat": (264, 38),
    "renameat2": (316, 276),
    "ftruncate": (77, 46),
    "fallocate": (285, 47),
    "fsync": (74, 82),
    "fdatasync": (75, 83),
    "fadvise64": (221, 223),
    "copy_file_range": (326, 285),
    "sendfile": (40, 71),
    "umask": (95, 166),
    "pipe2": (293, 59),
    "eventfd2": (290, 19),
    "poll": (7, -1),
    "ppoll": (271, 73),
    "select": (23, -1),
    "pselect6": (270, 72),
    "recvmsg": (47, 212),
}
_MEMORY = {
    "munmap": (11, 215),
    "mremap": (25, 216),
    "madvise": (28, 233),
    "brk": (12, 214),
    "membarrier": (324, 283),
}
_THREADS = {
    "futex": (202, 98),
    "futex_waitv": (449, 449),
    "set_robust_list": (273, 99),
    "rseq": (334, 293),
    "sched_yield": (24, 124),
    "sched_getaffinity": (204, 123),
    "set_tid_address": (218, 96),
    "gettid": (186, 178),
    "getpid": (39, 172),
    "getppid": (110, 173),
    "getuid": (102, 174),
    "geteuid": (107, 175),
    "getgid": (104, 176),
    "getegid": (108, 177),
    "exit": (60, 93),
    "exit_group": (231, 94),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "sigaltstack": (131, 132),
    "restart_syscall": (219, 128),
}
_CLOCK_AND_MACHINE = {
    "nanosleep": (35, 101),
    "clock_nanosleep": (230, 115),
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "gettimeofday": (96, 169),
    "time": (201, -1),
    "times": (100, 153),
    "getrusage": (98, 165),
    "getrlimit": (97, 163),
    "sysinfo": (99, 179),
    "uname": (63, 160),
    "getrandom": (318, 278),
    "getcpu": (309, 168),
}
_ALLOWED = _FILES | _MEMORY | _THREADS | _CLOCK_AND_MACHINE

# Calls that depend on an argument: `seccomp.py` says which values are allowed.
_CHECKED = {
    "clone": (56, 220),
    "clone3": (435, 435),
    "mmap": (9, 222),
    "mprotect": (10, 226),
    "tgkill": (234, 131),
    "prctl": (157, 167),
    "prlimit64": (302, 261),
    "fcntl": (72, 25),
    "ioctl": (16, 29),
}

NAMES = _ALLOWED | _CHECKED


@dataclass(frozen=True)
class SyscallTable:
    """The numbers of one architecture."""

    audit_architecture: int
    """The kernel's AUDIT_ARCH constant: calls of another ABI, such as i386 on x86-64, carry another."""
    allowed: tuple[int, ...]
    checked: dict[str, int]


def _table(audit_architecture: int, column: int) -> SyscallTable:
    allowed = sorted(numbers[column] for numbers in _ALLOWED.values() if numbers[column] >= 0)
    checked = {name: numbers[column] for name, numbers in _CHECKED.items()}
    return SyscallTable(audit_architecture, tuple(allowed), checked)


TABLES = {"x86_64": _table(0xC000003E, 0), "aarch64": _table(0xC00000B7, 1)}
"""By `platform.machine()`."""
