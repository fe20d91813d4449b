"""The namespaces that a fork server enters before it forks: an empty network, and unless it is root one of users.

The user namespace gives an ordinary user's fork server the right to change the root directory of its processes. Root
has that right, and must stay in the namespace whose user ids it hands out.
"""

import ctypes
import os
from dataclasses import dataclass
from pathlib import Path

from tintype.media.sandbox.limits import libc

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000


@dataclass(frozen=True)
class Namespaces:
    """The namespaces that were entered."""

    network_problem: str
    """Why the network is still the machine's; empty if it is not."""
    has_own_users: bool


def enter_namespaces() -> Namespaces:
    """Enter an empty network, and as an ordinary user a user namespace, where this machine allows it."""
    if os.geteuid() == 0:
        return Namespaces(_unshare(CLONE_NEWNET), has_own_users=False)
    uid, gid = os.geteuid(), os.getegid()
    if problem := _unshare(CLONE_NEWUSER):
        return Namespaces(problem, has_own_users=False)
    _keep_ids(uid, gid)
    return Namespaces(_unshare(CLONE_NEWNET), has_own_users=True)


def _unshare(flags: int) -> str:
    return "" if libc.unshare(flags) == 0 else os.strerror(ctypes.get_errno())


def _keep_ids(uid: int, gid: int) -> None:
    """Be the same user and group inside the user namespace as outside."""
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
    Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
