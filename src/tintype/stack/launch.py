"""Launcher: execs another program after dropping privileges and tying its life to the supervisor's (PDEATHSIG).

Run as a script, by path, with an isolated interpreter: it must start quickly and import nothing but the
standard library. A launcher rather than `preexec_fn`, because running Python code in the fork of a process
with threads may deadlock. Order matters: changing the account clears the death signal, so that is set last.

    launch.py PARENT_PID DEATH_SIGNAL UID:GID|- PROGRAM ARGUMENT…
"""

import ctypes
import os
import sys

_PR_SET_PDEATHSIG = 1
_PRIVATE = 0o077


def main(arguments: list[str]) -> None:
    """Replace this process with the program, which the kernel signals when the parent dies."""
    parent, death_signal, owner, *command = arguments
    if owner != "-":
        _become(*map(int, owner.split(":")))
    if int(death_signal) and sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(death_signal), 0, 0, 0)
        if os.getppid() != int(parent):
            sys.exit("the supervisor exited while this program was being started")
    os.umask(_PRIVATE)
    os.execv(command[0], command)  # noqa: S606 - same process, no shell


def _become(uid: int, gid: int) -> None:
    os.setgroups([])
    os.setgid(gid)
    os.setuid(uid)


if __name__ == "__main__":
    main(sys.argv[1:])
