"""The accounts that jobs run as where the stack runs as root: one for each process, used by nothing else.

User ids 60578 to 61183 are assigned by no distribution (systemd's table of user ids lists them as unused) and exist in
containers, which often have no ids above 65535. A job's account has no name, no group but its own, and owns nothing but
the job's folder. A lock on one byte of a file for each account keeps two jobs of this machine apart, whichever fork
server they belong to, and is released when its fork server dies.
"""

import fcntl
import os
import pwd
import random
from pathlib import Path

FIRST, LAST = 60_578, 61_183
LOCKS = "tintype-sandbox-accounts"
RUN = Path("/run")
ALL_IDS = (0, 0, 2**32 - 1)
"""The map of the machine's own user namespace."""


class JobAccounts:
    """Assigns user ids to processes of this fork server."""

    def __init__(self, second_choice: Path) -> None:
        """Keep the locks where every installation of the machine finds them, or else in the folder given."""
        self._locks = _open_locks(RUN if os.access(RUN, os.W_OK) else second_choice)
        self._used: set[int] = set()

    def take(self) -> int:
        """A user id, also its group's, that no other process has until it is given back; OSError if there is none."""
        candidates = list(range(FIRST, LAST + 1))
        start = random.randrange(len(candidates))  # noqa: S311 - spreads fork servers, no secret
        for uid in candidates[start:] + candidates[:start]:
            if uid not in self._used and _is_nobodys(uid) and self._lock(uid):
                self._used.add(uid)
                return uid
        raise OSError(f"all accounts from {FIRST} to {LAST} are in use")

    def give_back(self, uid: int) -> None:
        """Let others use the id, once its process is gone."""
        fcntl.lockf(self._locks, fcntl.LOCK_UN, 1, uid - FIRST)
        self._used.discard(uid)

    def _lock(self, uid: int) -> bool:
        try:
            fcntl.lockf(self._locks, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, uid - FIRST)
        except OSError:
            return False
        return True


def may_change_account() -> bool:
    """Whether this process is root, where root may become any of these accounts."""
    return os.geteuid() == 0 and all(_maps_accounts(kind) for kind in ("uid", "gid"))


def is_root_outside() -> bool:
    """Whether this process is root for the machine too, and not just in a user namespace of somebody else."""
    return os.geteuid() == 0 and any(
        inside <= 0 < inside + count and outside == 0 for inside, outside, count in _map("uid")
    )


def _maps_accounts(kind: str) -> bool:
    return any(inside <= FIRST and inside + count > LAST for inside, _, count in _map(kind))


def _map(kind: str) -> list[tuple[int, int, int]]:
    """Ranges of ids that exist here: the first one inside, the first one outside, and how many."""
    try:
        lines = Path(f"/proc/self/{kind}_map").read_text().splitlines()
    except OSError:
        return [ALL_IDS]
    return [(int(inside), int(outside), int(count)) for inside, outside, count in map(str.split, lines)]


def _open_locks(folder: Path) -> int:
    return os.open(folder / LOCKS, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)


def _is_nobodys(uid: int) -> bool:
    try:
        pwd.getpwuid(uid)
    except KeyError:
        return True
    return False
