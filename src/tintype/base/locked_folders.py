"""Folders that belong to one process each, locked for as long as it lives.

The kernel releases the lock with the process, however that ends: a folder without one was left behind by a dead process
and may be deleted by anybody.
"""

import fcntl
import os
import shutil
import tempfile
from pathlib import Path


class LockedFolder:
    """A new, empty folder of this process."""

    def __init__(self, prefix: str, parent: Path | None = None) -> None:
        """Create it below `parent`, which is created where it is missing, or below the system's temporary folder."""
        if parent is not None:
            parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.path, self._lock = _create(prefix, parent)

    def remove(self) -> None:
        """Delete it with everything in it, and unlock it: only then, since nobody may lock what is being deleted."""
        _remove(self.path, self._lock)


def remove_abandoned(prefix: str, parent: Path) -> int:
    """Delete the folders with this prefix that nobody locks any more; returns how many."""
    count = 0
    for folder in parent.glob(f"{prefix}*"):
        lock = _try_lock(folder)
        if lock is not None:
            _remove(folder, lock)
            count += 1
    return count


def _create(prefix: str, parent: Path | None) -> tuple[Path, int]:
    """A folder and its lock; another one where somebody took the new folder for abandoned before it was locked."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        lock = _try_lock(folder)
        if lock is not None:
            if folder.is_dir():
                return folder, lock
            os.close(lock)


def _remove(folder: Path, lock: int) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    os.close(lock)


def _try_lock(folder: Path) -> int | None:
    """Lock a folder until the descriptor is closed; None if it is locked already, gone or not ours."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor
