"""The account that runs the server: PostgreSQL refuses to run as root, so as root an account of its own is used.

It is created on first use and owns nothing but its servers' folders. `nobody` would not do: other programs run as
it too, and could read the data and signal the server.
"""

import logging
import os
import pwd
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shardwright.errors import SetupInvalid

log = logging.getLogger(__name__)

DEFAULT_ACCOUNT = "shardwright"
_SHARED_ACCOUNTS = ("postgres", "nobody")
"""Accounts that ran servers before there was one of their own, and still do where none can be created."""
_OVERRIDE = "SHARDWRIGHT_SERVER_ACCOUNT"
_CREATE = {
    "useradd": [
        "--system",
        "--user-group",
        "--no-create-home",
        "--home-dir=/nonexistent",
        "--shell=/usr/sbin/nologin",
    ],
    "adduser": ["-S", "-D", "-H", "-h", "/nonexistent", "-s", "/sbin/nologin"],  # BusyBox
}
_CREATE_ATTEMPTS = 20
_PAUSE_S = 0.1


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


STRANGER = SystemAccount("any account", 2**31 - 2, 2**31 - 2)
"""Owns nothing and is in no group: what it may traverse, every account may."""


def server_account(name: str = DEFAULT_ACCOUNT) -> SystemAccount | None:
    """Return the account that servers run as, or None when the current user can run them itself.

    As root that is the system account of this name, created if it is missing, or the one in
    SHARDWRIGHT_SERVER_ACCOUNT, which must exist.
    """
    if os.geteuid() != 0:
        return None
    override = os.environ.get(_OVERRIDE)
    found = _find(override) if override else _find(name) or _create(name) or _find_shared(name)
    if found is None:
        wanted = override or " or ".join((name, *_SHARED_ACCOUNTS))
        raise SetupInvalid(
            f"PostgreSQL refuses to run as root and there is no ordinary account {wanted}: "
            f"create one, or name another in {_OVERRIDE}."
        )
    return found


def _find(name: str) -> SystemAccount | None:
    try:
        entry = pwd.getpwnam(name)
    except KeyError:
        return None
    return SystemAccount(entry.pw_name, entry.pw_uid, entry.pw_gid) if entry.pw_uid != 0 else None


def _find_shared(wanted: str) -> SystemAccount | None:
    found = next((each for name in _SHARED_ACCOUNTS if (each := _find(name)) is not None), None)
    if found is not None:
        log.warning("account.shared: the account %s cannot be created, servers run as %s", wanted, found.name)
    return found


def _create(name: str) -> SystemAccount | None:
    """Create a system account that cannot sign in; None where this machine has no way to."""
    for program, options in _CREATE.items():
        path = shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
        if path is not None and (found := _create_with([path, *options, name], name)) is not None:
            return found
    return None


def _create_with(command: list[str], name: str) -> SystemAccount | None:
    """Run the command until the account exists; it may have to wait for the lock on the machine's accounts."""
    for _ in range(_CREATE_ATTEMPTS):
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if (found := _find(name)) is not None:
            return found  # created by us, or by another process in the same moment
        if "lock" not in done.stderr:
            log.info("account.not_created: %s: %s", command[0], done.stderr.strip())
            break
        time.sleep(_PAUSE_S)
    return None


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


def former_owner(folder: Path, account: SystemAccount | None) -> SystemAccount | None:
    """The shared account that a folder still belongs to; None when it need not change hands."""
    if account is None or not folder.is_dir():
        return None
    uid = folder.stat().st_uid
    shared = [each for name in _SHARED_ACCOUNTS if (each := _find(name)) is not None]
    return next((each for each in shared if each.uid == uid != account.uid), None)


def adopt_folder(folder: Path, account: SystemAccount | None) -> None:
    """Give a folder that a shared account owns, with what that account owns in it, to the server's own account.

    Links are never followed, and what belongs to anybody else stays theirs: programs of the shared account may have
    put something into it. No server may be running in the folder.
    """
    former = former_owner(folder, account)
    if former is None or account is None:
        return
    for _, folders, files, inside in os.fwalk(folder, follow_symlinks=False):
        for name in (*folders, *files):
            if os.stat(name, dir_fd=inside, follow_symlinks=False).st_uid == former.uid:
                os.chown(name, account.uid, account.gid, dir_fd=inside, follow_symlinks=False)
    # The folder itself comes last: an interrupted run begins again.
    os.chown(folder, account.uid, account.gid)
