"""The folder of a fork server, which holds its jobs' folders, and the removal of those that killed ones left.

A fork server holds a lock on its folder for as long as it lives. An unlocked folder belongs to a dead one, and the
next fork server removes it.
"""

import fcntl
import os
import shutil
import tempfile
from pathlib import Path

PREFIX = "tintype-jobs-"


def create_locked_folder() -> str:
    """Create and lock a folder for this process, and remove those that nobody locks any more."""
    folder = tempfile.mkdtemp(prefix=PREFIX)
    while not _is_ours(folder):  # another fork server removed it as abandoned, before we locked it
        folder = tempfile.mkdtemp(prefix=PREFIX)
    for other in Path(folder).parent.glob(f"{PREFIX}*"):
        _remove_if_abandoned(str(other))
    return folder


def _is_ours(folder: str) -> bool:
    return _try_lock(folder) is not None and Path(folder).is_dir()


def _remove_if_abandoned(folder: str) -> None:
    lock = _try_lock(folder)
    if lock is not None:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)  # only now: nobody may lock a folder that is being removed


def _try_lock(folder: str) -> int | None:
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
