"""Progress of a sandbox job: whole percentages, one a line, in a file that the parent process polls."""

import os
from pathlib import Path


class ProgressFile:
    """Appends the percentage as it grows; does nothing without a file."""

    def __init__(self, file: str | int | None) -> None:
        self._file = file
        self._last = -1
        if isinstance(file, str):  # a job may run a second time
            Path(file).unlink(missing_ok=True)
        elif file is not None:
            os.ftruncate(file, 0)

    def report(self, done: float) -> None:
        """Record how much of the job is done, from 0 to 1."""
        percent = max(0, min(100, int(done * 100)))
        if self._file is None or percent <= self._last:
            return
        self._last = percent
        with open(self._file, "a", closefd=isinstance(self._file, str)) as lines:
            lines.write(f"{percent}\n")


def read_progress(file: Path) -> int:
    """The last complete percentage in the file; 0 before the first."""
    try:
        complete = file.read_text().rpartition("\n")[0]
    except FileNotFoundError:
        return 0
    last = complete.rpartition("\n")[2]
    return int(last) if last.isdecimal() else 0
