"""Who runs the server: PostgreSQL refuses to run as root, so root lends it an account without rights."""

import os
import pwd
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shardwright.errors import SetupInvalid

_CANDIDATES = ("nobody", "postgres")
_OVERRIDE = "SHARDWRIGHT_SERVER_ACCOUNT"


@dataclass(frozen=True)
class Account:
    """A system account that a server runs as."""

    name: str
    uid: int
    gid: int

    def may_enter(self, directory: Path) -> bool:
        """Tell whether this account may pass through the directory and everything above it."""
        return all(self._may_search(each) for each in (directory, *directory.parents))

    def _may_search(self, directory: Path) -> bool:
        try:
            found = directory.stat()
        except FileNotFoundError:
            return True  # not made yet: whoever makes it decides
        if found.st_uid == self.uid:
            return bool(found.st_mode & 0o100)
        if found.st_gid == self.gid:
            return bool(found.st_mode & 0o010)
        return bool(found.st_mode & 0o001)


def server_account() -> Account | None:
    """Return the account that servers run as, or `None` when the present user can run them itself."""
    if os.geteuid() != 0:
        return None
    override = os.environ.get(_OVERRIDE)
    for name in (override,) if override else _CANDIDATES:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue  # this machine has no such account: try the next
        if entry.pw_uid != 0:
            return Account(entry.pw_name, entry.pw_uid, entry.pw_gid)
    wanted = override or " or ".join(_CANDIDATES)
    raise SetupInvalid(
        f"PostgreSQL refuses to run as root and there is no ordinary account {wanted}: "
        f"create one, or name another in {_OVERRIDE}."
    )


def run_as(account: Account | None) -> dict[str, Any]:  # values differ in type: they are subprocess' keywords
    """Return the keywords that make `subprocess` run a program as the account."""
    if account is None:
        return {}
    return {"user": account.uid, "group": account.gid, "extra_groups": []}


def hand_over(path: Path, account: Account | None) -> None:
    """Make the account the owner of the path, where there is an account to give it to."""
    if account is not None:
        os.chown(path, account.uid, account.gid)
