"""The seccomp filter of a job: an allow-list of system calls.

- Calls of a foreign ABI (i386 or x32 on x86-64), whose numbers mean something else, kill the process.
- Listed calls are allowed, some only with certain arguments: threads but no processes, no executable memory, signals to
  itself alone, its own limits alone.
- Every other call fails: with ENOSYS if it is one that libraries try and do without, else with EPERM.

A filter cannot be taken off again, and holds for every thread that the job starts.
"""

import ctypes
import os
import platform
import struct
from collections.abc import Iterable

from tintype.media.sandbox.limits import control_process
from tintype.media.sandbox.syscalls import TABLES, SyscallTable

PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2
ALLOW, KILL, FAIL = 0x7FFF0000, 0x80000000, 0x00050000
EPERM, ENOSYS = 1, 38

# From linux/filter.h: load a word, jump if equal, if at least, if a bit is set, return.
LOAD, IF_EQUAL, IF_AT_LEAST, IF_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
NUMBER_AT, ARCHITECTURE_AT, ARGUMENTS_AT = 0, 4, 16

FIRST_X32_NUMBER = 0x40000000
FIRST_RECENT_NUMBER = 424
"""From here on numbers are the same on every architecture, and libraries expect that a kernel may lack the call."""

THREAD_FLAGS = (0x003D0F00, 0x007D0F00)
"""The flags of clone(2) with which glibc and musl start a thread; a process or a namespace needs others."""
PROT_EXEC = 4
PROCESS_NAMES = (15, 16, 0x53564D41)
"""PR_SET_NAME, PR_GET_NAME, PR_SET_VMA: names of threads and memory, for debuggers."""
DESCRIPTOR_COMMANDS = (0, 1, 2, 3, 4, 1030)
"""F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC."""
TERMINAL_QUERIES = (0x5401, 0x5451, 0x541B)
"""TCGETS (Python asks of every file whether it is a terminal), FIOCLEX, FIONREAD."""


def filter_system_calls() -> None:
    """Restrict this process to the allow-list, for good; OSError where that is not possible. Needs no_new_privs."""
    table = TABLES.get(platform.machine())
    if table is None:
        raise OSError(ENOSYS, f"there is no list of system calls for {platform.machine()}")
    program = make_program(table, os.getpid())
    held = ctypes.create_string_buffer(program, len(program))
    header = ctypes.create_string_buffer(
        struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(held)), 16
    )
    control_process(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.addressof(header))


def make_program(table: SyscallTable, pid: int) -> bytes:
    """The BPF program for a process."""
    number = table.checked
    lines = [
        _line(LOAD, ARCHITECTURE_AT),
        _line(IF_EQUAL, table.audit_architecture, 1, 0),
        _line(RETURN, KILL),
        _line(LOAD, NUMBER_AT),
        _line(IF_AT_LEAST, FIRST_X32_NUMBER, 0, 1),
        _line(RETURN, KILL),
        # Its flags are in memory, where a filter cannot look; the C library then falls back to clone.
        _line(IF_EQUAL, number["clone3"], 0, 1),
        _line(RETURN, FAIL | ENOSYS),
        *_allow_values(number["clone"], 0, THREAD_FLAGS),
        *_refuse_bit(number["mmap"], 2, PROT_EXEC),
        *_refuse_bit(number["mprotect"], 2, PROT_EXEC),
        *_allow_values(number["tgkill"], 0, (pid,)),
        *_allow_values(number["prctl"], 0, PROCESS_NAMES),
        *_allow_values(number["prlimit64"], 0, (0,)),
        *_allow_values(number["fcntl"], 1, DESCRIPTOR_COMMANDS),
        *_allow_values(number["ioctl"], 1, TERMINAL_QUERIES),
    ]
    # Each comparison jumps over the rest of the list and the three lines of refusal, to the last line.
    count = len(table.allowed)
    lines += [_line(IF_EQUAL, each, count - index + 2, 0) for index, each in enumerate(table.allowed)]
    lines += [
        _line(IF_AT_LEAST, FIRST_RECENT_NUMBER, 0, 1),
        _line(RETURN, FAIL | ENOSYS),
        _line(RETURN, FAIL | EPERM),
        _line(RETURN, ALLOW),
    ]
    return b"".join(lines)


def _allow_values(number: int, argument: int, values: Iterable[int]) -> list[bytes]:
    """Allow a call if an argument has one of these values."""
    allowed = list(values)
    tests = [_line(IF_EQUAL, value, len(allowed) - index, 0) for index, value in enumerate(allowed)]
    return _block(number, argument, [*tests, _line(RETURN, FAIL | EPERM), _line(RETURN, ALLOW)])


def _refuse_bit(number: int, argument: int, bit: int) -> list[bytes]:
    """Allow a call unless an argument has this bit."""
    lines = [_line(IF_BIT, bit, 0, 1), _line(RETURN, FAIL | EPERM), _line(RETURN, ALLOW)]
    return _block(number, argument, lines)


def _block(number: int, argument: int, lines: list[bytes]) -> list[bytes]:
    """For one call, look at the low half of an argument (the kernel ignores the high one); always returns."""
    return [
        _line(IF_EQUAL, number, 0, len(lines) + 1),
        _line(LOAD, ARGUMENTS_AT + 8 * argument),
        *lines,
    ]


def _line(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, value)
