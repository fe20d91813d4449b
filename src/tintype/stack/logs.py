"""Log files: one per program, timestamped, rotated by size, echoed to the console."""

import heapq
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from tintype.base.redaction import escape_control_characters

SUPERVISOR = "tintype"
"""The name of the supervisor's own log."""

_ROTATE_BYTES = 10 * 1024 * 1024
_KEPT_FILES = 3
_RECENT_LINES = 30
_MAX_LINE_CHARS = 8_192


@dataclass(frozen=True)
class Line:
    """One log line of a program."""

    time: datetime
    name: str
    text: str


Echo = Callable[[Line], None]


class LogFile:
    """The log of one program, rotated by size, with its last lines in memory."""

    def __init__(
        self, name: str, file: Path, echo: Echo | None, *, rotate_bytes: int = _ROTATE_BYTES
    ) -> None:
        self._name = name
        self._path = file
        self._echo = echo
        self._rotate_bytes = rotate_bytes
        self._file: TextIO | None = None
        self._recent: deque[str] = deque(maxlen=_RECENT_LINES)

    def write(self, text: str) -> None:
        """Append one line to the file and echo it to the console."""
        # What programs quote from outside must not look like other lines, nor be obeyed by a terminal.
        shown = escape_control_characters(text[:_MAX_LINE_CHARS].expandtabs())
        line = Line(datetime.now(UTC), self._name, shown)
        self._recent.append(line.text)
        try:
            self._write(f"{_stamp(line.time)} {line.text}\n")
        except OSError:
            self.close()  # a full disk must not stop the supervisor: the console still shows the line
        if self._echo is not None:
            self._echo(line)

    def recent(self) -> list[str]:
        """The last lines, for explaining a crash."""
        return list(self._recent)

    def clear_recent(self) -> None:
        """Drop the remembered lines at a restart: they do not explain the next crash."""
        self._recent.clear()

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            file, self._file = self._file, None
            file.close()

    def _write(self, text: str) -> None:
        if self._file is not None and self._file.tell() > self._rotate_bytes:
            self.close()
            rotate(self._path)
        if self._file is None:
            self._file = self._path.open("a", encoding="utf-8", errors="replace")
            self._path.chmod(0o600)
        self._file.write(text)
        self._file.flush()


class LogFiles:
    """The log files of one stack."""

    def __init__(self, folder: Path, echo: Echo | None = None) -> None:
        self._folder = folder
        self._echo = echo
        self._files: dict[str, LogFile] = {}

    def log_file(self, name: str) -> LogFile:
        """Return the log of a program."""
        if name not in self._files:
            self._files[name] = LogFile(name, self._folder / f"{name}.log", self._echo)
        return self._files[name]

    def write(self, text: str) -> None:
        """Write a line to the supervisor's own log."""
        self.log_file(SUPERVISOR).write(text)

    def close(self) -> None:
        """Close all files."""
        for log_file in self._files.values():
            log_file.close()


def rotate(path: Path) -> None:
    """Move `web.log` to `web.log.1`, that to `web.log.2`, and drop the oldest."""
    for number in range(_KEPT_FILES, 0, -1):
        older = path.with_name(f"{path.name}.{number}")
        newer = path if number == 1 else path.with_name(f"{path.name}.{number - 1}")
        if newer.exists():
            newer.replace(older)


def log_names(folder: Path) -> list[str]:
    """Return the names of the programs that have a log in this folder."""
    return sorted(each.stem for each in folder.glob("*.log"))


def last_lines(folder: Path, names: Iterable[str], count: int) -> list[Line]:
    """Return the last lines of these programs, merged in chronological order."""
    merged = heapq.merge(*(_read(folder, name, count) for name in names), key=lambda line: line.time)
    return list(deque(merged, maxlen=count))


def parse(name: str, text: str) -> Line:
    """Parse a stored line; one without a valid timestamp sorts before all others."""
    stamp, _, rest = text.rstrip("\n").partition(" ")
    try:
        return Line(datetime.fromisoformat(stamp), name, rest)
    except ValueError:
        return Line(datetime.min.replace(tzinfo=UTC), name, text.rstrip("\n"))


def _read(folder: Path, name: str, count: int) -> Iterator[Line]:
    """The last lines of one program, oldest first, including the most recently rotated file."""
    kept: deque[str] = deque(maxlen=count)
    for path in (folder / f"{name}.log.1", folder / f"{name}.log"):
        if path.exists():
            with path.open(encoding="utf-8", errors="replace") as file:
                kept.extend(file)
    return (parse(name, text) for text in kept)


def _stamp(time: datetime) -> str:
    return time.isoformat(timespec="microseconds")
