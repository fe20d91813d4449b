"""Everything the programs say: one file each, stamped with the time, rotated by size, echoed to a console."""

import heapq
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

SUPERVISOR = "tintype"
"""The name under which the supervisor itself speaks."""

_ROTATE_BYTES = 10 * 1024 * 1024
_KEPT_FILES = 3
_REMEMBERED_LINES = 30
_LONGEST_LINE = 8_192


@dataclass(frozen=True)
class Line:
    """One line that a program said."""

    time: datetime
    name: str
    text: str


Echo = Callable[[Line], None]


class Channel:
    """What one program says."""

    def __init__(
        self, name: str, file: Path, echo: Echo | None, *, rotate_bytes: int = _ROTATE_BYTES
    ) -> None:
        self._name = name
        self._path = file
        self._echo = echo
        self._rotate_bytes = rotate_bytes
        self._file: TextIO | None = None
        self._recent: deque[str] = deque(maxlen=_REMEMBERED_LINES)

    def say(self, text: str) -> None:
        """Have one line stand in the file and on the console."""
        line = Line(datetime.now(UTC), self._name, text[:_LONGEST_LINE])
        self._recent.append(line.text)
        try:
            self._write(f"{_stamp(line.time)} {line.text}\n")
        except OSError:
            self.close()  # a full disk must not end the supervisor: the console still shows the line
        if self._echo is not None:
            self._echo(line)

    def recent(self) -> list[str]:
        """The last lines, for explaining a crash."""
        return list(self._recent)

    def forget(self) -> None:
        """Start a new life: lines of the last one no longer explain the next crash."""
        self._recent.clear()

    def close(self) -> None:
        """Let go of the file."""
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


class LogBook:
    """The channels of one stack."""

    def __init__(self, folder: Path, echo: Echo | None = None) -> None:
        self._folder = folder
        self._echo = echo
        self._channels: dict[str, Channel] = {}

    def channel(self, name: str) -> Channel:
        """Return the channel of a program."""
        if name not in self._channels:
            self._channels[name] = Channel(name, self._folder / f"{name}.log", self._echo)
        return self._channels[name]

    def say(self, text: str) -> None:
        """Speak as the supervisor."""
        self.channel(SUPERVISOR).say(text)

    def close(self) -> None:
        """Let go of all files."""
        for channel in self._channels.values():
            channel.close()


def rotate(path: Path) -> None:
    """Move `web.log` to `web.log.1`, that to `web.log.2`, and drop the oldest."""
    for number in range(_KEPT_FILES, 0, -1):
        older = path.with_name(f"{path.name}.{number}")
        newer = path if number == 1 else path.with_name(f"{path.name}.{number - 1}")
        if newer.exists():
            newer.replace(older)


def names_of(folder: Path) -> list[str]:
    """Return the programs that have said something here."""
    return sorted(each.stem for each in folder.glob("*.log"))


def last_lines(folder: Path, names: Iterable[str], count: int) -> list[Line]:
    """Return the last lines of these programs together, in the order they were said."""
    merged = heapq.merge(*(_read(folder, name, count) for name in names), key=lambda line: line.time)
    return list(deque(merged, maxlen=count))


def parse(name: str, text: str) -> Line:
    """Take a stored line apart again; one that was cut belongs to the beginning of time."""
    stamp, _, rest = text.rstrip("\n").partition(" ")
    try:
        return Line(datetime.fromisoformat(stamp), name, rest)
    except ValueError:
        return Line(datetime.min.replace(tzinfo=UTC), name, text.rstrip("\n"))


def _read(folder: Path, name: str, count: int) -> Iterator[Line]:
    """The last lines of one program, oldest first, reaching back over a rotation."""
    kept: deque[str] = deque(maxlen=count)
    for path in (folder / f"{name}.log.1", folder / f"{name}.log"):
        if path.exists():
            with path.open(encoding="utf-8", errors="replace") as file:
                kept.extend(file)
    return (parse(name, text) for text in kept)


def _stamp(time: datetime) -> str:
    return time.isoformat(timespec="microseconds")
