"""The process of `check_walls`: raises every wall around a child that does nothing else, and prints which stand."""

import os
import sys
import tempfile
from pathlib import Path

import msgspec

from tintype.media.sandbox.accounts import JobAccounts, may_change_account
from tintype.media.sandbox.job_folders import JobFolder
from tintype.media.sandbox.namespaces import Namespaces, enter_namespaces
from tintype.media.sandbox.walls import raise_walls


def main() -> None:
    """Print the walls as JSON."""
    with tempfile.TemporaryDirectory() as parent:
        account = _find_account(Path(parent))
        folder = JobFolder(parent, account)
        namespaces = enter_namespaces()
        parent_pid, pid = os.getpid(), os.fork()
        if pid == 0:
            _report_from_inside(str(folder.path), account, namespaces, parent_pid)
        _, status = os.waitpid(pid, 0)
    sys.exit(abs(os.waitstatus_to_exitcode(status)))


def _find_account(folder: Path) -> int | None:
    try:
        return JobAccounts(folder).take() if may_change_account() else None
    except OSError:
        return None  # the report says so


def _report_from_inside(folder: str, account: int | None, namespaces: Namespaces, parent_pid: int) -> None:
    status = 1
    try:
        walls = raise_walls(folder, account, namespaces, parent_pid=parent_pid)
        os.write(1, msgspec.json.encode(walls))
        status = 0
    finally:
        os._exit(status)


if __name__ == "__main__":
    main()
