"""The folder in which a helper keeps its jobs' folders, and what is done about those of helpers that were killed.

A helper holds a lock on its folder for as long as it lives. A folder that nobody holds is a dead helper's, and the
next helper removes it.
"""

import fcntl
import os
import shutil
import tempfile
from pathlib import Path

PREFIX = "tintype-jobs-"


def make_folder() -> str:
    """Make and hold a folder for this process, and remove those that nobody holds any more."""
    folder = tempfile.mkdtemp(prefix=PREFIX)
    while not _is_ours(folder):  # another helper took it for a dead one's, between the two steps
        folder = tempfile.mkdtemp(prefix=PREFIX)
    for other in Path(folder).parent.glob(f"{PREFIX}*"):
        _remove_if_left(str(other))
    return folder


def _is_ours(folder: str) -> bool:
    return _find_lock(folder) is not None and Path(folder).is_dir()


def _remove_if_left(folder: str) -> None:
    lock = _find_lock(folder)
    if lock is not None:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)  # only now: nobody may hold what is about to go


def _find_lock(folder: str) -> int | None:
    """Lock a folder that nobody holds, until the descriptor is closed; nothing if it is held, gone or not ours."""
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
