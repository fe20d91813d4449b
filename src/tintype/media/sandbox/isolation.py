"""Kernel isolation of a job, where the kernel has it: no network, no other files, no other processes.

- Network: the fork server enters an empty network namespace (as root, or through a user namespace where those are
  allowed), and seccomp refuses sockets.
- Files: Landlock (Linux 5.13) allows reading the libraries, and the paths the job was given to read or to write.
- System calls: a seccomp filter (x86-64 and arm64) refuses new programs and processes (threads are allowed), signals to
  others, and the calls through which kernels are usually attacked.

Each is used where it works; `isolate_process` returns those that are in force. The rlimits of `limits` always hold.
"""

import ctypes
import os
import platform
import struct
import sys
from collections.abc import Iterable
from pathlib import Path

import tintype
from tintype.media.sandbox.limits import libc
from tintype.media.sandbox.syscalls import CALLS, SyscallNumbers

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
CLONE_THREAD = 0x00010000
PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2
ALLOW, KILL, REFUSE = 0x7FFF0000, 0x80000000, 0x00050000
EPERM, ENOSYS = 1, 38

# From linux/filter.h: load a word, jump if equal, if at least, if a bit is set, return.
LOAD, IF_EQUAL, IF_AT_LEAST, IF_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
NUMBER_AT, ARCHITECTURE_AT, FIRST_ARGUMENT_AT = 0, 4, 16

LANDLOCK_CREATE, LANDLOCK_ADD, LANDLOCK_RESTRICT = 444, 445, 446
LANDLOCK_VERSION, LANDLOCK_PATH_BENEATH = 1, 1
READING = 1 << 2 | 1 << 3
FILE_RIGHTS = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 14
LIBRARIES = ("/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/dev/urandom", "/dev/null")


def enter_empty_network() -> bool:
    """Enter a network namespace with nothing in it; False where the machine does not allow it."""
    return libc.unshare(CLONE_NEWNET) == 0 or libc.unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0


def isolate_process(reads: Iterable[str], writes: Iterable[str]) -> list[str]:
    """Restrict this process by Landlock and seccomp, for good; returns those in force. Needs no_new_privs."""
    return [
        name
        for name, is_in_force in (
            ("landlock", _restrict_paths(reads, writes)),
            ("seccomp", _filter_syscalls()),
        )
        if is_in_force
    ]


def _restrict_paths(reads: Iterable[str], writes: Iterable[str]) -> bool:
    version = libc.syscall(LANDLOCK_CREATE, None, 0, LANDLOCK_VERSION)
    if version < 1:
        return False
    rights = _file_rights(version)
    # Later kernels also restrict TCP ports and, from version 6, abstract sockets and signals to others.
    attributes = struct.pack("<QQQ", rights, 3, 3)[: 8 if version < 4 else 16 if version < 6 else 24]  # noqa: PLR2004 - numbers of the format's own layout
    ruleset = libc.syscall(LANDLOCK_CREATE, attributes, len(attributes), 0)
    if ruleset < 0:
        return False
    for path in (*_libraries(), *reads):
        _allow(ruleset, path, READING & rights)
    for path in writes:
        _allow(ruleset, path, rights)
    is_in_force = libc.syscall(LANDLOCK_RESTRICT, ruleset, 0) == 0
    os.close(ruleset)
    return is_in_force


def _libraries() -> set[str]:
    """The folders of code. Not all of `sys.path`: it may name a checkout, with secrets beside the code."""
    packages = {entry for entry in sys.path if Path(entry).name in {"site-packages", "dist-packages"}}
    return {sys.prefix, sys.base_prefix, str(Path(tintype.__file__).parent), *LIBRARIES, *packages}


def _file_rights(version: int) -> int:
    """Every file access right that this kernel's Landlock knows."""
    known = {1: 13, 2: 14, 3: 15, 4: 15}.get(version, 16)
    return (1 << known) - 1


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # a path that does not exist needs no permission
    try:
        allowed = rights if Path(path).is_dir() else rights & FILE_RIGHTS
        rule = struct.pack("<Qi", allowed, descriptor)
        libc.syscall(LANDLOCK_ADD, ruleset, LANDLOCK_PATH_BENEATH, rule, 0)
    finally:
        os.close(descriptor)


def _filter_syscalls() -> bool:
    calls = CALLS.get(platform.machine())
    if calls is None:
        return False
    program = _program(calls, os.getpid())
    held = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(held))
    return libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, header, 0, 0) == 0


def _program(calls: SyscallNumbers, pid: int) -> bytes:
    """The BPF program: refuse the listed calls, allow the others."""
    lines = [
        _line(LOAD, ARCHITECTURE_AT),
        *_unless(IF_EQUAL, calls.architecture, KILL),
        _line(LOAD, NUMBER_AT),
        # Call numbers of the x32 ABI, which would bypass the list.
        _line(IF_AT_LEAST, 0x40000000, 0, 1),
        _line(RETURN, REFUSE | EPERM),
        # glibc falls back to clone, whose flags a filter can read.
        _line(IF_EQUAL, calls.clone3, 0, 1),
        _line(RETURN, REFUSE | ENOSYS),
        *_only(calls.clone, IF_BIT, CLONE_THREAD),
        *_only(calls.tgkill, IF_EQUAL, pid),
    ]
    for number in calls.refused:
        lines += [_line(IF_EQUAL, number, 0, 1), _line(RETURN, REFUSE | EPERM)]
    return b"".join([*lines, _line(RETURN, ALLOW)])


def _unless(test: int, value: int, verdict: int) -> list[bytes]:
    return [_line(test, value, 1, 0), _line(RETURN, verdict)]


def _only(number: int, test: int, value: int) -> list[bytes]:
    """Allow one call only if its first argument passes a test."""
    return [
        _line(IF_EQUAL, number, 0, 4),
        _line(LOAD, FIRST_ARGUMENT_AT),
        *_unless(test, value, REFUSE | EPERM),
        _line(RETURN, ALLOW),
    ]


def _line(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, value)
