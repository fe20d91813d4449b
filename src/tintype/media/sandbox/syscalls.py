"""Numbers of the system calls that a job may not make, per processor architecture.

The kernel's ABI never changes them, so they can be written down.
"""

from dataclasses import dataclass

# The same number on every processor: pidfds, io_uring, the newer ways to mount, secret memory.
_COMMON = (424, 425, 426, 427, 428, 429, 430, 431, 432, 433, 434, 438, 442, 447)

# name: (x86-64, arm64); -1 where a processor has no such call.
_REFUSED = {
    "socket": (41, 198),
    "socketpair": (53, 199),
    "connect": (42, 203),
    "bind": (49, 200),
    "listen": (50, 201),
    "accept": (43, 202),
    "accept4": (288, 242),
    "sendmsg": (46, 211),
    "sendmmsg": (307, 269),
    "recvmsg": (47, 212),
    "fork": (57, -1),
    "vfork": (58, -1),
    "execve": (59, 221),
    "execveat": (322, 281),
    "kill": (62, 129),
    "tkill": (200, 130),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "setns": (308, 268),
    "unshare": (272, 97),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "reboot": (169, 142),
    "personality": (135, 92),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "settimeofday": (170, 170),
    "clock_settime": (227, 112),
}


@dataclass(frozen=True)
class SyscallNumbers:
    """The system call numbers that the seccomp filter uses on one architecture."""

    architecture: int
    clone: int
    tgkill: int
    refused: tuple[int, ...]
    clone3: int = 435


def _column(index: int) -> tuple[int, ...]:
    return tuple(numbers[index] for numbers in _REFUSED.values() if numbers[index] >= 0) + _COMMON


CALLS = {
    "x86_64": SyscallNumbers(architecture=0xC000003E, clone=56, tgkill=234, refused=_column(0)),
    "aarch64": SyscallNumbers(architecture=0xC00000B7, clone=220, tgkill=131, refused=_column(1)),
}
