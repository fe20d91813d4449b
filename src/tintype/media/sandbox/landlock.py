"""Landlock (Linux 5.13): a process gives up every path but those it lists.

A job may read its source and write plain files into its output folders. It may create no links, sockets, pipes or
devices there, which whoever takes the output could be made to follow or to open. Newer kernels also take away TCP
(Linux 6.7), and abstract sockets and signals to other processes (6.12).
"""

import ctypes
import os
import struct
from collections.abc import Iterable

from tintype.media.sandbox.limits import libc

CREATE, ADD, RESTRICT = 444, 445, 446
"""System calls, with the same number on every architecture."""
ASK_VERSION, PATH_BENEATH = 1, 1
WRITE_FILE, READ_FILE, READ_DIR, REMOVE_FILE, MAKE_REG, TRUNCATE = (1 << bit for bit in (1, 2, 3, 5, 8, 14))
READING = READ_FILE | READ_DIR
WRITING = READING | WRITE_FILE | REMOVE_FILE | MAKE_REG | TRUNCATE
KNOWN_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15}
"""How many rights about files each version has; 16 from version 5 on."""
TCP, SCOPES = 3, 3
"""Bind and connect; abstract sockets and signals."""


def find_version() -> int:
    """The version of this kernel's Landlock; 0 if it has none, or it is switched off."""
    return max(0, libc.syscall(CREATE, None, 0, ASK_VERSION))


def restrict_paths(reads: Iterable[str], writes: Iterable[str]) -> None:
    """Give up every path but those below these, for good; OSError where that is not possible. Needs no_new_privs."""
    version = find_version()
    rights = (1 << KNOWN_RIGHTS.get(version, 16)) - 1
    attributes = struct.pack("<QQQ", rights, TCP, SCOPES)[: 8 if version < 4 else 16 if version < 6 else 24]  # noqa: PLR2004 - sizes of the versions' structures
    ruleset = _call(CREATE, attributes, len(attributes), 0)
    try:
        for paths, allowed in ((reads, READING), (writes, WRITING)):
            for path in paths:
                _allow(ruleset, path, allowed & rights)
        _call(RESTRICT, ruleset, 0)
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        _call(ADD, ruleset, PATH_BENEATH, struct.pack("<Qi", rights, descriptor), 0)
    finally:
        os.close(descriptor)


def _call(number: int, *arguments: int | bytes) -> int:
    result = libc.syscall(number, *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
