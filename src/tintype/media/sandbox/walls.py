"""What the kernel forbids a job, where it can: the network, other files, other processes.

- Network: the helper enters an empty network namespace (as root, or through a user namespace where those are
  allowed), and seccomp refuses sockets.
- Files: Landlock (Linux 5.13) leaves the libraries to read, and the paths the job was given to read or to write.
- Calls: a seccomp filter (x86-64 and arm64) refuses new programs and processes (threads are allowed), signals to
  others, and the doors through which kernels are usually attacked.

Each wall stands or not by itself; `raise_walls` returns those that stand, and the rlimits of `limits` always hold.
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
from tintype.media.sandbox.syscalls import CALLS, Calls

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


def leave_network() -> bool:
    """Enter a network namespace with nothing in it; false where the machine does not allow it."""
    return libc.unshare(CLONE_NEWNET) == 0 or libc.unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0


def raise_walls(reads: Iterable[str], writes: Iterable[str]) -> list[str]:
    """Put up the walls around this process, for good, and return those that stand. Needs no_new_privs."""
    return [
        name
        for name, stands in (("landlock", _keep_to_paths(reads, writes)), ("seccomp", _filter_calls()))
        if stands
    ]


def _keep_to_paths(reads: Iterable[str], writes: Iterable[str]) -> bool:
    version = libc.syscall(LANDLOCK_CREATE, None, 0, LANDLOCK_VERSION)
    if version < 1:
        return False
    rights = _file_rights(version)
    # Later kernels also take TCP ports and, from version 6, abstract sockets and signals to others.
    attributes = struct.pack("<QQQ", rights, 3, 3)[: 8 if version < 4 else 16 if version < 6 else 24]  # noqa: PLR2004
    ruleset = libc.syscall(LANDLOCK_CREATE, attributes, len(attributes), 0)
    if ruleset < 0:
        return False
    for path in (*_libraries(), *reads):
        _allow(ruleset, path, READING & rights)
    for path in writes:
        _allow(ruleset, path, rights)
    stands = libc.syscall(LANDLOCK_RESTRICT, ruleset, 0) == 0
    os.close(ruleset)
    return stands


def _libraries() -> set[str]:
    """Where code lies. Not all of `sys.path`: a checkout is on it at times, and its secrets beside its code."""
    packages = {entry for entry in sys.path if Path(entry).name in {"site-packages", "dist-packages"}}
    return {sys.prefix, sys.base_prefix, str(Path(tintype.__file__).parent), *LIBRARIES, *packages}


def _file_rights(version: int) -> int:
    """Every right over files that this kernel's Landlock knows."""
    known = {1: 13, 2: 14, 3: 15, 4: 15}.get(version, 16)
    return (1 << known) - 1


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what is not there needs no permission
    try:
        most = rights if Path(path).is_dir() else rights & FILE_RIGHTS
        rule = struct.pack("<Qi", most, descriptor)
        libc.syscall(LANDLOCK_ADD, ruleset, LANDLOCK_PATH_BENEATH, rule, 0)
    finally:
        os.close(descriptor)


def _filter_calls() -> bool:
    calls = CALLS.get(platform.machine())
    if calls is None:
        return False
    program = _program(calls, os.getpid())
    held = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(held))
    return libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, header, 0, 0) == 0


def _program(calls: Calls, pid: int) -> bytes:
    """Return the filter: refuse what is listed, let the rest pass."""
    lines = [
        _line(LOAD, ARCHITECTURE_AT),
        *_unless(IF_EQUAL, calls.architecture, KILL),
        _line(LOAD, NUMBER_AT),
        # Call numbers of the x32 variant, which would get around the list.
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
    """Let one call pass only if its first argument passes a test."""
    return [
        _line(IF_EQUAL, number, 0, 4),
        _line(LOAD, FIRST_ARGUMENT_AT),
        *_unless(test, value, REFUSE | EPERM),
        _line(RETURN, ALLOW),
    ]


def _line(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, value)
