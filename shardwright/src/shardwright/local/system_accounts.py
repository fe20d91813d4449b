"""The account that runs the server: PostgreSQL refuses to run as root, so as root an unprivileged account is used."""

import os
import pwd
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shardwright.errors import SetupInvalid

_CANDIDATES = ("nobody", "postgres")
_OVERRIDE = "SHARDWRIGHT_SERVER_ACCOUNT"


@dataclass(frozen=True)
class SystemAccount:
    """A system account that a server runs as."""

    name: str
    uid: int
    gid: int

    def can_traverse(self, directory: Path) -> bool:
        """Whether this account may traverse the directory and all of its parents."""
        return all(self._may_search(each) for each in (directory, *directory.parents))

    def _may_search(self, directory: Path) -> bool:
        try:
            found = directory.stat()
        except FileNotFoundError:
            return True  # it does not exist yet: its creator sets the permissions
        if found.st_uid == self.uid:
            return bool(found.st_mode & 0o100)
        if found.st_gid == self.gid:
            return bool(found.st_mode & 0o010)
        return bool(found.st_mode & 0o001)


def server_account() -> SystemAccount | None:
    """Return the account that servers run as, or None when the current user can run them itself."""
    if os.geteuid() != 0:
        return None
    override = os.environ.get(_OVERRIDE)
    for name in (override,) if override else _CANDIDATES:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue  # this machine has no such account: try the next
        if entry.pw_uid != 0:
            return SystemAccount(entry.pw_name, entry.pw_uid, entry.pw_gid)
    wanted = override or " or ".join(_CANDIDATES)
    raise SetupInvalid(
        f"PostgreSQL refuses to run as root and there is no ordinary account {wanted}: "
        f"create one, or name another in {_OVERRIDE}."
    )


def run_as(
    account: SystemAccount | None,
) -> dict[str, Any]:  # values differ in type: they are subprocess' keywords
    """Return the keyword arguments that make `subprocess` run a program as the account."""
    if account is None:
        return {}
    return {"user": account.uid, "group": account.gid, "extra_groups": []}


def chown_to(path: Path, account: SystemAccount | None) -> None:
    """Change the owner of the path to the account; does nothing when it is None."""
    if account is not None:
        os.chown(path, account.uid, account.gid)
