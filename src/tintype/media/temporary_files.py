"""Temporary folders for files that are being received, converted or fetched.

A process that is killed leaves its folder behind; the hourly purge deletes folders that are a day old.
"""

import contextlib
import shutil
import tempfile
import time
from collections.abc import Generator
from pathlib import Path

from tintype.media.errors import MediaStoreUnavailable
from tintype.media.sandbox import PREFIX

LEFTOVER_AFTER_S = 86_400


class TemporaryFolders:
    """Creates folders that are deleted when the work in them is done."""

    def __init__(self, parent: Path) -> None:
        self._parent = parent

    @contextlib.contextmanager
    def folder(self) -> Generator[Path]:
        """A new, empty folder for the length of the block."""
        with disk_errors_as_unavailable():
            self._parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            created = Path(tempfile.mkdtemp(dir=self._parent))
        try:
            yield created
        finally:
            shutil.rmtree(created, ignore_errors=True)

    def delete_leftovers(self) -> int:
        """Delete folders that killed processes left behind; returns how many. The sandbox removes its own."""
        old = [
            each
            for each in (self._parent.iterdir() if self._parent.exists() else ())
            if not each.name.startswith(PREFIX) and each.stat().st_mtime < time.time() - LEFTOVER_AFTER_S
        ]
        for each in old:
            shutil.rmtree(each, ignore_errors=True)
        return len(old)


@contextlib.contextmanager
def disk_errors_as_unavailable() -> Generator[None]:
    """Turn errors of a full or broken disk into `MediaStoreUnavailable`."""
    try:
        yield
    except OSError as error:
        raise MediaStoreUnavailable(error=f"{type(error).__name__}: {error}") from error
