"""The walls around a job, raised in its own process before it sees a byte of a stranger's file.

Each wall is raised by itself and reports whether it stands. Several cover for each other: without a network namespace
seccomp still refuses every socket, and either Landlock or the root directory keeps other files out of reach. Which
walls must stand is a setting (`media_sandbox_walls`); a process without one of those exits before it takes a job.
"""

import contextlib
import ctypes
import os
import struct
from collections.abc import Callable
from typing import Literal

import msgspec

from tintype.media.sandbox.accounts import FIRST, LAST, is_root_outside
from tintype.media.sandbox.landlock import find_version, restrict_paths
from tintype.media.sandbox.limits import (
    control_process,
    die_with_parent,
    libc,
    limit_process,
    offer_to_oom_killer,
)
from tintype.media.sandbox.namespaces import Namespaces
from tintype.media.sandbox.registry import ORIGINAL, OUT, TEMPORARY
from tintype.media.sandbox.seccomp import filter_system_calls

PR_SET_NO_NEW_PRIVS = 38
CAPABILITIES_V3 = 0x20080522
READS, WRITES = ("in",), (OUT, ORIGINAL, TEMPORARY)
"""Folders in the job's own folder."""

RequiredWalls = Literal["all", "essential", "none"]


class Wall(msgspec.Struct, frozen=True):
    """One wall: whether it stands, and if not, why and what to do."""

    name: str
    is_up: bool
    is_essential: bool
    """Whether a job must not run without it, unless the settings say so."""
    why_not: str = ""
    fix: str = ""


FIXES = {
    "account": "Run Tintype as an ordinary user, or give its container the user ids up to 65535.",
    "privileges": "Use Linux 3.5 or newer.",
    "limits": "Allow the process to set its resource limits.",
    "system calls": "Use a kernel with seccomp filters, on x86-64 or arm64; in a container, allow it to set one.",
    "paths": "Use Linux 5.13 or newer and boot it with landlock in lsm=; in a container, allow its calls.",
    "root directory": "Allow user namespaces (sysctl user.max_user_namespaces), or give the container CAP_SYS_CHROOT.",
    "network": "Allow user namespaces (sysctl user.max_user_namespaces), or give the container CAP_SYS_ADMIN.",
}
ALWAYS_ESSENTIAL = frozenset({"account", "privileges", "limits", "system calls"})
FILES = frozenset({"paths", "root directory"})
"""Either keeps a job to its own folder."""


def raise_walls(folder: str, account: int | None, namespaces: Namespaces, *, parent_pid: int) -> list[Wall]:
    """Raise every wall around this process, for good, with the job's folder as its only one; returns them."""
    os.chdir(folder)
    is_root = is_root_outside()  # asked while there is a /proc
    has_own_thread_count = account is not None or (namespaces.has_own_users and _kernel() >= (5, 14))
    steps: list[tuple[str, Callable[[], None]]] = [
        ("limits", lambda: _limit(has_own_thread_count=has_own_thread_count)),
        ("root directory", lambda: os.chroot(".")),
        ("account", lambda: _change_account(account, is_root=is_root)),
        ("privileges", lambda: _give_up_privileges(parent_pid)),
        ("paths", _restrict_paths),
        ("system calls", filter_system_calls),
    ]
    problems = {"network": namespaces.network_problem} | {
        name: _problem(raise_wall) for name, raise_wall in steps
    }
    return _report(problems)


def missing_walls(walls: list[Wall], required: RequiredWalls) -> list[Wall]:
    """The walls without which no job may run."""
    if required == "none":
        return []
    return [wall for wall in walls if not wall.is_up and (wall.is_essential or required == "all")]


def _report(problems: dict[str, str]) -> list[Wall]:
    has_files_wall = any(not problems[name] for name in FILES)
    return [
        Wall(
            name=name,
            is_up=not problem,
            is_essential=name in ALWAYS_ESSENTIAL or (name in FILES and not has_files_wall),
            why_not=problem,
            fix=FIXES[name] if problem else "",
        )
        for name, problem in problems.items()
    ]


def _problem(raise_wall: Callable[[], None]) -> str:
    try:
        raise_wall()
    except OSError as error:
        return error.strerror or str(error)
    return ""


def _limit(*, has_own_thread_count: bool) -> None:
    with contextlib.suppress(OSError):  # no wall, but a courtesy to the other processes
        offer_to_oom_killer()
    limit_process(has_own_thread_count=has_own_thread_count)


def _change_account(account: int | None, *, is_root: bool) -> None:
    """Become the job's own account; an ordinary user stays who they are."""
    if account is None:
        if is_root:
            raise OSError(f"user ids {FIRST} to {LAST} do not exist here, or are all in use")
        return
    os.setgroups([])
    os.setresgid(account, account, account)
    os.setresuid(account, account, account)


def _give_up_privileges(parent_pid: int) -> None:
    """No capabilities, also not those of a user namespace, no way to gain any, and no life beyond the parent's."""
    control_process(PR_SET_NO_NEW_PRIVS, 1)
    header = struct.pack("<Ii", CAPABILITIES_V3, 0)
    if libc.capset(header, bytes(24)) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    die_with_parent(parent_pid)


def _restrict_paths() -> None:
    if find_version() < 1:
        raise OSError("this kernel has no Landlock, or it is switched off")
    restrict_paths(READS, WRITES)


def _kernel() -> tuple[int, int]:
    major, minor = os.uname().release.split(".")[:2]
    return int(major), int("".join(digit for digit in minor if digit.isdigit()) or 0)
